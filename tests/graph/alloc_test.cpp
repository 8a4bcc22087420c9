#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "base/error.h"
#include "captures.h"
#include "graph/allocator.h"
#include "graph/memory_plan.h"
#include "graph/tiny_model.h"

using namespace minfer;
using namespace minfer::test;

namespace {

constexpr size_t mib = size_t(1) << 20;

/// A chain of random ops over earlier values of two widths: aliases, long lives and several readers all
/// occur.
Graph random_graph(uint32_t seed) {
  std::mt19937 rng(seed);
  const auto below = [&](size_t n) { return size_t(rng() % n); };
  GraphBuilder b(8);
  const NodeId ids = b.input(InputKind::token_ids, 3);
  const NodeId positions = b.input(InputKind::positions, 3);
  std::vector<NodeId> values[2];
  for (int w = 0; w < 2; ++w) {
    const int64_t width = w ? 64 : 32;
    values[w].push_back(
        b.add("table", GetRows{WeightRef{"table" + std::to_string(width), DType::f32, width, 8}}, {ids}));
  }
  const size_t nodes = 5 + below(40);
  for (size_t i = 0; i < nodes; ++i) {
    const size_t w = below(2);
    const int64_t width = w ? 64 : 32;
    // Recent values are likelier, so that many have one reader and can be overwritten.
    const auto pick = [&](size_t of) {
      const size_t back = std::min(values[of].size(), 1 + below(4));
      return values[of][values[of].size() - back];
    };
    const std::string tag = std::to_string(i);
    const NodeId x = pick(w);
    switch (below(7)) {
      case 0:
        values[w].push_back(b.add("add" + tag, Add{}, {x, pick(w)}));
        break;
      case 1:
      case 2:
        values[w].push_back(b.add("silu" + tag, Silu{}, {x}));
        break;
      case 3:
        values[w].push_back(b.add("rope" + tag, Rope{{}, 8, width / 8}, {x, positions}));
        break;
      case 4:
        values[w].push_back(
            b.add("norm" + tag, RmsNorm{{"gain" + std::to_string(width), DType::f32, width, 1}, 1e-5f}, {x}));
        break;
      case 5: {
        const int64_t other = w ? 32 : 64;
        const WeightRef weight{"map" + std::to_string(width), DType::f32, width, other};
        values[1 - w].push_back(b.add("matmul" + tag, MatMul{weight, {}}, {x}));
        break;
      }
      default:
        values[w].push_back(b.add("scale" + tag, Scale{0.5f}, {x}));
    }
  }
  b.output(values[0].back());
  b.output(values[1].back());
  if (values[0].size() > 2) b.output(values[0][1]);
  return b.build();
}

struct Result {
  std::vector<std::vector<float>> outputs;
  size_t pooled;
};

Result run_random(uint32_t seed, bool reuse) {
  TestBackend alpha("alpha"), beta("beta");
  alpha.accepts = [seed](const Node& node) {
    return seed % 3 == 0 || (uint32_t(node.id) * 2654435761u ^ seed) % 3 != 0;
  };
  TinyModel weights;
  const Graph graph = random_graph(seed);
  for (TestBackend* backend : {&alpha, &beta}) weights.add_weights(graph, *backend);
  PipelineOptions options;
  options.reuse_buffers = reuse;
  const auto pipeline = Pipeline::create(
      {&alpha, &beta}, [&](const GraphParams&) { return random_graph(seed); }, options);
  Executable& executable = pipeline->prepare(decode_params(8));
  Result result;
  executable.set_input(InputKind::token_ids, std::vector<int32_t>{1, 6, 3});
  executable.set_input(InputKind::positions, std::vector<int32_t>{0, 1, 2});
  for (int again = 0; again < 2; ++again) {  // the second run reads the inputs that the first was given
    executable.run();
    for (size_t i = 0; i < executable.graph().outputs.size(); ++i) {
      const Node& node = executable.graph().nodes[size_t(executable.graph().outputs[i])];
      result.outputs.emplace_back(size_t(node.desc.elements()));
      executable.read_output(i, result.outputs.back());
    }
  }
  result.pooled = pipeline->pooled_bytes();
  return result;
}

Graph assigned_tiny(const TinyModel& model, const GraphParams& params) {
  Graph graph = model.build(params);
  for (Node& node : graph.nodes) node.backend = 0;
  return graph;
}

}  // namespace

