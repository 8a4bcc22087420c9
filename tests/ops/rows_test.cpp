#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "ops/op_bench.h"
#include "ops/reference.h"
#include "tolerance.h"
#include "worse.h"

namespace minfer::test {
namespace {

TEST_CASE("rows of a table are its decoded rows, for every type") {
  for (const Device& device : devices()) {
    for (int t = 0; t < int(DType::i32); ++t) {
      CAPTURE(info(DType(t)).name);
      OpBench bench(device);
      const WeightRef table = bench.weight("table", DType(t), 512, 40, 3);
      const std::vector<int32_t> ids{39, 0, 7, 7, 21, 3, 12, 39, 1};
      const Operand y = bench.result(512, int64_t(ids.size()));
      bench.add(GetRows{table}, {bench.indices(ids)}, y);
      bench.run();
      const std::vector<float> all = bench.decoded(table), found = bench.read(y);
      std::vector<float> right;
      for (int32_t id : ids) right.insert(right.end(), all.begin() + id * 512, all.begin() + (id + 1) * 512);
      CHECK(same_bits(found, right));
    }
  }
}

TEST_CASE("rows of an activation are copied") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    const std::vector<float> x = Source(1).normals(33 * 6);
    const Operand y = bench.result(33, 2);
    bench.add(GetRows{}, {bench.values(33, 6, x), bench.indices({4, 5})}, y);
    bench.run();
    CHECK(same_bits(bench.read(y), {x.begin() + 4 * 33, x.end()}));
  }
}

TEST_CASE("views, reshapes and permutes move elements and change none") {
  for (const Device& device : devices_that_run({Permute{{2, 0, 3, 1}}})) {
    OpBench bench(device);
    std::vector<float> x(2 * 3 * 4 * 5);
    for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
    Operand in = bench.values(2, 60, x);
    in.desc.shape = {2, 3, 4, 5};
    const Operand view = bench.result(10, 3), reshaped = bench.result(60, 2);
    Operand permuted = bench.result(4, 30);
    permuted.desc.shape = {4, 2, 5, 3};
    bench.add(View{7, {10, 3, 1, 1}}, {in}, view);
    bench.add(Reshape{{60, 2, 1, 1}}, {in}, reshaped);
    bench.add(Permute{{2, 0, 3, 1}}, {in}, permuted);
    bench.run();
    CHECK(same_bits(bench.read(view), {x.begin() + 7, x.begin() + 37}));
    CHECK(same_bits(bench.read(reshaped), x));
    const std::vector<float> found = bench.read(permuted);
    bool right = true;
    for (size_t a = 0; a < 2; ++a) {
      for (size_t b = 0; b < 3; ++b) {
        for (size_t c = 0; c < 4; ++c) {
          for (size_t d = 0; d < 5; ++d) {
            // Output extents are source extents 2, 0, 3, 1.
            right &= found[c + 4 * (a + 2 * (d + 5 * b))] == x[a + 2 * (b + 3 * (c + 4 * d))];
          }
        }
      }
    }
    CHECK(right);
  }
}

TEST_CASE("rope turns pairs by the angle of a double calculation, near and far") {
  struct Case {
    RopeStyle style;
    int64_t head_dim;
    bool with_factors;
    float base, scale;
  };
  const Case cases[] = {{RopeStyle::split_half, 64, false, 10000.0f, 1.0f},
                        {RopeStyle::interleaved, 64, true, 500000.0f, 1.0f},
                        {RopeStyle::split_half, 128, false, 1000000.0f, 0.25f},
                        {RopeStyle::interleaved, 36, false, 10000.0f, 1.0f},
                        {RopeStyle::split_half, 80, true, 10000.0f, 1.0f}};
  const std::vector<int32_t> positions{0, 1, 4095, 32767, 17};
  for (const Device& device : devices()) {
    for (const Case& c : cases) {
      for (size_t tokens : {size_t(1), positions.size()}) {
        CAPTURE(c.head_dim);
        OpBench bench(device);
        const int64_t n_heads = 3, width = n_heads * c.head_dim;
        Source source(uint32_t(c.head_dim));
        const std::vector<float> x = source.normals(width * int64_t(tokens));
        std::vector<float> factors;
        RopeParams rope{c.style, c.base, c.scale, {}};
        if (c.with_factors) {
          for (int64_t i = 0; i < c.head_dim / 2; ++i) factors.push_back(1.0f + 0.25f * float(i));
          rope.factors = bench.vector("rope_freqs", factors);
        }
        const Operand y = bench.result(width, int64_t(tokens));
        const std::vector<int32_t> at(positions.end() - std::ptrdiff_t(tokens), positions.end());
        bench.add(Rope{rope, c.head_dim, n_heads},
                  {bench.values(width, int64_t(tokens), x), bench.indices(at)}, y);
        bench.run();
        const std::vector<float> found = bench.read(y);
        double worst = 0;
        for (size_t head = 0; head < tokens * size_t(n_heads); ++head) {
          const float* from = x.data() + head * size_t(c.head_dim);
          const reference::Doubles right =
              reference::rope(from, c.head_dim, c.style == RopeStyle::interleaved, double(c.base),
                              double(c.scale), factors, at[head / size_t(n_heads)]);
          for (size_t i = 0; i < right.size(); ++i) {
            worst = worse(worst, std::abs(double(found[head * right.size() + i]) - right[i]));
          }
        }
        double size = 0;
        for (float value : x) size = std::max(size, 2.0 * std::abs(double(value)));
        CHECK(worst <= tol::rope_with_table * size);
      }
    }
  }
}

}  // namespace
}  // namespace minfer::test
