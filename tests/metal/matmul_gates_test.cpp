#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "metal/matvec_bench.h"
#include "worse.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// y = W x on `device`, with random weights.
struct Product {
  std::vector<float> weights, x, y;
};
Product multiply(const Device& device, DType type, int64_t cols, int64_t rows, int64_t tokens) {
  OpBench bench(device);
  const WeightRef w = bench.weight("w", type, cols, rows, 51);
  Product p;
  p.x = Source(52).normals(cols * tokens);
  const Operand y = bench.result(rows, tokens);
  bench.add(MatMul{w, {}}, {bench.values(cols, tokens, p.x)}, y);
  bench.run();
  p.weights = bench.decoded(w);
  p.y = bench.read(y);
  return p;
}

bool contains(const Refused& found, const char* words) {
  return found.message.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("metal_matmul_q8_matches_cpu") {
  const Product p = multiply(metal_device(), DType::q8_0, 896, 128, 8);
  CHECK(worst_matvec_ratio(p.weights, p.x, p.y, 896, 128) <= 1);
}

TEST_CASE("metal_matmul_q4_matches_reference") {
  const int64_t rows = checked ? 64 : 896;
  const Product p = multiply(metal_device(), DType::q4_0, 896, rows, 8);
  CHECK(worst_matvec_ratio(p.weights, p.x, p.y, 896, rows) <= 1);
}

TEST_CASE("metal_matmul_f32_matches_cpu") {
  const int64_t cols = 100, rows = 33, tokens = 5;
  const Product ours = multiply(metal_device(), DType::f32, cols, rows, tokens);
  const Product cpu = multiply(cpu_with(1), DType::f32, cols, rows, tokens);
  REQUIRE(ours.y.size() == cpu.y.size());
  float most = 0, error = 0;
  for (size_t i = 0; i < cpu.y.size(); ++i) {
    most = std::max(most, std::abs(cpu.y[i]));
    error = float(worse(error, std::abs(cpu.y[i] - ours.y[i])));
  }
  CHECK(error <= tol::metal_largest * most);
  CHECK(worst_matvec_ratio(ours.weights, ours.x, ours.y, cols, rows) <= 1);
}

TEST_CASE("bf16_matmul_matches_the_exact_shift_reference") {
  // Weights k * 2^-4 of up to 8 bits and small integers: every product and sum is exact in f32, in any order.
  const int64_t cols = 70, rows = 21, tokens = 6;
  Source source(61);
  std::vector<uint16_t> bits(size_t(cols * rows));
  std::vector<float> x(size_t(cols * tokens));
  for (uint16_t& value : bits) {
    const float exact = float(source.integer(-255, 255)) / 16;
    uint32_t wide;
    std::memcpy(&wide, &exact, sizeof wide);
    REQUIRE((wide & 0xFFFF) == 0);
    value = uint16_t(wide >> 16);
  }
  for (float& value : x) value = float(source.integer(-8, 8));

  std::vector<float> expected(size_t(rows * tokens));
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) {
        const uint32_t wide = uint32_t(bits[size_t(r * cols + c)]) << 16;
        float value;
        std::memcpy(&value, &wide, sizeof value);
        sum += double(value) * double(x[size_t(t * cols + c)]);
      }
      expected[size_t(t * rows + r)] = float(sum);
    }
  }

  // The same bits as halves mean other numbers: the comparison can tell.
  for (const DType type : {DType::bf16, DType::f16}) {
    OpBench bench(metal_device());
    const WeightRef w{"w", type, cols, rows};
    bench.backend().add_weight({w, std::as_bytes(std::span(bits))});
    const Operand y = bench.result(rows, tokens);
    bench.add(MatMul{w, {}}, {bench.values(cols, tokens, x)}, y);
    bench.run();
    CHECK(same_bits(bench.read(y), expected) == (type == DType::bf16));
  }
}

TEST_CASE("metal_matmul_refuses_an_unkerneled_weight_dtype") {
  for (const DType type : {DType::i32, DType::f32}) {
    OpBench bench(metal_device());
    WeightRef w = bench.weight("blk.0.odd", DType::f32, 8, 4, 71);
    w.type = type;
    const Operand x = bench.values(8, 1, Source(72).normals(8)), y = bench.result(4, 1);
    bench.add(MatMul{w, {}}, {x}, y, "blk.0.product");
    const Refused found = refused([&] { bench.run(); });
    CHECK(found.thrown == (type == DType::i32));
    if (!found.thrown) continue;
    CHECK(found.code == int(ErrorCode::unsupported));
    CHECK(contains(found, "blk.0.product"));
    CHECK(contains(found, "blk.0.odd"));
    CHECK(contains(found, "I32"));
  }
}

TEST_CASE("rows that are no whole number of blocks are refused") {
  struct Odd {
    DType type;
    int64_t cols;
    const char* name;
  };
  for (const Odd& odd :
       {Odd{DType::q4_k, 128, "Q4_K"}, Odd{DType::q6_k, 288, "Q6_K"}, Odd{DType::q8_0, 48, "Q8_0"}}) {
    OpBench bench(metal_device());
    const Operand x = bench.result(odd.cols, 1), y = bench.result(4, 1);
    bench.add(MatMul{{"w", odd.type, odd.cols, 4}, {}}, {x}, y, "blk.1.product");
    const Refused found = refused([&] { bench.run(); });
    CHECK(found.code == int(ErrorCode::unsupported));
    CHECK(contains(found, "blk.1.product"));
    CHECK(contains(found, odd.name));
    CHECK(contains(found, std::to_string(odd.cols).c_str()));
  }
}

TEST_CASE("a source of another width than the weight is refused") {
  OpBench bench(metal_device());
  const WeightRef w = bench.weight("w", DType::q8_0, 64, 4, 81);
  bench.add(MatMul{w, {}}, {bench.result(32, 1)}, bench.result(4, 1));
  CHECK(refused([&] { bench.run(); }).code == int(ErrorCode::bad_model));
  bench.add(MatMul{w, {}}, {bench.result(96, 2)}, bench.result(4, 2));  // leading columns are for one token
  CHECK(refused([&] { bench.run(); }).code == int(ErrorCode::bad_model));
}
