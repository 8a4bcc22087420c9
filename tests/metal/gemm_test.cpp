#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "environment.h"
#include "metal/gemm_bench.h"
#include "metal/metal_device.h"
#include "ops/reference.h"
#include "tolerance.h"
#include "worse.h"

namespace minfer::test {
namespace {

constexpr DType all_types[] = {DType::f32,  DType::f16,  DType::bf16, DType::q4_0, DType::q4_1, DType::q5_0,
                               DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};

reference::Doubles product(const Matrix& w, const std::vector<float>& x) {
  const int64_t tokens = int64_t(x.size()) / w.ref.cols;
  reference::Doubles y;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t r = 0; r < w.ref.rows; ++r) {
      const size_t cols = size_t(w.ref.cols);
      y.push_back(reference::dot(&w.values[size_t(r) * cols], &x[size_t(t) * cols], cols).value);
    }
  }
  return y;
}

/// The largest error as a share of the largest result; infinite if a result is not a number.
double error_of(const std::vector<float>& found, const reference::Doubles& right) {
  double error = 0, largest = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const double off = std::abs(double(found[i]) - right[i]);
    error = worse(error, off);
    largest = std::max(largest, std::abs(right[i]));
  }
  return error / largest;
}

void check(DType type, int64_t cols, int64_t rows, int64_t tokens, bool half = false) {
  CAPTURE(info(type).name);
  CAPTURE(cols);
  CAPTURE(rows);
  CAPTURE(tokens);
  Gemm gemm(type, cols, rows, half);
  const std::vector<float> x = Source(uint32_t(tokens)).normals(cols * tokens);
  const std::vector<float> found = gemm(x);
  CHECK(error_of(found, product(gemm.w, x)) <= (half ? tol::metal_gemm_half : tol::metal_gemm(double(cols))));
  CHECK(same_bits(gemm(x), found));
  CHECK(gemm.kept_to_y);
}

/// Activations scaled so that the largest result is 1, against an absolute bar.
void check_absolute(int64_t cols, int64_t rows, int64_t tokens, bool half) {
  CAPTURE(tokens);
  CAPTURE(half);
  Gemm gemm(DType::q4_0, cols, rows, half);
  std::vector<float> x = Source(uint32_t(tokens)).normals(cols * tokens);
  double largest = 0;
  for (double value : product(gemm.w, x)) largest = std::max(largest, std::abs(value));
  for (float& value : x) value = float(double(value) / largest);
  const reference::Doubles right = product(gemm.w, x);
  const std::vector<float> found = gemm(x);
  double error = 0;
  for (size_t i = 0; i < right.size(); ++i) error = worse(error, std::abs(double(found[i]) - right[i]));
  CHECK(error <= tol::metal_gemm_absolute);
  CHECK(same_bits(gemm(x), found));
}

TEST_CASE("isolation: gemm of 896 x 896 around a tile of tokens, against double") {
  for (int64_t tokens : {12, 30, 32, 33}) {
    for (const bool half : {false, true}) {
      // Under the checker one tile of rows and its edge: the next ones have the same.
      check_absolute(896, checked ? 70 : 896, tokens, half);
      if (!checked) check(DType::q4_0, 896, 896, tokens, half);
    }
  }
}

TEST_CASE("isolation: gemm of every type, against double") {
  const int64_t cols = checked ? 256 : 768, rows = checked ? 70 : 896, tokens = checked ? 34 : 32;
  for (DType type : all_types) {
    check(type, cols, rows, tokens);
    check(type, cols, rows, tokens, true);
  }
}

TEST_CASE("gemm matches a product in double around the edges of its tiles") {
  const auto edges =
      checked ? std::vector<int64_t>{1, 65} : std::vector<int64_t>{1, 7, 63, 64, 65, 127, 128, 130};
  const auto batches =
      checked ? std::vector<int64_t>{1, 33} : std::vector<int64_t>{1, 2, 8, 31, 32, 33, 64, 70};
  for (int64_t rows : edges) {
    for (int64_t tokens : batches) {
      for (int64_t cols : {32, 96}) {
        check(DType::q5_0, cols, rows, tokens);
        check(DType::q8_0, cols, rows, tokens, true);
      }
      check(DType::q6_k, 256, rows, tokens);
    }
  }
}

