#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>

#ifdef MINFER_METAL_SIM
#include <metalsim/metalsim.h>
#endif

#include "metal/matvec_bench.h"

using namespace minfer;
using namespace minfer::test;

namespace {

constexpr int64_t most_tokens = 12;

struct Shape {
  int64_t cols;
  std::vector<int64_t> rows;
};

/// Widths about the number of blocks that lanes take at once, rows about those of simdgroup and threadgroup.
std::vector<Shape> shapes(DType type) {
  const std::vector<int64_t> all = {1, 2, 3, 5, 7, 8, 9, 66},
                             few = checked ? std::vector<int64_t>{5, 9} : all;
  if (!is_quantised(type))
    return {{1, few}, {3, few}, {4, few}, {127, few}, {128, all}, {130, few}, {576, few}};
  if (info(type).block_elements == 256) return {{256, all}, {512, few}, {1024, few}, {1280, few}};
  return {{32, few}, {96, all}, {512, few}, {544, few}, {1056, few}};
}

/// One weight with all tokens alone, and with several at a time.
struct Products {
  OpBench& bench;
  std::vector<float> x, weights;
  std::vector<Operand> alone, together;
  int64_t cols, rows;

  Products(OpBench& on, DType type, int64_t width, int64_t height)
      : bench(on), x(Source(uint32_t(width)).normals(width * most_tokens)), cols(width), rows(height) {
    const std::string name = fmt::format("{}x{}", width, height);
    const MatMul op{bench.weight(name, type, cols, rows, uint32_t(width + height)), {}};
    weights = bench.decoded(op.weight);
    for (int64_t t = 0; t < most_tokens; ++t) {
      alone.push_back(bench.result(rows, 1));
      const std::vector<float> one(x.begin() + t * cols, x.begin() + (t + 1) * cols);
      bench.add(op, {bench.values(cols, 1, one)}, alone.back());
    }
    for (const int64_t tokens : {2, 3, 5, 8, 9, 12}) {
      together.push_back(bench.result(rows, tokens));
      bench.add(op, {bench.values(cols, tokens, first_tokens(x, cols, tokens))}, together.back());
    }
  }

  void check() const {
    CAPTURE(cols);
    CAPTURE(rows);
    std::vector<float> y;
    for (const Operand& one : alone) {
      const std::vector<float> token = bench.read(one);
      y.insert(y.end(), token.begin(), token.end());
    }
    CHECK(worst_matvec_ratio(weights, x, y, cols, rows) <= 1);
    for (const Operand& some : together) {
      CAPTURE(some.desc.rows());
      CHECK(same_bits(bench.read(some), first_tokens(y, rows, some.desc.rows())));
    }
  }
};

}  // namespace

TEST_CASE("matrix-vector products match double, with the same bits however many tokens come together") {
  const WithoutGemm without_gemm;
  for (const DType type : all_types) {
    CAPTURE(info(type).name);
    OpBench bench(metal_device());
    std::vector<Products> products;
    for (const Shape& shape : shapes(type)) {
      for (const int64_t rows : shape.rows) products.emplace_back(bench, type, shape.cols, rows);
    }
    bench.run();
    for (const Products& each : products) each.check();
    const std::vector<float> first = bench.read(products.back().together.back());
    bench.run();
    CHECK(same_bits(bench.read(products.back().together.back()), first));
  }
}

TEST_CASE("a bias is added to the bits of the product") {
  const WithoutGemm without_gemm;
  for (const DType type : all_types) {
    for (const int64_t tokens : {1, 3, 11}) {
      CAPTURE(info(type).name);
      CAPTURE(tokens);
      const int64_t cols = 256, rows = 19;
      OpBench bench(metal_device());
      const std::vector<float> b = Source(5).normals(rows);
      const WeightRef w = bench.weight("w", type, cols, rows, 6);
      const Operand x = bench.values(cols, tokens, Source(7).normals(cols * tokens));
      const Operand plain = bench.result(rows, tokens), biased = bench.result(rows, tokens);
      bench.add(MatMul{w, {}}, {x}, plain);
      bench.add(MatMul{w, bench.vector("b", b)}, {x}, biased);
      bench.run();
      std::vector<float> expected = bench.read(plain);
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += b[i % b.size()];
      CHECK(same_bits(bench.read(biased), expected));
    }
  }
}

