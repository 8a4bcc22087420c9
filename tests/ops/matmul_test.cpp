#include <doctest/doctest.h>

#include <cmath>

#include "ops/op_bench.h"
#include "ops/reference.h"
#include "tolerance.h"
#include "worse.h"

namespace minfer::test {
namespace {

constexpr DType quantised_types[] = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                     DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};
constexpr DType float_types[] = {DType::f32, DType::f16, DType::bf16};

/// Integers up to 127 in size, one of each 32 at 127: eight bits hold them exactly.
std::vector<float> exact_in_q8(int64_t n, uint32_t seed) {
  Source source(seed);
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 32 == 7 ? 127.0f : float(source.integer(-127, 127));
  return x;
}

struct Product {
  std::vector<float> weights, bias, found;
};

Product multiply(OpBench& bench, DType type, int64_t cols, int64_t rows, const std::vector<float>& x,
                 bool fine_activations = false) {
  const int64_t tokens = int64_t(x.size()) / cols;
  Product product;
  product.bias = Source(9).normals(rows);
  const WeightRef w = bench.weight("w", type, cols, rows, 77);
  const Operand y = bench.result(rows, tokens);
  bench.add(MatMul{w, bench.vector("b", product.bias), fine_activations}, {bench.values(cols, tokens, x)}, y);
  bench.run();
  product.weights = bench.decoded(w);
  product.found = bench.read(y);
  return product;
}

/// The largest error over its bound; `bound(row weights, x, dot)` is absolute.
template <class Bound>
double worst_ratio(const Product& p, const std::vector<float>& x, int64_t cols, int64_t rows, Bound bound) {
  double worst = 0;
  for (int64_t t = 0; t < int64_t(x.size()) / cols; ++t) {
    for (int64_t r = 0; r < rows; ++r) {
      const float* w = p.weights.data() + r * cols;
      const reference::Dot d = reference::dot(w, x.data() + t * cols, size_t(cols));
      const double right = d.value + double(p.bias[size_t(r)]);
      const double allowed = bound(w, x.data() + t * cols, d) + tol::u * std::abs(right);
      worst = worse(worst, std::abs(double(p.found[size_t(t * rows + r)]) - right) / allowed);
    }
  }
  return worst;
}

double most(const float* x, int64_t n) {
  double value = 0;
  for (int64_t i = 0; i < n; ++i) value = std::max(value, std::abs(double(x[i])));
  return value;
}

TEST_CASE("a quantised matmul of activations that eight bits hold is exact but for its sum") {
  for (const Device& device : devices()) {
    for (DType type : quantised_types) {
      for (int64_t tokens : {1, 2, 5, 33}) {
        CAPTURE(info(type).name);
        CAPTURE(tokens);
        const int64_t cols = 512, rows = 97;
        OpBench bench(device);
        const std::vector<float> x = exact_in_q8(cols * tokens, uint32_t(tokens));
        const Product p = multiply(bench, type, cols, rows, x);
        const auto bound = [&](const float* w, const float* at, const reference::Dot&) {
          double magnitude = 0;
          for (int64_t i = 0; i < cols; ++i) magnitude += std::abs(double(at[i]));
          return tol::dot_blocks(double(cols / 32), magnitude * most(w, cols));
        };
        CHECK(worst_ratio(p, x, cols, rows, bound) <= 1.0);
      }
    }
  }
}

TEST_CASE("a quantised matmul stays within the activations' eight bits") {
  for (const Device& device : devices()) {
    for (DType type : quantised_types) {
      const int64_t cols = 256, rows = 48, tokens = 3;
      OpBench bench(device);
      const std::vector<float> x = Source(3).normals(cols * tokens);
      const Product p = multiply(bench, type, cols, rows, x);
      const auto bound = [&](const float* w, const float* at, const reference::Dot& d) {
        double sum = tol::dot_blocks(double(cols / 32), 4 * d.magnitude);
        for (int64_t b = 0; b < cols; b += 32) {
          for (int64_t i = b; i < b + 32; ++i) {
            sum += tol::activation_q8(most(at + b, 32)) * std::abs(double(w[i]));
          }
        }
        return sum;
      };
      CHECK(worst_ratio(p, x, cols, rows, bound) <= 1.0);
    }
  }
}

TEST_CASE("fine activations keep fifteen bits, whatever the number of tokens") {
  for (const Device& device : devices()) {
    for (DType type : quantised_types) {
      for (int64_t tokens : {1, 2, 19}) {
        CAPTURE(info(type).name);
        CAPTURE(tokens);
        const int64_t cols = 256, rows = 331;
        OpBench bench(device);
        const std::vector<float> x = Source(3).normals(cols * tokens);
        const Product p = multiply(bench, type, cols, rows, x, true);
        const auto bound = [&](const float* w, const float* at, const reference::Dot& d) {
          double sum = tol::dot_blocks(double(2 * cols / 32), 4 * d.magnitude);
          for (int64_t b = 0; b < cols; b += 32) {
            for (int64_t i = b; i < b + 32; ++i) {
              sum += tol::activation_q8x2(most(at + b, 32)) * std::abs(double(w[i]));
            }
          }
          return sum;
        };
        CHECK(worst_ratio(p, x, cols, rows, bound) <= 1.0);
      }
    }
  }
}

TEST_CASE("float matmuls keep f32 activations and any width") {
  for (const Device& device : devices()) {
    for (DType type : float_types) {
      for (int64_t cols : {1, 15, 36, 576}) {
        for (int64_t tokens : {1, 4, 70}) {
          CAPTURE(info(type).name);
          CAPTURE(cols);
          OpBench bench(device);
          const std::vector<float> x = Source(uint32_t(cols)).normals(cols * tokens);
          const Product p = multiply(bench, type, cols, 33, x);
          const auto bound = [&](const float*, const float*, const reference::Dot& d) {
            return tol::dot(double(cols), d.magnitude);
          };
          CHECK(worst_ratio(p, x, cols, 33, bound) <= 1.0);
        }
      }
    }
  }
}

TEST_CASE("a small scale on each side does not vanish") {
  // d = 2^-12 with 32 quants of 127 against an activation block of amax 127 * 2^-17.
  for (const Device& device : devices()) {
    for (int64_t rows = 1; rows <= 64; ++rows) {
      OpBench bench(device);
      WeightRef w{"tiny", DType::q8_0, 32, rows};
      std::vector<std::byte> block(34, std::byte(127));
      block[0] = std::byte(0x00);
      block[1] = std::byte(0x0c);  // 2^-12 as a half
      std::vector<std::byte> data;
      for (int64_t r = 0; r < rows; ++r) data.insert(data.end(), block.begin(), block.end());
      bench.backend().add_weight({w, data});
      const Operand y = bench.result(rows, 1);
      bench.add(MatMul{w, {}}, {bench.values(32, 1, std::vector<float>(32, 127 * 0x1p-17f))}, y);
      bench.run();
      for (float found : bench.read(y)) {
        CHECK(std::abs(double(found) - 9.61363e-4) <= tol::small_scale_case * 9.61363e-4);
      }
    }
  }
}

TEST_CASE("one token's product does not depend on the tokens beside it, on threads, or on a shared source") {
  for (DType type : {DType::q4_1, DType::q6_k, DType::f16}) {
    const int64_t cols = 256, rows = 200, tokens = 37;
    const std::vector<float> x = Source(8).normals(cols * tokens);
    std::vector<float> first;
    for (int threads : {1, 2, 3}) {
      OpBench bench(cpu_with(threads));
      const std::vector<float> found = multiply(bench, type, cols, rows, x).found;
      if (first.empty()) first = found;
      CHECK(same_bits(found, first));
    }
    for (int64_t t : {0, 1, 36}) {
      OpBench bench(cpu_with(2));
      const std::vector<float> alone(x.begin() + t * cols, x.begin() + (t + 1) * cols);
      const std::vector<float> row(first.begin() + t * rows, first.begin() + (t + 1) * rows);
      CHECK(same_bits(multiply(bench, type, cols, rows, alone).found, row));
    }
  }
}

TEST_CASE("a source that changes between two matmuls is read again") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    const WeightRef w = bench.weight("w", DType::q8_0, 64, 32, 1);
    const std::vector<float> x = Source(4).normals(64);
    const Operand in = bench.values(64, 1, x), once = bench.result(32, 1), twice = bench.result(32, 1);
    bench.add(MatMul{w, {}}, {in}, once);
    bench.add(Add{}, {in, in}, in);
    bench.add(MatMul{w, {}}, {in}, twice);
    bench.run();
    std::vector<float> doubled = bench.read(once);
    for (float& value : doubled) value *= 2.0f;  // a power of two: every rounding doubles
    CHECK(same_bits(bench.read(twice), doubled));
  }
}

}  // namespace
}  // namespace minfer::test