TEST_CASE("gemm takes float weights of any width") {
  for (DType type : {DType::f32, DType::f16, DType::bf16}) {
    for (int64_t cols : {1, 15, 31, 33, 36, 62, 100})
      check(type, cols, 33, 9, type == DType::f16 && cols > 31);
  }
}

TEST_CASE("gemm reads weights at any place that they may have in a file") {
  const int64_t cols = 256, rows = 5, tokens = 3;
  const std::vector<float> x = Source(1).normals(cols * tokens);
  for (DType type : all_types) {
    CAPTURE(info(type).name);
    Gemm aligned(type, cols, rows);
    for (size_t offset : {1, 2, 4, 18})
      CHECK(same_bits(Gemm(type, cols, rows, false, offset)(x), aligned(x)));
  }
}

TEST_CASE("a product that forgets a column, a row or a token is not close to the right one") {
  Gemm gemm(DType::q4_1, 96, 65);
  const std::vector<float> x = Source(4).normals(96 * 33);
  const std::vector<float> found = gemm(x);
  const reference::Doubles right = product(gemm.w, x);
  REQUIRE(error_of(found, right) <= tol::metal_gemm(96));
  std::vector<float> last_column_zero = x, last_row_again = found, last_token_again = found;
  for (size_t t = 0; t < 33; ++t) {
    last_column_zero[t * 96 + 95] = 0;
    last_row_again[t * 65 + 64] = found[t * 65 + 63];
  }
  std::copy_n(&found[31 * 65], 65, &last_token_again[32 * 65]);
  CHECK(error_of(found, product(gemm.w, last_column_zero)) > tol::metal_gemm_half);
  CHECK(error_of(last_row_again, right) > tol::metal_gemm_half);
  CHECK(error_of(last_token_again, right) > tol::metal_gemm_half);
}

TEST_CASE("a matmul node of many tokens is this product, with half staging where it is asked for") {
  const int64_t cols = 96, rows = 40, tokens = 12;
  const std::vector<float> x = Source(8).normals(cols * tokens);
  const auto by_node = [&] {
    OpBench bench(metal_device());
    const WeightRef w = bench.weight("w", DType::q5_1, cols, rows, uint32_t(cols + rows));
    const Operand y = bench.result(rows, tokens);
    bench.add(MatMul{w, {}}, {bench.values(cols, tokens, x)}, y);
    bench.run();
    return bench.read(y);
  };
  CHECK(same_bits(by_node(), Gemm(DType::q5_1, cols, rows, false)(x)));
  setenv("MINFER_HALF_STAGING", "1", 1);
  const std::vector<float> half = by_node();
  unsetenv("MINFER_HALF_STAGING");
  CHECK(same_bits(half, Gemm(DType::q5_1, cols, rows, true)(x)));
  CHECK_FALSE(same_bits(half, by_node()));
}

TEST_CASE("a token's product does not depend on the tokens beside it") {
  const int64_t cols = 256, rows = 70;
  for (const bool half : {false, true}) {
    Gemm gemm(DType::q4_k, cols, rows, half);
    const std::vector<float> x = Source(5).normals(cols * 70), whole = gemm(x);
    for (const std::vector<int64_t>& chunks : {std::vector<int64_t>{32, 38}, {9, 1, 60}, {33, 37}}) {
      std::vector<float> joined;
      for (int64_t at = 0; const int64_t tokens : chunks) {
        const std::vector<float> y = gemm({x.begin() + at * cols, x.begin() + (at + tokens) * cols});
        joined.insert(joined.end(), y.begin(), y.end());
        at += tokens;
      }
      CHECK(same_bits(joined, whole));
    }
  }
}