TEST_CASE("size classes: powers of two up to 16 KiB, then steps of 16 KiB") {
  CHECK(size_class(1) == 1);
  CHECK(size_class(5) == 8);
  CHECK(size_class(4097) == 8192);
  CHECK(size_class(16384) == 16384);
  CHECK(size_class(16385) == 32768);
  CHECK(size_class(40000) == 49152);
}

TEST_CASE("aliasing never shares live buffers: random graphs against one buffer a value") {
  size_t smaller = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Result shared = run_random(seed, true), own = run_random(seed, false);
    REQUIRE(shared.outputs == own.outputs);  // the device's NaN fills compare unequal
    for (const float x : shared.outputs[0]) REQUIRE(std::isfinite(x));
    REQUIRE(shared.pooled <= own.pooled);
    smaller += shared.pooled < own.pooled;
  }
  CHECK(smaller > 250);
}

TEST_CASE("captures do not depend on which values share memory: random graphs against one buffer a value") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const Captures shared = captured([&] { run_random(seed, true); });
    const Captures own = captured([&] { run_random(seed, false); });
    CHECK(shared.size() >= 14);  // two runs
    REQUIRE(shared == own);
  }
}

TEST_CASE("in place only for a sole reader on the same backend, never over an output or input") {
  const auto plan_of = [](bool second_reader, bool output, bool other_backend) {
    GraphBuilder b(8);
    const NodeId ids = b.input(InputKind::token_ids, 1);
    const NodeId x = b.add("x", GetRows{WeightRef{"t", DType::f32, 8, 4}}, {ids});
    const NodeId y = b.add("y", Silu{}, {x});
    const NodeId z = b.add("z", Scale{2.0f}, {second_reader ? x : y});
    b.output(b.add("sum", Add{}, {y, z}));
    if (output) b.output(x);
    Graph graph = b.build();
    for (Node& node : graph.nodes) node.backend = 0;
    if (other_backend) graph.nodes[size_t(x)].backend = 1;
    std::vector<Split> splits = cut_splits(graph);
    const MemoryPlan plan = plan_memory(graph, splits);
    CHECK(find_memory_fault(graph, plan).empty());
    return plan.slot_of[size_t(y)] == plan.slot_of[size_t(x)];
  };
  CHECK(plan_of(false, false, false));
  CHECK_FALSE(plan_of(true, false, false));
  CHECK_FALSE(plan_of(false, true, false));
  CHECK_FALSE(plan_of(false, false, true));
}

TEST_CASE("the memory check finds a shared live buffer and a node on the wrong backend") {
  const TinyModel model;
  const Graph graph = assigned_tiny(model, decode_params(16));
  std::vector<Split> splits = cut_splits(graph);
  const MemoryPlan good = plan_memory(graph, splits);
  REQUIRE(find_memory_fault(graph, good).empty());

  MemoryPlan shared = good;
  shared.slots[0].bytes = size_class(4096);
  shared.slot_of[3] = shared.slot_of[0];  // the embedding over the token ids
  CHECK(find_memory_fault(graph, shared) ==
        "nodes 0 (token_ids) and 3 (embedding) are live together in one buffer");
  MemoryPlan misplaced = good;
  misplaced.slots[size_t(misplaced.slot_of[3])].backend = 1;
  CHECK(find_memory_fault(graph, misplaced).find("runs on backend 0, its buffer lives on backend 1") !=
        std::string::npos);
}

