#include <algorithm>

#include "base/fp16.h"
#include "kernels/kernel_test.h"
#include "tolerance.h"

/// The scalar kernels against f64. The vector tables have the same bits (float_bits_test.cpp).
using namespace minfer;
using namespace minfer::cpu;
using namespace minfer::cpu::test;

namespace {

const KernelTable& scalar() { return scalar_table(); }

void check_relative(float got, double want, double tolerance) {
  REQUIRE(std::abs(got - want) <= tolerance * std::abs(want) + tol::smallest_f32);
}

}  // namespace

TEST_CASE("sums, products and scaling round once") {
  const auto a = normal_values(99, 1), b = normal_values(99, 2);
  std::vector<float> y(99, NAN);
  scalar().add_f32(y.data(), a.data(), b.data(), 99);
  for (size_t i = 0; i < 99; ++i) REQUIRE(y[i] == float(double(a[i]) + double(b[i])));
  scalar().mul_f32(y.data(), a.data(), b.data(), 99);
  for (size_t i = 0; i < 99; ++i) REQUIRE(y[i] == float(double(a[i]) * double(b[i])));
  scalar().scale_f32(y.data(), a.data(), 0.37f, 99);
  for (size_t i = 0; i < 99; ++i) REQUIRE(y[i] == float(double(a[i]) * double(0.37f)));
}

TEST_CASE("rms_norm agrees with f64 at every length") {
  for (const int64_t n : lengths()) {
    CAPTURE(n);
    const auto x = normal_values(n, uint32_t(n)), w = normal_values(n, uint32_t(n) + 1);
    std::vector<float> y(size_t(n), NAN);
    scalar().rms_norm_f32(y.data(), x.data(), w.data(), n, 1e-5f);
    double squares = 0;
    for (const float v : x) squares += double(v) * v;
    const double inverse = 1 / std::sqrt(squares / double(n) + double(1e-5f));
    for (size_t i = 0; i < size_t(n); ++i)
      check_relative(y[i], x[i] * inverse * w[i], tol::rms_norm(double(n)));
  }
}

TEST_CASE("silu and swiglu agree with f64") {
  const auto gate = normal_values(2000, 1, 15.0f), up = normal_values(2000, 2);
  std::vector<float> y(2000, NAN), z(2000, NAN);
  scalar().silu_f32(y.data(), gate.data(), 2000);
  scalar().swiglu_f32(z.data(), gate.data(), up.data(), 2000);
  for (size_t i = 0; i < 2000; ++i) {
    const double silu = gate[i] / (1 + std::exp(-double(gate[i])));
    check_relative(y[i], silu, tol::silu);
    check_relative(z[i], silu * up[i], tol::silu + tol::u);
  }
}

TEST_CASE("softmax agrees with f64 at every length, and sums to one") {
  for (const int64_t n : lengths()) {
    CAPTURE(n);
    const auto x = normal_values(n, uint32_t(n), 8.0f);
    std::vector<float> y(size_t(n), NAN);
    scalar().softmax_f32(y.data(), x.data(), n);
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    double sum = 0;
    for (const float v : x) sum += std::exp(double(v) - *high);
    for (size_t i = 0; i < size_t(n); ++i) {
      check_relative(y[i], std::exp(double(x[i]) - *high) / sum, tol::softmax(double(n), *high - *low));
    }
  }
}

TEST_CASE("a NaN or an infinite score shows in softmax's output") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    for (const float bad : {NAN, inf}) {
      for (size_t at : {0, 1, 16, 30, 32}) {
        std::vector<float> x(33, 1.0f);
        x[at] = bad;
        table->softmax_f32(x.data(), x.data(), 33);
        REQUIRE(std::isnan(x[at]));
        if (std::isnan(bad)) REQUIRE(std::all_of(x.begin(), x.end(), [](float v) { return std::isnan(v); }));
      }
    }
  }
}

TEST_CASE("rope turns each pair by its angle") {
  const int64_t n_heads = 2, half = 20;
  const auto x = normal_values(n_heads * 2 * half, 3);
  std::vector<float> cos, sin;
  for (int64_t i = 0; i < half; ++i) {
    cos.push_back(std::cos(0.3f * float(i)));
    sin.push_back(std::sin(0.3f * float(i)));
  }
  for (const bool interleaved : {false, true}) {
    auto y = x;
    scalar().rope_f32(y.data(), cos.data(), sin.data(), n_heads, 2 * half, interleaved);
    for (int64_t h = 0; h < n_heads; ++h) {
      for (int64_t i = 0; i < half; ++i) {
        const auto first = size_t(h * 2 * half + (interleaved ? 2 * i : i));
        const size_t second = first + size_t(interleaved ? 1 : half);
        const double a = x[first], b = x[second], c = cos[size_t(i)], s = sin[size_t(i)];
        const double bound = tol::rope * (std::abs(a) + std::abs(b));
        REQUIRE(std::abs(y[first] - (a * c - b * s)) <= bound);
        REQUIRE(std::abs(y[second] - (a * s + b * c)) <= bound);
      }
    }
  }
}

TEST_CASE("float matmuls agree with f64") {
  const int64_t rows = 3, tokens = 2;
  for (const int64_t cols : lengths()) {
    const auto w = normal_values(rows * cols, 1), x = normal_values(tokens * cols, 2);
    std::vector<uint16_t> half, bfloat;
    for (const float v : w) half.push_back(f32_to_f16(v)), bfloat.push_back(f32_to_bf16(v));
    const struct {
      DType type;
      const void* w;
      size_t bytes;
      float (*value)(const void*, size_t);
    } cases[] = {
        {DType::f32, w.data(), 4, [](const void* p, size_t i) { return static_cast<const float*>(p)[i]; }},
        {DType::f16, half.data(), 2,
         [](const void* p, size_t i) { return f16_to_f32(static_cast<const uint16_t*>(p)[i]); }},
        {DType::bf16, bfloat.data(), 2,
         [](const void* p, size_t i) { return bf16_to_f32(static_cast<const uint16_t*>(p)[i]); }},
    };
    for (const auto& c : cases) {
      std::vector<float> y(size_t(rows * tokens), NAN);
      matmul_f(scalar(), c.type)(y.data(), rows, static_cast<const std::byte*>(c.w), c.bytes * size_t(cols),
                                 rows, x.data(), cols, cols, tokens);
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t r = 0; r < rows; ++r) {
          double want = 0, magnitude = 0;
          for (int64_t i = 0; i < cols; ++i) {
            const double product = double(c.value(c.w, size_t(r * cols + i))) * x[size_t(t * cols + i)];
            want += product;
            magnitude += std::abs(product);
          }
          REQUIRE(std::abs(y[size_t(t * rows + r)] - want) <= tol::dot(double(cols), magnitude));
        }
      }
    }
  }
}
