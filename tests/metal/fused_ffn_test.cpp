#include <doctest/doctest.h>

#include "base/error.h"
#include "metal/metal_device.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// The hidden row by the fused op and by what it replaces.
struct Outcome {
  std::vector<float> fused, plain;
};

Outcome hidden(DType type, int64_t dim, int64_t ffn_dim) {
  OpBench bench(metal_device());
  const WeightRef gate = bench.weight("gate", type, dim, ffn_dim, 1);
  const WeightRef up = bench.weight("up", type, dim, ffn_dim, 2);
  const Operand x = bench.values(dim, 1, Source(uint32_t(dim + ffn_dim)).normals(dim));
  const Operand g = bench.result(ffn_dim, 1), u = bench.result(ffn_dim, 1), h = bench.result(ffn_dim, 1);
  const Operand both = bench.result(2 * ffn_dim, 1);
  bench.add(MatMul{gate, {}}, {x}, g);
  bench.add(MatMul{up, {}}, {x}, u);
  bench.add(SwiGlu{}, {g, u}, h);
  bench.add(FusedFfn{gate, up}, {x}, both);
  bench.run();
  std::vector<float> fused = bench.read(both);
  fused.resize(size_t(ffn_dim));
  return {fused, bench.read(h)};
}

}  // namespace

TEST_CASE("the fused feed-forward start has the bits of its expansion, for every weight type") {
  for (int type = 0; type < int(DType::i32); ++type) {
    CAPTURE(info(DType(type)).name);
    for (const int64_t ffn_dim : {1, 33, 70}) {
      CAPTURE(ffn_dim);
      const Outcome outcome = hidden(DType(type), 256, ffn_dim);
      CHECK(same_bits(outcome.fused, outcome.plain));
    }
  }
}

TEST_CASE("metal_fused_ffn_refuses_nt_other_than_one") {
  const WeightRef nowhere{"nowhere", DType::q8_0, 64, 64};
  const auto answer_for = [&](int64_t tokens) {
    OpBench bench(metal_device());
    const Operand x = bench.values(64, tokens, Source(1).normals(64 * tokens));
    bench.add(FusedFfn{nowhere, nowhere}, {x}, bench.result(128, tokens), "blk.3.ffn");
    return refused([&] { bench.encode(); });
  };
  const Refused two = answer_for(2);
  CHECK(two.code == int(ErrorCode::unsupported));
  CHECK(two.message.find("blk.3.ffn") != std::string::npos);
  CHECK(two.message.find("2 tokens") != std::string::npos);
  CHECK(two.message.find("nowhere") == std::string::npos);
  CHECK(answer_for(1).message.find("nowhere") != std::string::npos);  // now the weight is looked for
}