TEST_CASE("dead nodes and KV nodes have no buffer of the pool") {
  TinyModel model;
  Rig rig(model);
  const Graph& graph = rig.pipeline().prepare(decode_params(16)).graph();
  std::vector<Split> splits = cut_splits(graph);
  const MemoryPlan plan = plan_memory(graph, splits);
  int dead = 0;
  for (const Node& node : graph.nodes) {
    const bool none = node.dead || op_name(node.op) == "kv_load";
    CHECK((plan.slot_of[size_t(node.id)] == no_slot) == none);
    dead += node.dead;
  }
  // A layer: two of three matmuls, two ropes, the store; gate, up and silu.
  CHECK(dead == 3 * 8);
  CHECK(splits.size() == 1);
  for (NodeId id : splits[0].nodes) CHECK_FALSE(graph.nodes[size_t(id)].dead);
}

TEST_CASE("the budget gate refuses with all four numbers") {
  Rig rig(TinyModel{});
  TestBackend& alpha = *rig.backends[0];
  alpha.answer = {MemoryAnswer::State::reported, 8 * mib, {}};
  alpha.claimed_weight_bytes = 6 * mib - alpha.weight_bytes();  // three quarters of 8: nothing is left
  GraphParams params = decode_params(16);
  params.context.gpu = true, params.context.gpu_layers = 3;
  CHECK_THROWS_WITH_AS(
      rig.pipeline().prepare(params),
      doctest::Contains("weights 6.00 MiB + pooled 0.00 MiB + request 0.00 MiB, expected at most the "
                        "budget of 6.00 MiB"),
      Error);
  alpha.claimed_weight_bytes = 0;
  CHECK_NOTHROW(rig.pipeline().prepare(params));
  // A long context: 16 values a row, 4 bytes each; the second megabyte-sized region no longer fits.
  Rig longer(TinyModel{});
  TestBackend& small = *longer.backends[0];
  small.answer = {MemoryAnswer::State::reported, 8 * mib, {}};
  params.context.n_ctx = 65536;
  CHECK_THROWS_WITH_AS(longer.pipeline().prepare(params),
                       doctest::Contains("pooled 4.00 MiB + request 4.00 MiB"), Error);
  CHECK(longer.pipeline().pooled_bytes() == 0);
}

TEST_CASE("budgets: a measured zero refuses, a failed query and no device do not, MINFER_GPU_MEM decides") {
  TestBackend device("alpha");
  CHECK_NOTHROW(Budget(device).check(device, 0, 1000 * mib));
  device.answer = {MemoryAnswer::State::failed, 0, "no answer"};
  CHECK_NOTHROW(Budget(device).check(device, 0, 1000 * mib));
  device.answer = {MemoryAnswer::State::reported, 0, {}};
  CHECK_THROWS_AS(Budget(device).check(device, 0, 1), Error);
  device.answer = {MemoryAnswer::State::reported, 4 * mib, {}};
  CHECK_NOTHROW(Budget(device).check(device, mib, 2 * mib));
  CHECK_THROWS_AS(Budget(device).check(device, mib, 2 * mib + 1), Error);
  {
    const Environment set("MINFER_GPU_MEM", "10");
    CHECK_NOTHROW(Budget(device).check(device, 0, 10 * mib));
    CHECK_THROWS_AS(Budget(device).check(device, 0, 10 * mib + 1), Error);
  }
  const Environment wrong("MINFER_GPU_MEM", "10G");
  CHECK_THROWS_WITH_AS(Budget{device}, "MINFER_GPU_MEM=10G: expected whole MiB", Error);
}

TEST_CASE("no value takes an input's buffer, even one of its size after its last reader") {
  GraphBuilder b(8);
  const NodeId ids = b.input(InputKind::token_ids, 1);
  NodeId x = b.add("x", GetRows{WeightRef{"t", DType::f32, 1, 4}}, {ids});  // four bytes, like the id
  for (int i = 0; i < 3; ++i) x = b.add("scaled", Scale{2.0f}, {x});
  b.output(x);
  Graph graph = b.build();
  for (Node& node : graph.nodes) node.backend = 0;
  std::vector<Split> splits = cut_splits(graph);
  const MemoryPlan plan = plan_memory(graph, splits);
  for (NodeId id = ids + 1; id <= x; ++id) CHECK(plan.slot_of[size_t(id)] != plan.slot_of[size_t(ids)]);
}
