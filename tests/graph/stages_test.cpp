#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "graph/node_rules.h"
#include "graph/stages.h"
#include "graph/tiny_model.h"

using namespace minfer;
using namespace minfer::test;

namespace {

struct Devices {
  TestBackend alpha{"alpha"}, beta{"beta"};
  std::vector<Backend*> both{&alpha, &beta};
};

Node* find(Graph& graph, std::string_view name) {
  for (Node& node : graph.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("assign takes the first backend that supports a node, and explains the others") {
  Devices devices;
  devices.alpha.accepts = [](const Node& node) { return !std::holds_alternative<RmsNorm>(node.op); };
  Graph graph = TinyModel{}.build(decode_params(16));
  const auto refusals = assign(graph, devices.both, {});
  CHECK(find(graph, "blk.0.attn_q")->backend == 0);
  CHECK(find(graph, "blk.0.attn_norm")->backend == 1);
  CHECK(refusals.size() == 7);  // two a layer, and the last
  const std::string text = explain(graph, devices.both, refusals);
  CHECK(count_of(text, "not alpha: alpha was told not to take rms_norm") == 7);
  CHECK(text.find("rms_norm on beta: 7\n") != std::string::npos);
  CHECK(text.find("matmul on alpha: 22\n") != std::string::npos);
}

TEST_CASE("inputs go where they are read first, and an explicit backend is kept") {
  Devices devices;
  devices.alpha.accepts = [](const Node& node) { return std::holds_alternative<Rope>(node.op); };
  Graph graph = TinyModel{}.build(decode_params(16));
  find(graph, "logits")->backend = 0;
  assign(graph, devices.both, {});
  CHECK(find(graph, "positions")->backend == 0);  // rope comes before attention
  CHECK(find(graph, "token_ids")->backend == 1);
  CHECK(find(graph, "logits")->backend == 0);
}

TEST_CASE("one layer's KV nodes share a backend") {
  Devices devices;
  devices.alpha.accepts = [](const Node& node) { return !std::holds_alternative<Attention>(node.op); };
  Graph graph = TinyModel{}.build(decode_params(16));
  assign(graph, devices.both, {});
  CHECK(find(graph, "blk.1.kv_store")->backend == 1);  // alpha has the store, but not its attention
  CHECK(find(graph, "blk.1.attn_k")->backend == 0);

  Graph parted = TinyModel{}.build(decode_params(16));
  find(parted, "blk.1.kv_store")->backend = 0;
  find(parted, "blk.1.attention")->backend = 1;
  devices.alpha.accepts = nullptr;
  CHECK_THROWS_WITH_AS(assign(parted, devices.both, {}),
                       doctest::Contains("(blk.1.kv_store, kv_store) is on alpha"), Error);
}

TEST_CASE("a node that nobody runs is refused with every reason") {
  Devices devices;
  GraphBuilder b(8);
  const NodeId ids = b.input(InputKind::token_ids, 1);
  const NodeId x = b.add("x", GetRows{WeightRef{"t", DType::f32, 8, 4}}, {ids});
  b.output(b.add("probabilities", Softmax{}, {x}));
  Graph graph = b.build();
  CHECK_THROWS_WITH_AS(
      assign(graph, devices.both, {}),
      "no device runs node 2 (probabilities, softmax):\n  alpha: probabilities: no loop for softmax\n"
      "  beta: probabilities: no loop for softmax",
      Error);
}

TEST_CASE(
    "blocks past the plan are not offered to a device; what is outside the blocks follows when all are "
    "there") {
  Devices devices;
  devices.alpha.answer = {MemoryAnswer::State::reported, size_t(1) << 30, {}};
  ContextParams context;
  const auto backend_of = [&](const char* name) {
    Graph graph = TinyModel{}.build(decode_params(16));
    assign(graph, devices.both, context);
    return find(graph, name)->backend;
  };
  CHECK(backend_of("blk.0.attn_q") == 1);  // no device takes part
  context.gpu = true, context.gpu_layers = 2;
  CHECK(backend_of("blk.1.attn_q") == 0);
  CHECK(backend_of("blk.2.attn_q") == 1);
  CHECK(backend_of("logits") == 1);
  context.gpu_layers = 3;
  CHECK(backend_of("blk.2.attn_q") == 0);
  CHECK(backend_of("logits") == 0);
  CHECK(backend_of("embedding") == 0);
}

TEST_CASE("the arms are fused for one token, one quantised type, all biases or none, and where supported") {
  Devices devices;
  const auto fused_ops = [&](TinyModel model, const GraphParams& params, auto change) {
    Graph graph = model.build(params);
    change(graph);
    assign(graph, devices.both, params.context);
    fuse(graph, params, devices.both);
    return std::tuple(count_ops_of(graph, "fused_qkv"), count_ops_of(graph, "fused_qkv_norm"),
                      count_ops_of(graph, "fused_ffn"), count_ops_of(graph, "swiglu"));
  };
  const auto nothing = [](Graph&) {};
  TinyModel plain, biased, normed, both, floats;
  biased.biases = true, normed.qk_norms = true, floats.type = DType::f32;
  both.biases = both.qk_norms = true;
  const GraphParams one = decode_params(16), five = prefill_params(16, 5);
  CHECK(fused_ops(plain, one, nothing) == std::tuple(3, 0, 3, 0));
  CHECK(fused_ops(biased, one, nothing) == std::tuple(3, 0, 3, 0));
  CHECK(fused_ops(normed, one, nothing) == std::tuple(0, 3, 3, 0));
  CHECK(fused_ops(both, one, nothing) == std::tuple(0, 0, 3, 0));
  CHECK(fused_ops(plain, five, nothing) == std::tuple(0, 0, 0, 3));
  CHECK(fused_ops(floats, one, nothing) == std::tuple(0, 0, 0, 3));
  // One bias of three missing; one weight of another type.
  CHECK(fused_ops(biased, one, [](Graph& g) {
          std::get<MatMul>(find(g, "blk.0.attn_k")->op).bias.reset();
        }) == std::tuple(2, 0, 3, 0));
  CHECK(fused_ops(plain, one, [](Graph& g) {
          std::get<MatMul>(find(g, "blk.1.ffn_up")->op).weight.type = DType::q4_0;
        }) == std::tuple(3, 0, 2, 1));
  // A second reader of a value that would vanish.
  CHECK(fused_ops(plain, one, [](Graph& g) { g.outputs.push_back(find(g, "blk.0.attn_q_rope")->id); }) ==
        std::tuple(2, 0, 3, 0));
  CHECK(fused_ops(plain, one, [](Graph& g) { g.outputs.push_back(find(g, "blk.0.ffn_hidden")->id); }) ==
        std::tuple(3, 0, 2, 1));
  devices.alpha.accepts = [](const Node& node) { return !std::holds_alternative<FusedQkv>(node.op); };
  CHECK(fused_ops(plain, one, nothing) == std::tuple(0, 0, 3, 0));
}

TEST_CASE("an attention that reads its store finds a load in its place") {
  Devices devices;
  const GraphParams params = decode_params(16);
  Graph graph = TinyModel{}.build(params);
  find(graph, "blk.0.attention")->sources[1] = find(graph, "blk.0.kv_store")->id;
  assign(graph, devices.both, {});
  fuse(graph, params, devices.both);
  CHECK(op_name(find(graph, "blk.0.kv_store")->op) == "kv_load");
  CHECK_FALSE(find(graph, "blk.0.kv_store")->dead);
  CHECK(find(graph, "blk.1.kv_store")->dead);
}

TEST_CASE("consumers of an arm see its leading columns") {
  Devices devices;
  const GraphParams params = decode_params(16);
  Graph graph = TinyModel{}.build(params);
  assign(graph, devices.both, {});
  fuse(graph, params, devices.both);
  const Node& attention = *find(graph, "blk.0.attention");
  const Node& qkv = graph.nodes[size_t(attention.sources[0])];
  CHECK(op_name(qkv.op) == "fused_qkv");
  CHECK(qkv.desc == desc_f32(32 + 2 * 16, 1));
  CHECK(visible_desc(qkv) == desc_f32(32, 1));
  const Node& ffn = graph.nodes[size_t(find(graph, "blk.0.ffn_down")->sources[0])];
  CHECK(ffn.desc == desc_f32(128, 1));
  CHECK(visible_desc(ffn) == desc_f32(64, 1));
}

TEST_CASE("verify names the first broken promise") {
  const Graph good = TinyModel{}.build(decode_params(16));
  REQUIRE(find_fault(good, Stage::build).empty());
  const auto fault = [&](auto damage) {
    Graph graph = good;
    damage(graph);
    return find_fault(graph, Stage::build);
  };
  CHECK(fault([](Graph& g) { g.nodes[4].id = 9; }) == "node 4 (blk.0.attn_norm): its id is 9, expected 4");
  CHECK(fault([](Graph& g) { g.nodes[4].sources[0] = 4; }) ==
        "node 4 (blk.0.attn_norm): source 4 does not stand before it");
  CHECK(fault([](Graph& g) { g.nodes[3].dead = true; }) == "node 4 (blk.0.attn_norm): source 3 is dead");
  CHECK(fault([](Graph& g) { g.nodes[4].desc = desc_f32(33, 1); }) ==
        "node 4 (blk.0.attn_norm): its shape is f32 [33, 1], inferred f32 [32, 1]");
  CHECK(fault([](Graph& g) { g.inputs.pop_back(); }) ==
        "node 2 (cells): inputs stand at the head, and nothing else does");
  CHECK(fault([](Graph& g) { find(g, "logits")->dead = true; }).find("is dead, and an input or output") !=
        std::string::npos);
  CHECK(fault([](Graph& g) {
          std::swap(find(g, "blk.0.kv_store")->op, find(g, "blk.1.kv_store")->op);
        }).find("has read them") != std::string::npos);
  CHECK(find_fault(good, Stage::assign, 1) == "node 0 (token_ids): its backend is -1, expected 0 to 0");
}

TEST_CASE("DOT: left to right, a record a node, coloured by backend, names escaped") {
  TestBackend cpu("cpu"), metal("metal:0");
  Backend* backends[] = {&cpu, &metal};
  GraphBuilder b(8);
  const NodeId ids = b.input(InputKind::token_ids, 1);
  const NodeId x = b.add("a \"quoted|name\"", GetRows{WeightRef{"t", DType::f32, 8, 4}}, {ids});
  const NodeId y = b.add("y", Silu{}, {x});
  b.output(b.add("z", Scale{2.0f}, {y}));
  Graph graph = b.build();
  graph.nodes[1].backend = 0, graph.nodes[2].backend = 1;
  const std::string dot = dump_dot(graph, backends);
  CHECK(dot.rfind("digraph minfer {\n  rankdir=LR;", 0) == 0);
  CHECK(dot.find("n0 [shape=doublecircle, label=\"INPUT token_ids\", fillcolor=white];") !=
        std::string::npos);
  CHECK(dot.find("label=\"{a\\ \\\"quoted\\|name\\\"|get_rows|f32\\ [8,\\ 1]}\", fillcolor=lightyellow]") !=
        std::string::npos);
  CHECK(dot.find("|silu|f32\\ [8,\\ 1]}\", fillcolor=lightblue]") != std::string::npos);
  CHECK(dot.find("label=\"OUTPUT z\"") != std::string::npos);
  CHECK(count_of(dot, " -> ") == 4);
  CHECK(count_of(dot, "{") - count_of(dot, "}") == 0);
  CHECK(dot.substr(dot.size() - 2) == "}\n");
}

TEST_CASE("dump_dir gets text and DOT of every stage") {
  const auto folder = std::filesystem::temp_directory_path() / "minfer-graph-dump-test";
  std::filesystem::remove_all(folder);
  PipelineOptions options;
  options.dump_dir = folder.string();
  Rig rig(TinyModel{}, {"alpha"}, options);
  rig.pipeline().prepare(decode_params(16));
  for (const char* stage : {"1_build", "2_assign", "3_fuse", "4_alloc"}) {
    for (const char* ending : {".txt", ".dot"})
      CHECK(std::filesystem::file_size(folder / (std::string(stage) + ending)) > 0);
  }
  std::stringstream text;
  text << std::ifstream(folder / "4_alloc.txt").rdbuf();
  CHECK(text.str().find("KV region of layer 2") != std::string::npos);
  CHECK(text.str().find(" dead") != std::string::npos);
  CHECK(text.str().find("buffer 0 of 4 bytes") != std::string::npos);
  std::filesystem::remove_all(folder);
}
