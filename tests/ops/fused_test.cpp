#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "base/fp16.h"
#include "graph/kv_format.h"
#include "ops/op_bench.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

constexpr int64_t dim = 256, n_heads = 6, n_kv_heads = 2, head_dim = 32, n_ctx = 9;
constexpr int64_t q_dim = n_heads * head_dim, kv_dim = n_kv_heads * head_dim;
constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};
const RopeParams rope{RopeStyle::split_half, 10000.0f, 1.0f, {}};

struct Outcome {
  std::vector<float> q;
  std::vector<std::byte> k_region, v_region;
  bool operator==(const Outcome& other) const {
    return same_bits(q, other.q) && k_region == other.k_region && v_region == other.v_region;
  }
};

struct Weights {
  MatMul q, k, v;
  WeightRef q_norm, k_norm;
};

Weights make_weights(OpBench& bench, bool biases, DType v_type) {
  const auto matmul = [&](const std::string& name, DType type, int64_t rows, uint32_t seed) {
    MatMul m{bench.weight(name, type, dim, rows, seed), {}};
    if (biases) m.bias = bench.vector(name + ".bias", Source(seed + 10).normals(rows));
    return m;
  };
  return {matmul("q", DType::q4_1, q_dim, 1), matmul("k", DType::q4_1, kv_dim, 2),
          matmul("v", v_type, kv_dim, 3), bench.vector("q_norm", Source(4).normals(head_dim)),
          bench.vector("k_norm", Source(5).normals(head_dim))};
}

/// One row as the format keeps it, from base/fp16.h and the plain quantiser.
void store_reference(KvFormat format, const float* x, std::byte* row, int64_t width) {
  if (format == KvFormat::f32) std::memcpy(row, x, size_t(width) * sizeof(float));
  if (format == KvFormat::q8_0) quantise_row_q8_0(x, row, width);
  if (format != KvFormat::f16) return;
  for (int64_t i = 0; i < width; ++i) {
    const uint16_t half = f32_to_f16(x[i]);
    std::memcpy(row + 2 * i, &half, sizeof half);
  }
}

Outcome outcome(OpBench& bench, const Operand& q) {
  std::vector<float> values = bench.read(q);
  values.resize(size_t(q_dim));
  return {values, bench.region_bytes(true), bench.region_bytes(false)};
}

/// The unfused chain: matmuls, norms of q and k if asked, rope, store.
Outcome unfused(const Device& device, KvFormat format, bool norms, DType v_type) {
  OpBench bench(device);
  const Weights w = make_weights(bench, !norms, v_type);
  bench.regions(format, kv_dim, n_ctx);
  const Operand x = bench.values(dim, 1, Source(7).normals(dim));
  const Operand positions = bench.indices({5}), cells = bench.indices({8});
  const Operand q = bench.result(q_dim, 1), k = bench.result(kv_dim, 1), v = bench.result(kv_dim, 1);
  bench.add(w.q, {x}, q);
  bench.add(w.k, {x}, k);
  bench.add(w.v, {x}, v);
  if (norms) {
    bench.add(QkNorm{w.q_norm, head_dim, n_heads, 1e-6f}, {q}, q);
    bench.add(QkNorm{w.k_norm, head_dim, n_kv_heads, 1e-6f}, {k}, k);
  }
  bench.add(Rope{rope, head_dim, n_heads}, {q, positions}, q);
  bench.add(Rope{rope, head_dim, n_kv_heads}, {k, positions}, k);
  bench.add(KvStore{0, kv_dim, format}, {k, v, cells}, bench.region(kv_dim));
  bench.run();
  return outcome(bench, q);
}

Outcome fused(const Device& device, KvFormat format, bool norms, DType v_type) {
  OpBench bench(device);
  const Weights w = make_weights(bench, !norms, v_type);
  bench.regions(format, kv_dim, n_ctx);
  const Operand x = bench.values(dim, 1, Source(7).normals(dim));
  const Operand y = bench.result(q_dim + 2 * kv_dim, 1);
  const FusedQkv qkv{0, w.q, w.k, w.v, rope, n_heads, n_kv_heads, head_dim, format};
  const std::vector<Operand> sources{x, bench.indices({5}), bench.indices({8})};
  if (norms) {
    bench.add(FusedQkvNorm{qkv, w.q_norm, w.k_norm, 1e-6f}, sources, y);
  } else {
    bench.add(qkv, sources, y);
  }
  bench.run();
  return outcome(bench, y);
}

TEST_CASE("fused q, k, v are their expansion bit for bit, region included") {
  for (const Device& device : devices()) {
    for (KvFormat format : formats) {
      for (DType v_type : {DType::q4_1, DType::q6_k, DType::f16}) {
        for (bool norms : {false, true}) {
          const Outcome right = unfused(device, format, norms, v_type);
          CHECK(fused(device, format, norms, v_type) == right);
          // Something was written, and only in cell 8.
          const size_t row = kv_row_bytes(format, kv_dim);
          const auto written = [](std::byte b) { return b != std::byte(0); };
          CHECK(std::any_of(right.k_region.begin() + std::ptrdiff_t(8 * row), right.k_region.end(), written));
          CHECK(std::none_of(right.k_region.begin(), right.k_region.begin() + std::ptrdiff_t(8 * row),
                             written));
        }
      }
    }
  }
}

