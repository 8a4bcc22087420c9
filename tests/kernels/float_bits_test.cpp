#include <functional>

#include "base/fp16.h"
#include "kernels/kernel_test.h"

/// Every vector table against scalar.cpp, bit for bit, at every length around the vector width, at addresses
/// aligned to an element only, with guards around what is written.
using namespace minfer;
using namespace minfer::cpu;
using namespace minfer::cpu::test;

namespace {

using Inputs = std::vector<Guarded<float>>;
/// Runs one kernel of `table` into y.
using Case = std::function<void(const KernelTable& table, Guarded<float>& y, Inputs& in)>;

/// Runs `run` with `inputs` vectors of each length, of tame and of wild values, on every table.
void compare_with_scalar(int inputs, const Case& run) {
  for (const KernelTable* table : vector_tables()) {
    for (const int64_t n : lengths()) {
      for (const bool wild : {false, true}) {
        CAPTURE(std::string(table->isa));
        CAPTURE(n);
        CAPTURE(wild);
        Inputs in;
        for (int i = 0; i < inputs; ++i) {
          const auto seed = uint32_t(n * 8 + i);
          in.emplace_back(wild ? wild_values(n, seed) : normal_values(n, seed), 1 + i);
        }
        Guarded<float> want(n), got(n, 3);
        run(scalar_table(), want, in);
        run(*table, got, in);
        REQUIRE(first_difference(got, want) == -1);
        REQUIRE(got.guards_intact());
      }
    }
  }
}

void copy(Guarded<float>& to, Guarded<float>& from) {
  for (int64_t i = 0; i < to.size(); ++i) to[i] = from[i];
}

}  // namespace

TEST_CASE("element-wise kernels have scalar's bits") {
  compare_with_scalar(2, [](const KernelTable& t, auto& y, Inputs& in) {
    t.add_f32(y.data(), in[0].data(), in[1].data(), y.size());
  });
  compare_with_scalar(2, [](const KernelTable& t, auto& y, Inputs& in) {
    t.mul_f32(y.data(), in[0].data(), in[1].data(), y.size());
  });
  compare_with_scalar(1, [](const KernelTable& t, auto& y, Inputs& in) {
    t.scale_f32(y.data(), in[0].data(), 0.37f, y.size());
  });
  compare_with_scalar(
      1, [](const KernelTable& t, auto& y, Inputs& in) { t.silu_f32(y.data(), in[0].data(), y.size()); });
  compare_with_scalar(2, [](const KernelTable& t, auto& y, Inputs& in) {
    t.swiglu_f32(y.data(), in[0].data(), in[1].data(), y.size());
  });
}

TEST_CASE("element-wise kernels may write over an input") {
  compare_with_scalar(2, [](const KernelTable& t, auto& y, Inputs& in) {
    copy(y, in[0]);
    t.add_f32(y.data(), y.data(), in[1].data(), y.size());
    t.mul_f32(y.data(), in[1].data(), y.data(), y.size());
    t.scale_f32(y.data(), y.data(), 0.11f, y.size());
    t.silu_f32(y.data(), y.data(), y.size());
    t.swiglu_f32(y.data(), y.data(), in[0].data(), y.size());
  });
}

TEST_CASE("rms_norm and softmax have scalar's bits") {
  compare_with_scalar(2, [](const KernelTable& t, auto& y, Inputs& in) {
    t.rms_norm_f32(y.data(), in[0].data(), in[1].data(), y.size(), 1e-6f);
  });
  compare_with_scalar(2, [](const KernelTable& t, auto& y, Inputs& in) {
    copy(y, in[0]);
    t.rms_norm_f32(y.data(), y.data(), in[1].data(), y.size(), 1e-5f);
  });
  compare_with_scalar(
      1, [](const KernelTable& t, auto& y, Inputs& in) { t.softmax_f32(y.data(), in[0].data(), y.size()); });
}