TEST_CASE("a weight may begin at any two bytes of a mapping") {
  constexpr size_t page = 16384;
  const WithoutGemm without_gemm;
  const int64_t cols = 256, rows = 9;
  for (const DType type : all_types) {
    for (const int64_t tokens : {1, 4, 9}) {
      CAPTURE(info(type).name);
      CAPTURE(tokens);
      const std::vector<std::byte> data = random_rows(type, cols, rows, 21);
      const std::unique_ptr<std::byte, decltype(&std::free)> mapping(
          static_cast<std::byte*>(std::aligned_alloc(page, 2 * page)), &std::free);
      std::memset(mapping.get(), 0xAB, 2 * page);
      const size_t offset = type == DType::f32 ? 36 : 38;
      std::memcpy(mapping.get() + offset, data.data(), data.size());

      OpBench bench(metal_device());
      bench.backend().add_mapping({mapping.get(), 2 * page}, data.size());
      const WeightRef inside{"inside", type, cols, rows},
          copied = bench.weight("copied", type, cols, rows, 21);
      bench.backend().add_weight({inside, {mapping.get() + offset, data.size()}});
      const Operand x = bench.values(cols, tokens, Source(22).normals(cols * tokens));
      const Operand y = bench.result(rows, tokens), expected = bench.result(rows, tokens);
      bench.add(MatMul{inside, {}}, {x}, y);
      bench.add(MatMul{copied, {}}, {x}, expected);
      bench.run();
      CHECK(same_bits(bench.read(y), bench.read(expected)));
    }
  }
}

TEST_CASE("a matmul of one token reads the leading columns of a wider source") {
  const int64_t cols = 64, rows = 10;
  const std::vector<float> x = Source(31).normals(3 * cols);
  OpBench bench(metal_device());
  const WeightRef w = bench.weight("w", DType::q8_0, cols, rows, 32);
  const Operand wide = bench.result(rows, 1), narrow = bench.result(rows, 1);
  bench.add(MatMul{w, {}}, {bench.values(3 * cols, 1, x)}, wide);
  bench.add(MatMul{w, {}}, {bench.values(cols, 1, first_tokens(x, cols, 1))}, narrow);
  bench.run();
  CHECK(same_bits(bench.read(wide), bench.read(narrow)));
}

#ifdef MINFER_METAL_SIM
namespace {

/// Bytes of a block that several lanes read, each once too often for all but one: scales, and bits that lanes
/// share. They fall into the same access of the device.
int64_t shared_bytes(DType type) {
  switch (type) {
    case DType::q4_0:
    case DType::q5_0:
      return 2;
    case DType::q4_1:
    case DType::q5_1:
      return 4;
    case DType::q8_0:
      return 3 * 2;
    case DType::q4_k:
      return 7 * 4 + (8 * 6 - 12);
    case DType::q5_k:
      return 7 * 4 + (8 * 6 - 12) + 32;
    case DType::q6_k:
      return 15 * 2 + (16 * 4 - 16);
    default:
      return 0;
  }
}

int64_t group_rows(DType type) { return type == DType::q8_0 ? 2 : info(type).block_elements == 256 ? 2 : 4; }

}  // namespace

// Bytes are counted under the checker alone.
TEST_CASE("each byte of a weight is read once for one token, and once for eight" * doctest::skip(!checked)) {
  const metalsim::Options before = metalsim::options();
  metalsim::Options counting = before;
  counting.statistics = true;
  counting.compare_orders = false;
  metalsim::set_options(counting);
  const int64_t cols = 1024, rows = 16;
  for (const DType type : all_types) {
    for (const int64_t tokens : {1, 8}) {
      CAPTURE(info(type).name);
      CAPTURE(tokens);
      OpBench bench(metal_device());
      const WeightRef w = bench.weight("w", type, cols, rows, 41);
      const Operand x = bench.values(cols, tokens, Source(42).normals(cols * tokens));
      bench.add(MatMul{w, {}}, {x}, bench.result(rows, tokens));
      metalsim::clear_counters();
      bench.run();
      const metalsim::KernelCounters found = metalsim::counters().dispatches.back();
      const int64_t weight = int64_t(row_bytes(type, cols)) * rows,
                    input = cols * tokens * int64_t(sizeof(float));
      const int64_t blocks = cols * rows / info(type).block_elements;
      CHECK(int64_t(found.device_bytes_read_distinct) == weight + input);
      CHECK(int64_t(found.device_bytes_read) ==
            weight + blocks * shared_bytes(type) + input * rows / group_rows(type));
      CHECK(int64_t(found.device_bytes_written) == rows * tokens * int64_t(sizeof(float)));
    }
  }
  metalsim::set_options(before);
}
#endif