TEST_CASE("bias, rope and store of ready q, k, v are the separate ops, for any number of tokens") {
  const QkvBiasRopeStore asked{0, {}, {}, {}, rope, n_heads, n_kv_heads, head_dim, KvFormat::f32};
  for (const Device& device : devices_that_run({asked})) {
    for (KvFormat format : formats) {
      for (int32_t tokens : {1, 4}) {
        const std::vector<float> q = Source(1).normals(q_dim * tokens),
                                 k = Source(2).normals(kv_dim * tokens),
                                 v = Source(3).normals(kv_dim * tokens);
        const std::vector<float> bias = Source(4).normals(q_dim);
        std::vector<int32_t> positions, cells;
        for (int32_t t = 0; t < tokens; ++t) {
          positions.push_back(40 + t);
          cells.push_back(8 - 2 * t);
        }
        const auto run = [&](bool fuse) {
          OpBench bench(device);
          bench.regions(format, kv_dim, n_ctx);
          const Operand in_q = bench.values(q_dim, tokens, q), in_k = bench.values(kv_dim, tokens, k),
                        in_v = bench.values(kv_dim, tokens, v);
          const Operand at = bench.indices(positions), to = bench.indices(cells);
          if (fuse) {
            QkvBiasRopeStore op{0,     bench.vector("b", bias), {}, {}, rope, n_heads, n_kv_heads, head_dim,
                                format};
            bench.add(op, {in_q, in_k, in_v, at, to}, in_q);
          } else {
            std::vector<float> biases;
            for (int32_t t = 0; t < tokens; ++t) biases.insert(biases.end(), bias.begin(), bias.end());
            bench.add(Add{}, {in_q, bench.values(q_dim, tokens, biases)}, in_q);
            bench.add(Rope{rope, head_dim, n_heads}, {in_q, at}, in_q);
            bench.add(Rope{rope, head_dim, n_kv_heads}, {in_k, at}, in_k);
            bench.add(KvStore{0, kv_dim, format}, {in_k, in_v, to}, bench.region(kv_dim));
          }
          bench.run();
          return Outcome{bench.read(in_q), bench.region_bytes(true), bench.region_bytes(false)};
        };
        CHECK(run(true) == run(false));
      }
    }
  }
}

TEST_CASE("a fused gate and up is its expansion, and the next matmul reads its leading half") {
  const int64_t ffn = 512;
  for (const Device& device : devices()) {
    OpBench bench(device);
    const WeightRef gate = bench.weight("gate", DType::q4_0, dim, ffn, 1);
    const WeightRef up = bench.weight("up", DType::q4_0, dim, ffn, 2);
    const WeightRef down = bench.weight("down", DType::q4_k, ffn, dim, 3);
    const Operand x = bench.values(dim, 1, Source(7).normals(dim));
    const Operand g = bench.result(ffn, 1), u = bench.result(ffn, 1), plain = bench.result(dim, 1);
    const Operand both = bench.result(2 * ffn, 1), after = bench.result(dim, 1);
    bench.add(MatMul{gate, {}}, {x}, g);
    bench.add(MatMul{up, {}}, {x}, u);
    bench.add(SwiGlu{}, {g, u}, g);
    bench.add(MatMul{down, {}}, {g}, plain);
    bench.add(FusedFfn{gate, up}, {x}, both);
    bench.add(MatMul{down, {}}, {both}, after);
    bench.run();
    std::vector<float> leading = bench.read(both);
    leading.resize(size_t(ffn));
    CHECK(same_bits(leading, bench.read(g)));
    CHECK(same_bits(bench.read(after), bench.read(plain)));
  }
}

TEST_CASE("a store writes the format's bytes in the named cells and nothing else") {
  for (const Device& device : devices()) {
    for (KvFormat format : formats) {
      for (int64_t width : {int64_t(96), int64_t(1024)}) {
        OpBench bench(device);
        bench.regions(format, width, 7);
        const std::vector<float> k = Source(1).normals(width * 2), v = Source(2).normals(width * 2);
        bench.add(KvStore{0, width, format},
                  {bench.values(width, 2, k), bench.values(width, 2, v), bench.indices({6, 2})},
                  bench.region(width));
        bench.run();
        const size_t row = kv_row_bytes(format, width);
        for (bool keys : {true, false}) {
          std::vector<std::byte> right(7 * row);
          store_reference(format, (keys ? k : v).data(), right.data() + 6 * row, width);
          store_reference(format, (keys ? k : v).data() + width, right.data() + 2 * row, width);
          CHECK(bench.region_bytes(keys) == right);
        }
      }
    }
  }
}

}  // namespace
}  // namespace minfer::test
