#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "backends/metal/program.h"
#include "base/error.h"
#include "base/fp16.h"
#include "graph/kv_format.h"
#include "metal/metal_device.h"
#include "quant/quant.h"

/// The fused decode arms against the chain of ops that they stand for, on the same device.
namespace minfer::test {
namespace {

constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};
constexpr int64_t dim = 256, n_ctx = 9;
constexpr int32_t cell = 7;

struct Layer {
  int64_t n_heads, n_kv_heads, head_dim;
  DType q_type = DType::q8_0, v_type = DType::q8_0;
  RopeStyle style = RopeStyle::split_half;
  bool factors = false;
  std::string biases = "";  ///< of which of q, k and v
  bool norms = false;
  int32_t position = 5;
  int64_t q_dim() const { return n_heads * head_dim; }
  int64_t kv_dim() const { return n_kv_heads * head_dim; }
};

/// Everything that a run leaves.
struct Outcome {
  std::vector<float> q, k, v;
  std::vector<std::byte> k_region, v_region;
};

/// A layer with its weights on one device.
struct Scene {
  const Layer& layer;
  KvFormat format;
  OpBench bench{metal_device()};
  FusedQkv fused;
  WeightRef q_norm, k_norm;
  Operand x, positions, cells;

  Scene(const Layer& l, KvFormat f) : layer(l), format(f) {
    bench.regions(format, layer.kv_dim(), n_ctx);
    fused = {.layer = 0,
             .q = matmul("q", layer.q_type, layer.q_dim(), 1),
             .k = matmul("k", layer.q_type, layer.kv_dim(), 2),
             .v = matmul("v", layer.v_type, layer.kv_dim(), 3),
             .rope = {layer.style, 10000.0f, 1.0f, {}},
             .n_heads = layer.n_heads,
             .n_kv_heads = layer.n_kv_heads,
             .head_dim = layer.head_dim,
             .format = format};
    if (layer.factors) {
      std::vector<float> factors = Source(9).normals(layer.head_dim / 2);
      for (float& factor : factors) factor = 1.0f + factor * factor;
      fused.rope.factors = bench.vector("factors", factors);
    }
    q_norm = bench.vector("q_norm", Source(4).normals(layer.head_dim));
    k_norm = bench.vector("k_norm", Source(5).normals(layer.head_dim));
    x = bench.values(dim, 1, Source(7).normals(dim));
    positions = bench.indices({layer.position});
    cells = bench.indices({cell});
  }

  MatMul matmul(const std::string& name, DType type, int64_t rows, uint32_t seed) {
    MatMul m{bench.weight(name, type, dim, rows, seed), {}};
    if (layer.biases.find(name) != std::string::npos) {
      m.bias = bench.vector(name + ".bias", Source(seed + 10).normals(rows));
    }
    return m;
  }

  Outcome outcome(std::vector<float> q, std::vector<float> k, std::vector<float> v) {
    return {std::move(q), std::move(k), std::move(v), bench.region_bytes(true), bench.region_bytes(false)};
  }

  Outcome run_chain() {
    const Operand q = bench.result(layer.q_dim(), 1), k = bench.result(layer.kv_dim(), 1),
                  v = bench.result(layer.kv_dim(), 1);
    bench.add(fused.q, {x}, q);
    bench.add(fused.k, {x}, k);
    bench.add(fused.v, {x}, v);
    if (layer.norms) {
      bench.add(QkNorm{q_norm, layer.head_dim, layer.n_heads, 1e-6f}, {q}, q);
      bench.add(QkNorm{k_norm, layer.head_dim, layer.n_kv_heads, 1e-6f}, {k}, k);
    }
    bench.add(Rope{fused.rope, layer.head_dim, layer.n_heads}, {q, positions}, q);
    bench.add(Rope{fused.rope, layer.head_dim, layer.n_kv_heads}, {k, positions}, k);
    bench.add(KvStore{0, layer.kv_dim(), format}, {k, v, cells}, bench.region(layer.kv_dim()));
    bench.run();
    return outcome(bench.read(q), bench.read(k), bench.read(v));
  }