TEST_CASE("rope has scalar's bits in both layouts") {
  for (const KernelTable* table : vector_tables()) {
    for (int64_t half = 1; half <= 70; ++half) {
      for (const bool interleaved : {false, true}) {
        CAPTURE(half);
        CAPTURE(interleaved);
        const int64_t n_heads = 3;
        const auto x = normal_values(n_heads * 2 * half, uint32_t(half));
        Guarded<float> want(x, 0), got(x, 1);
        Guarded<float> cos(normal_values(half, 1), 1), sin(normal_values(half, 2), 2);
        scalar_table().rope_f32(want.data(), cos.data(), sin.data(), n_heads, 2 * half, interleaved);
        table->rope_f32(got.data(), cos.data(), sin.data(), n_heads, 2 * half, interleaved);
        REQUIRE(first_difference(got, want) == -1);
        REQUIRE(got.guards_intact());
      }
    }
  }
}

TEST_CASE("store_f16 rounds every kind of float as f32_to_f16") {
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    for (const int64_t n : lengths()) {
      Guarded<float> x(wild_values(n, uint32_t(n)), 1);
      Guarded<uint16_t> got(n, 1);
      table->store_f16(got.data(), x.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        CAPTURE(x[i]);
        REQUIRE((std::isnan(x[i]) ? std::isnan(f16_to_f32(got[i])) : got[i] == f32_to_f16(x[i])));
      }
      REQUIRE(got.guards_intact());
    }
  }
}

TEST_CASE("load_f16 widens all 65536 halves exactly") {
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    Guarded<uint16_t> halves(65536, 1);
    for (int64_t i = 0; i < 65536; ++i) halves[i] = uint16_t(i);
    Guarded<float> got(65536, 1);
    table->load_f16(got.data(), halves.data(), 65536);
    for (int64_t i = 0; i < 65536; ++i) REQUIRE(same_bits(got[i], f16_to_f32(uint16_t(i))));
    for (const int64_t n : lengths()) {
      Guarded<float> part(n, 1);
      table->load_f16(part.data(), halves.data() + 1000, n);
      for (int64_t i = 0; i < n; ++i) REQUIRE(same_bits(part[i], f16_to_f32(uint16_t(1000 + i))));
      REQUIRE(part.guards_intact());
    }
  }
}

namespace {

/// Weights of a type as bytes, from f32 values.
std::vector<std::byte> weight_bytes(DType type, const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  const auto append = [&](auto element) {
    const auto* b = reinterpret_cast<const std::byte*>(&element);
    bytes.insert(bytes.end(), b, b + sizeof element);
  };
  for (const float v : values) {
    if (type == DType::f32) append(v);
    if (type == DType::f16) append(f32_to_f16(v));
    if (type == DType::bf16) append(f32_to_bf16(v));
  }
  return bytes;
}

void compare_matmul(const KernelTable& table, DType type, int64_t rows, int64_t cols, int64_t tokens) {
  CAPTURE(std::string(table.isa));
  CAPTURE(int(type));
  CAPTURE(rows);
  CAPTURE(cols);
  CAPTURE(tokens);
  const auto w = weight_bytes(type, normal_values(rows * cols, uint32_t(rows * 131 + cols)));
  const size_t row_bytes = w.size() / size_t(rows);
  const int64_t x_stride = cols + 5, y_stride = rows + 3;
  Guarded<float> x(normal_values(tokens * x_stride, uint32_t(cols)), 1);
  Guarded<float> want(tokens * y_stride), got(tokens * y_stride, 1);
  matmul_f(scalar_table(), type)(want.data(), y_stride, w.data(), row_bytes, rows, x.data(), x_stride, cols,
                                 tokens);
  matmul_f(table, type)(got.data(), y_stride, w.data(), row_bytes, rows, x.data(), x_stride, cols, tokens);
  REQUIRE(first_difference(got, want) == -1);  // the gaps between rows of y are guards as well
  REQUIRE(got.guards_intact());
}

}  // namespace

TEST_CASE("float matmuls have scalar's bits for any rows, columns and tokens") {
  for (const KernelTable* table : vector_tables()) {
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      for (const int64_t n : lengths()) compare_matmul(*table, type, 5, n, 3);
      for (int64_t rows = 1; rows <= 9; ++rows) {
        for (int64_t tokens = 1; tokens <= 9; ++tokens) compare_matmul(*table, type, rows, 40, tokens);
      }
      // More tokens than one pass over the weights takes.
      compare_matmul(*table, type, 3, 4096, 37);
    }
  }
}