TEST_CASE("half staging holds for activations that no half can hold") {
  const int64_t cols = 128, rows = 64, tokens = 5;
  Gemm gemm(DType::q4_0, cols, rows, true);
  std::vector<float> x = Source(6).normals(cols * tokens);
  const auto row = [&](int64_t t) { return x.begin() + t * cols; };
  *(row(0) + 17) = 1e5f;
  for (auto [token, size] : {std::pair{1, 1e30f}, {2, 1e-20f}, {3, 1e-37f}}) {
    std::transform(row(token), row(token + 1), row(token), [size = size](float v) { return v * size; });
  }
  std::fill(row(4), row(5), 0.0f);
  const std::vector<float> found = gemm(x);
  for (int64_t t = 0; t < tokens; ++t) {
    CAPTURE(t);
    const std::vector<float> alone(row(t), row(t + 1)),
        y(&found[size_t(t * rows)], &found[size_t(t * rows)] + rows);
    if (t < 4) CHECK(error_of(y, product(gemm.w, alone)) <= tol::metal_gemm_half);
    if (t == 4) CHECK(y == std::vector<float>(size_t(rows), 0.0f));
  }
}

TEST_CASE("half staging leaves a weight that no half can hold to f32") {
  const int64_t cols = 256, rows = 8, tokens = 3;
  const std::vector<float> x = Source(9).normals(cols * tokens);
  for (DType type : all_types) {
    if (!is_quantised(type)) continue;
    CAPTURE(info(type).name);
    std::vector<std::byte> blocks = random_rows(type, cols, rows, 12);
    const Matrix small(type, cols, rows, blocks);
    const size_t last = blocks.size() - size_t(info(type).block_bytes);
    const uint16_t largest = 0x7BFF;  // the scale of the last block: 65504
    std::memcpy(&blocks[last + (type == DType::q6_k ? 208 : 0)], &largest, 2);
    const Matrix large(type, cols, rows, blocks);
    const std::vector<float> found = Gemm(large, true)(x);
    CHECK(same_bits(found, Gemm(large, false)(x)));
    CHECK(error_of(found, product(large, x)) <= tol::metal_gemm(double(cols)));
    CHECK_FALSE(same_bits(Gemm(small, true)(x), Gemm(small, false)(x)));
  }
}

TEST_CASE("a device with too little threadgroup memory refuses the GEMM, and runs without it") {
  const size_t has = metal::Device::open()->limits().threadgroup_memory;
  if (has >= 12448) {
    MESSAGE("skipped: this device has enough; METALSIM_THREADGROUP_MEMORY=8K makes one that has not");
    return;
  }
  const int64_t cols = 96, rows = 40, tokens = 12;
  const std::vector<float> x = Source(8).normals(cols * tokens);
  std::vector<float> found;
  const auto multiply = [&] {
    OpBench bench(metal_device());
    const WeightRef w = bench.weight("w", DType::q5_1, cols, rows, uint32_t(cols + rows));
    const Operand y = bench.result(rows, tokens);
    bench.add(MatMul{w, {}}, {bench.values(cols, tokens, x)}, y, "blk.0.product");
    bench.run();
    found = bench.read(y);
  };
  const Refused refusal = refused(multiply);
  CHECK(refusal.code == int(ErrorCode::unsupported));
  for (const std::string& part : {std::string("gemm_q5_1_f32 needs 12448 bytes"), std::to_string(has)}) {
    CHECK_MESSAGE(refusal.message.find(part) != std::string::npos, part, " in ", refusal.message);
  }
  const Environment without("MINFER_GEMM", "0");
  CHECK(!refused(multiply).thrown);
  CHECK(error_of(found, product(Matrix(DType::q5_1, cols, rows), x)) <= tol::metal_gemm(double(cols)));
}

TEST_CASE("an activation that is no number spoils its own token and no other") {
  const int64_t cols = 64, rows = 40, tokens = 12;
  for (const bool half : {false, true}) {
    Gemm gemm(DType::q8_0, cols, rows, half);
    std::vector<float> x = Source(7).normals(cols * tokens);
    const std::vector<float> before = gemm(x);
    x[3 * cols + 5] = std::numeric_limits<float>::infinity();
    x[9 * cols + 6] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> after = gemm(x);
    for (size_t i = 0; i < after.size(); ++i) {
      const size_t token = i / size_t(rows);
      const uint32_t bits = std::bit_cast<uint32_t>(after[i]);
      if (token == 3 || token == 9) {
        CHECK((bits >> 23 & 255) == 255);
      } else {
        CHECK(bits == std::bit_cast<uint32_t>(before[i]));
      }
    }
  }
}

}  // namespace
}  // namespace minfer::test