  Outcome run_fused() {
    const Operand y = bench.result(layer.q_dim() + 2 * layer.kv_dim(), 1);
    if (layer.norms) {
      bench.add(FusedQkvNorm{fused, q_norm, k_norm, 1e-6f}, {x, positions, cells}, y);
    } else {
      bench.add(fused, {x, positions, cells}, y);
    }
    bench.run();
    const std::vector<float> all = bench.read(y);
    const auto k = all.begin() + layer.q_dim(), v = k + layer.kv_dim();
    return outcome({all.begin(), k}, {k, v}, {v, all.end()});
  }
};

std::vector<std::byte> stored(KvFormat format, const std::vector<float>& x) {
  std::vector<std::byte> row(kv_row_bytes(format, int64_t(x.size())));
  if (format == KvFormat::f32) std::memcpy(row.data(), x.data(), row.size());
  if (format == KvFormat::q8_0) quantise_row_q8_0(x.data(), row.data(), int64_t(x.size()));
  for (size_t i = 0; format == KvFormat::f16 && i < x.size(); ++i) {
    const uint16_t half = f32_to_f16(x[i]);
    std::memcpy(row.data() + 2 * i, &half, sizeof half);
  }
  return row;
}

/// A region whose cell `cell` alone is written, with `row`.
std::vector<std::byte> region_with(const std::vector<std::byte>& row) {
  std::vector<std::byte> region(row.size() * n_ctx);
  std::copy(row.begin(), row.end(), region.begin() + std::ptrdiff_t(cell * row.size()));
  return region;
}

void check_layer(const Layer& layer) {
  for (const KvFormat format : formats) {
    if (format == KvFormat::q8_0 && layer.kv_dim() % 32 != 0) continue;
    CAPTURE(name(format));
    CAPTURE(layer.head_dim);
    CAPTURE(layer.n_kv_heads);
    CAPTURE(layer.biases);
    const Outcome right = Scene(layer, format).run_chain(), found = Scene(layer, format).run_fused();
    CHECK(same_bits(found.q, right.q));
    CHECK(same_bits(found.k, right.k));
    CHECK(same_bits(found.v, right.v));
    CHECK(found.k_region == right.k_region);
    CHECK(found.v_region == right.v_region);
    // What is stored is what the output says, as the host's own converters write it, and nothing else is.
    CHECK(found.k_region == region_with(stored(format, found.k)));
    CHECK(found.v_region == region_with(stored(format, found.v)));
  }
}

TEST_CASE("the fused q, k and v arm leaves the bits of the ops that it stands for") {
  check_layer({.n_heads = 6, .n_kv_heads = 2, .head_dim = 64, .biases = "qkv"});
  check_layer({.n_heads = 4, .n_kv_heads = 2, .head_dim = 64, .position = 32767});
  check_layer(
      {.n_heads = 3, .n_kv_heads = 1, .head_dim = 128, .style = RopeStyle::interleaved, .factors = true});
  check_layer({.n_heads = 2, .n_kv_heads = 1, .head_dim = 256, .biases = "qv"});
  // Packed blocks that two and more heads share, and groups of heads that q does not fill.
  check_layer({.n_heads = 6, .n_kv_heads = 2, .head_dim = 80, .biases = "qkv"});
  check_layer(
      {.n_heads = 4, .n_kv_heads = 4, .head_dim = 40, .style = RopeStyle::interleaved, .biases = "k"});
  check_layer({.n_heads = 8, .n_kv_heads = 8, .head_dim = 36});
  check_layer({.n_heads = 10, .n_kv_heads = 2, .head_dim = 48, .biases = "qkv"});
  check_layer({.n_heads = 5, .n_kv_heads = 1, .head_dim = 20});
}

TEST_CASE("so does the arm with norms") {
  check_layer({.n_heads = 4, .n_kv_heads = 2, .head_dim = 128, .norms = true});
  check_layer(
      {.n_heads = 3, .n_kv_heads = 1, .head_dim = 64, .factors = true, .norms = true, .position = 4095});
  check_layer(
      {.n_heads = 6, .n_kv_heads = 2, .head_dim = 80, .style = RopeStyle::interleaved, .norms = true});
  check_layer({.n_heads = 2, .n_kv_heads = 1, .head_dim = 256, .norms = true});
  check_layer({.n_heads = 4, .n_kv_heads = 4, .head_dim = 40, .norms = true});
}

TEST_CASE("the fused arms take every weight type, and types that differ") {
  for (const DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k,
                           DType::q6_k, DType::f16, DType::bf16, DType::f32}) {
    if (checked && type != DType::q4_k && type != DType::f16) continue;
    CAPTURE(info(type).name);
    check_layer(
        {.n_heads = 2, .n_kv_heads = 1, .head_dim = 64, .q_type = type, .v_type = type, .biases = "qkv"});
    check_layer({.n_heads = 2, .n_kv_heads = 1, .head_dim = 64, .q_type = type, .norms = true});
  }
}

