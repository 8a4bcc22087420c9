#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "captures.h"
#include "graph/capture.h"
#include "graph/memory_plan.h"
#include "graph/node_rules.h"
#include "graph/stages.h"
#include "graph/tiny_model.h"

using namespace minfer;
using namespace minfer::test;

namespace {

ContextParams context_of(int64_t n_ctx) {
  ContextParams context;
  context.n_ctx = n_ctx;
  return context;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

std::vector<std::byte> copy_of(TestBackend& backend, Buffer* buffer) {
  std::vector<std::byte> bytes(buffer->bytes());
  backend.copy_out(*buffer, 0, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("reuse_requires_equal_params") {
  Rig rig(TinyModel{});
  Executable& first = rig.pipeline().prepare(decode_params(16));
  const uint64_t uid = first.uid();
  CHECK(rig.pipeline().prepare(decode_params(16)).uid() == uid);
  CHECK(rig.backends[0]->encodes == 1);

  GraphParams other = prefill_params(16, 3);
  CHECK(rig.pipeline().prepare(other).uid() != uid);
  other.n_out = 1, other.weights_version = 2;
  std::set<uint64_t> uids = {uid, rig.pipeline().prepare(other).uid(),
                             rig.pipeline().prepare(prefill_params(16, 4)).uid()};
  CHECK(uids.size() == 3);
  // Going back and forth between known graphs builds nothing.
  const int encodes = rig.backends[0]->encodes;
  CHECK(rig.pipeline().prepare(decode_params(16)).uid() == uid);
  CHECK(rig.pipeline().prepare(prefill_params(16, 4)).uid() != uid);
  CHECK(rig.backends[0]->encodes == encodes);
}

TEST_CASE("fuse_flags_are_part_of_the_reuse_identity") {
  Rig rig(TinyModel{});
  GraphParams params = decode_params(16);
  std::set<uint64_t> uids = {rig.pipeline().prepare(params).uid()};
  CHECK(count_ops_of(rig.pipeline().prepare(params).graph(), "fused_qkv") == 3);
  params.context.fuse_qkv = false;
  uids.insert(rig.pipeline().prepare(params).uid());
  CHECK(count_ops_of(rig.pipeline().prepare(params).graph(), "fused_qkv") == 0);
  params.context.fuse_ffn = false;
  uids.insert(rig.pipeline().prepare(params).uid());
  CHECK(count_ops_of(rig.pipeline().prepare(params).graph(), "fused_ffn") == 0);
  params.context.disabled_passes = {"swiglu"};
  uids.insert(rig.pipeline().prepare(params).uid());
  CHECK(count_ops_of(rig.pipeline().prepare(params).graph(), "mul") == 3);
  CHECK(uids.size() == 4);
}

TEST_CASE("the least recently used graph goes, and a rebuild has a fresh uid") {
  PipelineOptions options;
  options.max_cached = 2;
  Rig rig(TinyModel{}, {"alpha"}, options);
  const uint64_t first = rig.pipeline().prepare(prefill_params(16, 2)).uid();
  const uint64_t second = rig.pipeline().prepare(prefill_params(16, 3)).uid();
  CHECK(rig.pipeline().prepare(prefill_params(16, 2)).uid() == first);
  const uint64_t third = rig.pipeline().prepare(prefill_params(16, 4)).uid();
  CHECK(rig.pipeline().prepare(prefill_params(16, 2)).uid() == first);
  const uint64_t again = rig.pipeline().prepare(prefill_params(16, 3)).uid();
  CHECK(std::set<uint64_t>{first, second, third, again}.size() == 4);
}

TEST_CASE("prompts of many lengths take no more memory than the graphs that are kept") {
  constexpr int64_t last = 500, step = 70;  // each length in size classes of its own
  const auto pooled = [](int64_t graphs) {
    Rig rig(TinyModel{});
    for (int64_t i = graphs - 1; i >= 0; --i) rig.pipeline().prepare(prefill_params(512, last - i * step));
    return rig.pipeline().pooled_bytes();
  };
  CHECK(pooled(3) < pooled(4));
  CHECK(pooled(7) == pooled(4));  // four are kept

  Rig rig(TinyModel{});
  const auto want = rig.forward(prefill_params(512, 5), 0);
  const auto next = rig.forward(decode_params(512), 5);
  for (int64_t tokens = 6; tokens < 20; ++tokens) rig.forward(prefill_params(512, tokens), 0);
  CHECK(rig.forward(prefill_params(512, 5), 0) == want);
  CHECK(rig.forward(decode_params(512), 5) == next);
}

TEST_CASE("allocator_survives_rebuild") {
  Rig rig(TinyModel{});
  rig.forward(prefill_params(16, 5), 0);
  TestBackend& alpha = *rig.backends[0];
  const KvRegions before = rig.pipeline().kv(1);
  REQUIRE(before.k);
  const auto k = copy_of(alpha, before.k), v = copy_of(alpha, before.v);
  CHECK(std::any_of(k.begin(), k.end(), [](std::byte b) { return b != std::byte{0}; }));
  const size_t pooled = rig.pipeline().pooled_bytes();

  rig.pipeline().prepare(prefill_params(16, 4));
  CHECK(rig.pipeline().kv(1).k == before.k);
  CHECK(copy_of(alpha, before.k) == k);
  CHECK(copy_of(alpha, before.v) == v);
  CHECK(rig.pipeline().pooled_bytes() >= pooled);
  CHECK(rig.pipeline().pooled_bytes() == alpha.allocated_bytes);
  CHECK(rig.pipeline().kv(7).k == nullptr);
}

TEST_CASE("KV regions of another length or format are refused, and the old ones stay") {
  Rig rig(TinyModel{});
  const auto want = rig.forward(prefill_params(16, 5), 0);
  CHECK_THROWS_WITH_AS(
      rig.pipeline().prepare(decode_params(32)),
      doctest::Contains("32 rows of 16 f32 on alpha, layer 0 has 16 rows of 16 f32 on alpha"), Error);
  GraphParams half = decode_params(16);
  half.context.kv_format = KvFormat::f16;
  CHECK_THROWS_AS(rig.pipeline().prepare(half), Error);
  CHECK(rig.forward(prefill_params(16, 5), 0) == want);
}

TEST_CASE("a graph executed twice gives the same bits") {
  for (const bool two : {false, true}) {
    Rig rig(TinyModel{}, two ? std::vector<std::string>{"alpha", "beta"} : std::vector<std::string>{"alpha"});
    if (two) rig.backends[0]->accepts = [](const Node& node) { return node.layer % 2 == 0; };
    const auto once = rig.forward(prefill_params(16, 5), 0);
    CHECK(all_finite(once));
    CHECK(rig.forward(prefill_params(16, 5), 0) == once);
  }
}

/// Two devices in turns, and where the last stage's text goes.
Rig alternating(const std::string& dump_dir) {
  PipelineOptions options;
  options.dump_dir = dump_dir;
  Rig rig(TinyModel{}, {"alpha", "beta"}, options);
  rig.backends[0]->accepts = [](const Node& node) { return node.layer % 2 == 0; };
  return rig;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("every value of a run can be captured, and nothing else changes") {
  const auto folder = std::filesystem::temp_directory_path() / ("minfer-plans-" + std::to_string(getpid()));
  Rig plain = alternating(folder / "plain"), armed = alternating(folder / "armed");
  const auto want = plain.forward(prefill_params(16, 5), 0);
  std::vector<float> got;
  const Captures values = captured([&] { got = armed.forward(prefill_params(16, 5), 0); });
  const Graph& graph = armed.pipeline().prepare(prefill_params(16, 5)).graph();
  CHECK(got == want);
  CHECK(text_of(folder / "armed" / "4_alloc.txt") == text_of(folder / "plain" / "4_alloc.txt"));
  CHECK(!text_of(folder / "plain" / "4_alloc.txt").empty());
  std::filesystem::remove_all(folder);

  const auto value = [&](NodeId id) {
    const Node& node = graph.nodes[size_t(id)];
    return values.at(fmt::format("graph1.run1.{:04}.{}", node.id, node.name));
  };
  size_t made = 0, bytes = 0;
  for (const Node& node : graph.nodes) {
    if (!is_captured(node)) continue;
    CHECK(value(node.id).size() == size_t(node.desc.elements()));
    ++made, bytes += node.desc.bytes();
  }
  CHECK(values.size() == made);
  CHECK(armed.pipeline().pooled_bytes() == plain.pipeline().pooled_bytes() + bytes);
  const std::vector<float> written = value(graph.outputs.front());
  CHECK(std::equal(want.begin(), want.end(), written.end() - ptrdiff_t(want.size())));

  // Each is what the next node read, though its buffer has held other values since: sums are those of their
  // sources, and a rotation in place has left its source as it was.
  size_t in_place = 0;
  for (const Node& node : graph.nodes) {
    if (node.dead) continue;
    if (std::holds_alternative<Add>(node.op)) {
      const auto sum = value(node.id), a = value(node.sources[0]), b = value(node.sources[1]);
      for (size_t i = 0; i < sum.size(); ++i) CHECK(sum[i] == a[i] + b[i]);
    } else if (std::holds_alternative<Rope>(node.op)) {
      ++in_place;
      CHECK(value(node.id) != value(node.sources[0]));
    }
  }
  CHECK(in_place > 0);
}

TEST_CASE("a run that is not captured has no room for captures") {
  Rig rig(TinyModel{});
  const Graph graph = rig.pipeline().prepare(prefill_params(16, 5)).graph();
  std::vector<Split> splits = cut_splits(graph);
  const MemoryPlan plan = plan_memory(graph, splits);
  CHECK(plan.staging.empty());
  CHECK(std::all_of(plan.capture_of.begin(), plan.capture_of.end(), [](int at) { return at == no_slot; }));
}

TEST_CASE("alternation equals a single backend, bitwise") {
  for (const bool norms : {false, true}) {
    TinyModel model;
    model.qk_norms = norms;
    Rig single(model);
    const auto want = single.generate(context_of(16));
    CHECK(all_finite(want));

    Rig layers(model, {"alpha", "beta"});
    layers.backends[0]->accepts = [](const Node& node) { return node.layer % 2 == 0; };
    CHECK(layers.generate(context_of(16)) == want);
    CHECK(layers.backends[0]->runs > 4);

    // Every other op on its own split, attention's regions excepted.
    Rig ops(model, {"alpha", "beta"});
    ops.backends[0]->accepts = [](const Node& node) {
      return std::holds_alternative<MatMul>(node.op) || std::holds_alternative<Silu>(node.op);
    };
    CHECK(ops.generate(context_of(16)) == want);
    CHECK(ops.backends[1]->ops_run.count("matmul") == 0);
    CHECK(ops.backends[0]->ops_run.count("attention") == 0);
    CHECK(ops.backends[0]->runs > 30);
  }
}

TEST_CASE("each pass, off or on, gives the same bits") {
  struct Shape {
    bool biases, norms;
    const char* arm;
  };
  for (const Shape shape : {Shape{false, false, "fused_qkv"}, Shape{true, false, "fused_qkv"},
                            Shape{false, true, "fused_qkv_norm"}}) {
    CAPTURE(shape.arm);
    TinyModel model;
    model.biases = shape.biases, model.qk_norms = shape.norms;
    ContextParams plain = context_of(16);
    for (const Pass& pass : all_passes()) plain.disabled_passes.insert(std::string(pass.name));
    Rig reference(model);
    const auto want = reference.generate(plain);
    CHECK(reference.backends[0]->ops_run.count("swiglu") == 0);
    CHECK(all_finite(want));
    for (const Pass& pass : all_passes()) {
      CAPTURE(pass.name);
      ContextParams one = plain, others = context_of(16);
      one.disabled_passes.erase(std::string(pass.name));
      others.disabled_passes = {std::string(pass.name)};
      Rig with(model), without(model);
      CHECK(with.generate(one) == want);
      CHECK(without.generate(others) == want);
      CHECK(without.backends[0]->ops_run.count(pass.name) == 0);
    }
    Rig all(model);
    CHECK(all.generate(context_of(16)) == want);
    CHECK(all.backends[0]->ops_run[shape.arm] == 9);  // three layers, three decoded tokens
    CHECK(all.backends[0]->ops_run["fused_ffn"] == 9);
    CHECK(all.backends[0]->ops_run["swiglu"] == 3);  // the prompt's layers
  }
}

TEST_CASE("a failing build keeps earlier graphs and KV") {
  Rig rig(TinyModel{});
  rig.pipeline();
  TestBackend& alpha = *rig.backends[0];
  alpha.allocations_until_failure = 9;  // inside the first graph's buffers, after its KV regions
  CHECK_THROWS_AS(rig.pipeline().prepare(decode_params(16)), Error);
  CHECK(rig.pipeline().pooled_bytes() == 0);
  CHECK(rig.pipeline().kv(0).k == nullptr);

  alpha.encodes_until_failure = 0;
  CHECK_THROWS_AS(rig.pipeline().prepare(decode_params(16)), Error);
  CHECK(rig.pipeline().kv(0).k == nullptr);  // so that another length may be tried
  const auto want = rig.forward(prefill_params(32, 5), 0);
  const auto next = rig.forward(decode_params(32), 5);

  const KvRegions kv = rig.pipeline().kv(0);
  const auto k = copy_of(alpha, kv.k);
  const size_t pooled = rig.pipeline().pooled_bytes();
  alpha.allocations_until_failure = 0;
  CHECK_THROWS_AS(rig.pipeline().prepare(prefill_params(32, 31)), Error);
  CHECK(rig.pipeline().pooled_bytes() == pooled);
  CHECK(copy_of(alpha, kv.k) == k);
  CHECK(rig.forward(decode_params(32), 5) == next);
  CHECK(rig.forward(prefill_params(32, 5), 0) == want);
}

TEST_CASE("a cell out of range is refused before anything runs") {
  Rig rig(TinyModel{}, {"alpha", "beta"});
  rig.backends[0]->accepts = [](const Node& node) { return node.layer % 2 == 0; };
  rig.forward(decode_params(16), 15);
  const int runs = rig.backends[0]->runs;
  CHECK_THROWS_WITH_AS(rig.forward(decode_params(16), 16),
                       "running the graph: cell 16 is out of range, expected 0 to 15", Error);
  CHECK(rig.backends[0]->runs == runs);
}

TEST_CASE("an unknown disabled pass is refused with the names there are") {
  Rig rig(TinyModel{});
  GraphParams params = decode_params(16);
  params.context.disabled_passes = {"swigl"};
  CHECK_THROWS_WITH_AS(rig.pipeline().prepare(params),
                       "disabling pass 'swigl': there is no such pass, expected one of swiglu, fused_qkv, "
                       "fused_qkv_norm, fused_ffn",
                       Error);
}

TEST_CASE("the structural check finds an extra node and a changed shape") {
  TinyModel model;
  const Graph graph = model.build(decode_params(16));
  CHECK(structural_difference(graph, model.build(decode_params(16))).empty());

  GraphBuilder a(16), b(16);
  for (GraphBuilder* builder : {&a, &b}) {
    const NodeId ids = builder->input(InputKind::token_ids, 1);
    builder->add("x", GetRows{WeightRef{"t", DType::f32, 8, 4}}, {ids});
  }
  b.add("extra", Silu{}, {1});
  const Graph plain = a.build();
  CHECK(structural_difference(plain, b.build()) == "2 nodes against 3");
  Graph wider = plain;
  wider.nodes[1].desc = desc_f32(9, 1);
  CHECK(structural_difference(plain, wider) == "node 1: shape f32 [8, 1] against f32 [9, 1]");

  PipelineOptions options;
  options.check_reuse = true;  // aborts if the second build differs
  Rig rig(model, {"alpha"}, options);
  CHECK(rig.pipeline().prepare(decode_params(16)).uid() == rig.pipeline().prepare(decode_params(16)).uid());
}
