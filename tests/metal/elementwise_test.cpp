#include <doctest/doctest.h>

#include <cmath>

#include "metal/metal_device.h"
#include "tolerance.h"

using namespace minfer;
using namespace minfer::test;

TEST_CASE("metal_elementwise_matches_cpu") {
  // silu(x) + x of four values, as both devices have it.
  const std::vector<float> few = {0.5f, 1.0f, 2.0f, -1.0f};
  std::vector<std::vector<float>> sums;
  for (const Device& device : {cpu_with(1), metal_device()}) {
    OpBench bench(device);
    const Operand x = bench.values(4, 1, few), silu = bench.result(4, 1), sum = bench.result(4, 1);
    bench.add(Silu{}, {x}, silu);
    bench.add(Add{}, {silu, x}, sum);
    bench.run();
    sums.push_back(bench.read(sum));
  }
  CHECK(same_bits(sums[0], sums[1]));

  Source random(7);
  for (const int64_t count : {1, 4, 5, 576, 1023, 1024, 1025}) {
    CAPTURE(count);
    const std::vector<float> a = random.normals(count), b = random.normals(count);
    std::vector<std::vector<float>> results;
    for (const Device& device : {cpu_with(1), metal_device()}) {
      OpBench bench(device);
      const Operand x = bench.values(count, 1, a), y = bench.values(count, 1, b);
      const Operand sum = bench.result(count, 1), product = bench.result(count, 1);
      bench.add(Add{}, {x, y}, sum);
      bench.add(Mul{}, {sum, y}, product);
      bench.run();
      results.push_back(bench.read(product));
    }
    CHECK(same_bits(results[0], results[1]));
  }
}

TEST_CASE("metal activations match a calculation in double") {
  Source random(8);
  const int64_t cols = 96, tokens = 3;
  const std::vector<float> gate = random.normals(cols * tokens), up = random.normals(cols * tokens);
  OpBench bench(metal_device());
  const Operand x = bench.values(cols, tokens, gate), y = bench.values(cols, tokens, up);
  const Operand swiglu = bench.result(cols, tokens), silu = bench.result(cols, tokens);
  bench.add(SwiGlu{}, {x, y}, swiglu);
  bench.add(Silu{}, {x}, silu);
  bench.run();
  const std::vector<float> got = bench.read(swiglu), alone = bench.read(silu);
  for (size_t i = 0; i < got.size(); ++i) {
    const double expected = double(gate[i]) / (1 + std::exp(-double(gate[i])));
    CHECK(std::abs(alone[i] - expected) <= tol::metal_silu * (1 + std::abs(expected)));
    CHECK(std::abs(got[i] - expected * up[i]) <= tol::metal_silu * (1 + std::abs(expected * up[i])));
  }
}

TEST_CASE("metal views copy their part") {
  Source random(9);
  const std::vector<float> data = random.normals(64);
  OpBench bench(metal_device());
  const Operand x = bench.values(64, 1, data), part = bench.result(10, 1);
  bench.add(View{7, {10, 1, 1, 1}}, {x}, part);
  bench.run();
  CHECK(same_bits(bench.read(part), std::vector<float>(data.begin() + 7, data.begin() + 17)));
}