TEST_CASE(
    "the fused arms write where cells say, not where positions do, and read the value's leading columns") {
  const Layer layer{.n_heads = 2, .n_kv_heads = 1, .head_dim = 64, .position = 3};
  Scene scene(layer, KvFormat::f32);
  const Outcome found = scene.run_fused();
  CHECK(found.k_region == region_with(stored(KvFormat::f32, found.k)));
  // The same input at the front of a wider value.
  std::vector<float> wide = Source(7).normals(dim);
  wide.resize(2 * dim, 1e30f);
  Scene other(layer, KvFormat::f32);
  other.x = other.bench.values(2 * dim, 1, wide);
  CHECK(same_bits(other.run_fused().q, found.q));
}

TEST_CASE("a fused arm is two dispatches: its products, and what follows them") {
  const Layer plain{.n_heads = 2, .n_kv_heads = 1, .head_dim = 64, .biases = "qkv"};
  const Layer normed{.n_heads = 2, .n_kv_heads = 1, .head_dim = 64, .norms = true};
  for (const Layer* layer : {&plain, &normed}) {
    for (const KvFormat format : formats) {
      Scene scene(*layer, format);
      scene.run_fused();
      const auto* program = dynamic_cast<const metal::MetalProgram*>(scene.bench.program());
      REQUIRE(program != nullptr);
      CHECK(program->dispatches.size() == 2);
    }
  }
}

/// An arm with `tokens` tokens at cell `at`; weights that nobody registered if `nowhere`.
Refused refusal_of(bool norms, int64_t tokens, int32_t at, bool nowhere, bool& untouched) {
  OpBench bench(metal_device());
  bench.regions(KvFormat::f16, 64, 8);
  const auto matmul = [&](const char* name) {
    if (nowhere) return MatMul{{"nowhere", DType::q8_0, 64, 64}, {}};
    return MatMul{bench.weight(name, DType::q8_0, 64, 64, 1), {}};
  };
  const FusedQkv qkv{0, matmul("q"), matmul("k"), matmul("v"), {}, 2, 2, 32, KvFormat::f16};
  const WeightRef gain = bench.vector("gain", std::vector<float>(32, 1.0f));
  const Operand x = bench.values(64, tokens, Source(1).normals(64 * tokens));
  const std::vector<int32_t> places(static_cast<size_t>(tokens), at);
  const std::vector<Operand> sources{x, bench.indices(std::vector<int32_t>(places.size(), 3)),
                                     bench.indices(places)};
  const Operand y = bench.result(192, tokens);
  if (norms) {
    bench.add(FusedQkvNorm{qkv, gain, gain, 1e-6f}, sources, y, "arm");
  } else {
    bench.add(qkv, sources, y, "arm");
  }
  const Refused r = refused([&] { bench.run(); });
  const std::vector<std::byte> zeros(8 * kv_row_bytes(KvFormat::f16, 64));
  untouched = bench.region_bytes(true) == zeros && bench.region_bytes(false) == zeros &&
              bench.read(y) == std::vector<float>(size_t(192 * tokens));
  return r;
}

void check_one_token(bool norms) {
  bool untouched = false;
  const Refused two = refusal_of(norms, 2, 1, true, untouched);
  CHECK(two.code == int(ErrorCode::unsupported));
  CHECK(two.message.find("2 tokens") != std::string::npos);
  const Refused one = refusal_of(norms, 1, 1, true, untouched);  // the control: now the weight is looked for
  CHECK(one.message.find("nowhere") != std::string::npos);
  CHECK(!refusal_of(norms, 1, 1, false, untouched).thrown);
}

void check_arena(bool norms) {
  for (const int32_t wrong : {8, -1}) {
    bool untouched = false;
    const Refused r = refusal_of(norms, 1, wrong, false, untouched);
    CHECK(r.code == int(ErrorCode::bad_request));
    CHECK(r.message.find("arm: KV cell " + std::to_string(wrong)) != std::string::npos);
    CHECK(untouched);
  }
}

TEST_CASE("metal_fused_qkv_refuses_nt_other_than_one") { check_one_token(false); }
TEST_CASE("metal_fused_qkv_norm_refuses_nt_other_than_one") { check_one_token(true); }
TEST_CASE("metal_fused_qkv_refuses_a_cell_past_the_arena") { check_arena(false); }
TEST_CASE("metal_fused_qkv_norm_refuses_a_cell_past_the_arena") { check_arena(true); }

TEST_CASE("the epilogue alone has no kernel, and supports says so") {
  Node node;
  node.op = QkvBiasRopeStore{0, {}, {}, {}, {}, 2, 2, 32, KvFormat::f16};
  const Support answer = metal_device().make()->supports(node);
  CHECK(!answer.ok);
  CHECK(!answer.why.empty());
}

}  // namespace
}  // namespace minfer::test
