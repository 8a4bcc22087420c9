#include <doctest/doctest.h>

#include <cmath>

#include "ops/op_bench.h"
#include "ops/reference.h"
#include "tolerance.h"
#include "worse.h"

namespace minfer::test {
namespace {

constexpr int64_t widths[] = {1, 15, 16, 17, 576, 1536};
constexpr int64_t token_counts[] = {1, 3, 17};

/// Runs `op` of one or two sources and checks each value against `expected(a, b)` within `relative`.
template <class F>
void check_each(Op op, bool binary, double relative, F expected) {
  for (const Device& device : devices_that_run({op})) {
    for (int64_t cols : widths) {
      for (int64_t tokens : token_counts) {
        CAPTURE(device.name);
        CAPTURE(cols);
        CAPTURE(tokens);
        OpBench bench(device);
        Source source(uint32_t(cols + tokens));
        const std::vector<float> a = source.normals(cols * tokens), b = source.normals(cols * tokens);
        const Operand y = bench.result(cols, tokens);
        std::vector<Operand> sources{bench.values(cols, tokens, a)};
        if (binary) sources.push_back(bench.values(cols, tokens, b));
        bench.add(op, sources, y);
        bench.run();
        const std::vector<float> found = bench.read(y);
        double worst = 0;
        for (size_t i = 0; i < found.size(); ++i) {
          const double right = expected(double(a[i]), double(b[i]));
          worst = worse(worst, std::abs(double(found[i]) - right) / (std::abs(right) + tol::smallest_f32));
        }
        CHECK(worst <= relative);
      }
    }
  }
}

TEST_CASE("elementwise ops are their formulas") {
  check_each(Add{}, true, tol::u, [](double a, double b) { return a + b; });
  check_each(Mul{}, true, tol::u, [](double a, double b) { return a * b; });
  check_each(Scale{0.375f}, false, tol::u, [](double a, double) { return a * 0.375; });
  check_each(Silu{}, false, tol::silu, [](double a, double) { return reference::silu(a); });
  check_each(SwiGlu{}, true, tol::swiglu, [](double a, double b) { return reference::silu(a) * b; });
}

TEST_CASE("silu and add give the values of a hand calculation") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    const Operand x = bench.values(4, 1, {0.5f, 1.0f, 2.0f, -1.0f});
    const Operand s = bench.result(4, 1), y = bench.result(4, 1);
    bench.add(Silu{}, {x}, s);
    bench.add(Add{}, {s, x}, y);
    bench.run();
    const double expected[] = {0.8112296656, 1.7310585786, 3.7615941560, -1.2689414214};
    const std::vector<float> found = bench.read(y);
    for (size_t i = 0; i < 4; ++i) CHECK(std::abs(double(found[i]) - expected[i]) <= 4 * tol::silu);
  }
}

TEST_CASE("an op may write over its source") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    Source source(5);
    const std::vector<float> a = source.normals(3 * 576), b = source.normals(3 * 576);
    const Operand x = bench.values(576, 3, a), z = bench.values(576, 3, b), y = bench.result(576, 3);
    bench.add(SwiGlu{}, {x, z}, y);
    bench.add(SwiGlu{}, {x, z}, x);
    bench.run();
    CHECK(same_bits(bench.read(x), bench.read(y)));
  }
}

TEST_CASE("softmax rows sum to one and match the formula") {
  for (const Device& device : devices_that_run({Softmax{}})) {
    for (int64_t cols : {1, 5, 16, 33, 700}) {
      OpBench bench(device);
      Source source{uint32_t(cols)};
      std::vector<float> x = source.normals(cols * 3);
      for (float& value : x) value *= 4.0f;
      const Operand y = bench.result(cols, 3);
      bench.add(Softmax{}, {bench.values(cols, 3, x)}, y);
      bench.run();
      const std::vector<float> found = bench.read(y);
      for (int64_t t = 0; t < 3; ++t) {
        const reference::Doubles row(x.begin() + t * cols, x.begin() + (t + 1) * cols);
        const auto [low, high] = std::minmax_element(row.begin(), row.end());
        const double relative = tol::softmax(double(cols), *high - *low);
        const reference::Doubles right = reference::softmax(row);
        double worst = 0;
        for (size_t i = 0; i < right.size(); ++i) {
          worst = worse(worst, std::abs(double(found[size_t(t * cols) + i]) - right[i]) / right[i]);
        }
        CHECK(worst <= relative);
      }
    }
  }
}

TEST_CASE("norms divide each row, or each head, by its own root mean square") {
  struct Case {
    int64_t width, n_heads, tokens;
  };
  for (const Device& device : devices()) {
    for (const Case c : {Case{8, 1, 3}, {576, 1, 1}, {896, 1, 8}, {5000, 1, 2}, {36, 3, 5}, {128, 16, 33}}) {
      CAPTURE(c.width);
      OpBench bench(device);
      Source source(uint32_t(c.width));
      const std::vector<float> x = source.normals(c.width * c.n_heads * c.tokens),
                               w = source.normals(c.width);
      const WeightRef gain = bench.vector("gain", w);
      const Operand in = bench.values(c.width * c.n_heads, c.tokens, x);
      const Operand y = bench.result(c.width * c.n_heads, c.tokens);
      if (c.n_heads == 1) {
        bench.add(RmsNorm{gain, 1e-5f}, {in}, y);
      } else {
        bench.add(QkNorm{gain, c.width, c.n_heads, 1e-5f}, {in}, y);
      }
      bench.run();
      const std::vector<float> found = bench.read(y);
      const reference::Doubles right = reference::rms_norm(x, w, double(1e-5f));
      double worst = 0;
      for (size_t i = 0; i < found.size(); ++i) {
        worst = worse(worst, std::abs(double(found[i]) - right[i]) / std::abs(right[i]));
      }
      CHECK(worst <= tol::rms_norm(double(c.width)));
    }
  }
}

}  // namespace
}  // namespace minfer::test
