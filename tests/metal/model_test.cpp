#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "backends/registry.h"
#include "base/error.h"
#include "captures.h"
#include "engine/devices.h"
#include "environment.h"
#include "graph/pipeline.h"
#include "metal/metal_device.h"
#include "tolerance.h"
#include "worse.h"

using namespace minfer;
using namespace minfer::test;

namespace {

std::shared_ptr<const Model> model(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Model>> loaded;
  auto& entry = loaded[name];
  if (!entry) entry = Model::load(std::string(MINFER_TEST_DATA_DIR) + "/golden/" + name + ".gguf");
  return entry;
}

std::string metal_name() { return std::string(device_kinds().back().name); }

SessionOptions on(const std::string& device, const std::string& layers = "") {
  SessionOptions o;
  o.n_ctx = 128;
  o.kv_format = KvFormat::f32;
  o.threads = 2;
  o.device = device;
  o.gpu_layers = layers;
  return o;
}

const size_t some = checked ? 11 : 40;  ///< tokens of a prompt

std::vector<Token> prompt(size_t count) {
  std::vector<Token> tokens(count);
  for (size_t i = 0; i < count; ++i) tokens[i] = Token((i * 37 + 11) % 300);
  return tokens;
}

/// A session taken apart, so that graphs can be looked at.
class Engine {
 public:
  Engine(const std::string& name, const SessionOptions& options) : model_(model(name)) {
    context_.n_ctx = options.n_ctx;
    context_.disabled_passes = options.disabled_passes;
    devices_ = open_devices(*model_, options, context_);
    pipeline_ = Pipeline::create(devices_.in_order(),
                                 [this](const GraphParams& params) { return model_->build(params); }, {});
  }

  /// Logits of the last `rows` of tokens at positions from `first` on.
  std::vector<float> run(const std::vector<Token>& tokens, int64_t first, int64_t rows) {
    const int64_t count = int64_t(tokens.size());
    Executable& executable = prepare(count, rows);
    std::vector<int32_t> positions(tokens.size()), tail(static_cast<size_t>(rows));
    std::iota(positions.begin(), positions.end(), int32_t(first));
    std::iota(tail.begin(), tail.end(), int32_t(count - rows));
    executable.set_input(InputKind::token_ids, tokens);
    executable.set_input(InputKind::positions, positions);
    executable.set_input(InputKind::cells, positions);
    if (rows < count) executable.set_input(InputKind::tail_ids, tail);
    executable.run();
    std::vector<float> logits(size_t(rows * model_->hyperparams().vocab));
    executable.read_output(0, logits);
    return logits;
  }

  /// Live nodes other than inputs, by backend.
  std::map<std::string, int> placement(int64_t tokens, int64_t rows) {
    std::map<std::string, int> counts;
    for (const Node& node : prepare(tokens, rows).graph().nodes) {
      if (node.dead || std::holds_alternative<Input>(node.op)) continue;
      ++counts[std::string(devices_.in_order()[size_t(node.backend)]->name())];
    }
    return counts;
  }

  int count_op(std::string_view op, int64_t tokens) {
    int count = 0;
    for (const Node& node : prepare(tokens, 1).graph().nodes) count += !node.dead && op_name(node.op) == op;
    return count;
  }

  const Backend& device() const { return *devices_.device; }
  const Hyperparams& hyperparams() const { return model_->hyperparams(); }

 private:
  Executable& prepare(int64_t tokens, int64_t rows) {
    const auto phase = tokens == 1 ? GraphParams::Phase::decode : GraphParams::Phase::prefill;
    return pipeline_->prepare({tokens, rows, phase, context_});
  }

  std::shared_ptr<const Model> model_;
  ContextParams context_;
  Devices devices_;
  std::unique_ptr<Pipeline> pipeline_;
};

std::vector<float> copy(std::span<const float> row) { return {row.begin(), row.end()}; }

/// Of the largest logit.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double(a[i])));
    worst = worse(worst, std::abs(double(a[i]) - double(b[i])));
  }
  return worst / most;
}

/// Prompt, then one token: every kind of graph a session makes.
std::vector<float> prompt_and_step(Engine& engine, const std::vector<Token>& tokens) {
  std::vector<float> all = engine.run(tokens, 0, int64_t(tokens.size()));
  const std::vector<float> step = engine.run({7}, int64_t(tokens.size()), 1);
  all.insert(all.end(), step.begin(), step.end());
  return all;
}

/// Freely decoded on both devices: equal up to the first step whose two best logits are so close that either
/// may win. Returns how many steps were compared.
int check_greedy(Engine& cpu, Engine& metal, const std::vector<Token>& tokens, int steps) {
  std::vector<float> expected = cpu.run(tokens, 0, 1), found = metal.run(tokens, 0, 1);
  for (int step = 0; step < steps; ++step) {
    std::vector<float> sorted = expected;
    std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
    const double most =
        std::max(std::abs(sorted.front()), std::abs(*std::min_element(sorted.begin(), sorted.end())));
    if (sorted[0] - sorted[1] <= 2 * tol::metal_logits * most) return step;
    const auto likeliest = [](const std::vector<float>& row) {
      return Token(std::max_element(row.begin(), row.end()) - row.begin());
    };
    CHECK_MESSAGE(likeliest(found) == likeliest(expected), "step ", step);
    const std::vector<Token> next{likeliest(expected)};
    expected = cpu.run(next, int64_t(tokens.size()) + step, 1);
    found = metal.run(next, int64_t(tokens.size()) + step, 1);
  }
  return steps;
}

const int greedy_steps = checked ? 1 : 8;

/// A file of 16-bit weights, on the CPU and on the device: every product there, and as many bytes as it says.
void check_sixteen_bits(const std::string& name, size_t bytes) {
  CAPTURE(name);
  Engine cpu(name, on("cpu")), metal(name, on(metal_name()));
  const int64_t products = 7 * metal.hyperparams().n_layers + 1;  // q, k, v, output, gate, up, down; the head
  for (const int64_t tokens : {int64_t(1), int64_t(some)}) {
    CHECK(metal.count_op("matmul", tokens) == products);
    CHECK(metal.placement(tokens, 1).count("cpu") == 0);
  }
  CHECK(metal.count_op("get_rows", 1) == 1);
  CHECK(metal.device().weight_bytes() == bytes);
  CHECK(cpu.placement(1, 1).count(metal_name()) == 0);
  const std::vector<float> expected = prompt_and_step(cpu, prompt(some));
  CHECK(difference(expected, prompt_and_step(metal, prompt(some))) <= tol::metal_logits);
  CHECK(check_greedy(cpu, metal, prompt(some), greedy_steps) > 0);
}

/// Decoding with some passes and without: the fused nodes are in one graph alone, and the bits are the same.
void check_fused_decode(const std::string& name, const std::vector<std::string>& passes) {
  CAPTURE(name);
  SessionOptions options = on(metal_name());
  Engine fused(name, options);
  options.disabled_passes.insert(passes.begin(), passes.end());
  Engine plain(name, options);
  for (const std::string& pass : passes) {
    CHECK(fused.count_op(pass, 1) > 0);
    CHECK(plain.count_op(pass, 1) == 0);
  }
  for (int64_t position = 0; position < (checked ? 1 : 5); ++position) {
    const std::vector<Token> token{Token(40 + 3 * position)};
    CHECK(same_bits(fused.run(token, position, 1), plain.run(token, position, 1)));
  }
}

// Under the checker a model takes long: there one, and those of 16 bits below.
const std::vector<std::string> float_models =
    checked ? std::vector<std::string>{"qwen2-f32"}
            : std::vector<std::string>{"qwen2-f32", "qwen2-untied-f16", "qwen3-f16", "llama-f16",
                                       "llama3rope-bf16"};

}  // namespace

TEST_CASE("graph_metal_matches_cpu_logits") {
  for (const std::string& name : float_models) {
    CAPTURE(name);
    Engine cpu(name, on("cpu")), metal(name, on(metal_name()));
    for (const int64_t tokens : {int64_t(1), int64_t(some)}) {
      CHECK(cpu.placement(tokens, tokens).count(metal_name()) == 0);
      CHECK(metal.placement(tokens, tokens).count("cpu") == 0);
      CHECK(metal.placement(tokens, tokens)[metal_name()] > 20);
    }
    const std::vector<float> expected = prompt_and_step(cpu, prompt(some));
    const std::vector<float> found = prompt_and_step(metal, prompt(some));
    CHECK(difference(expected, found) <= tol::metal_logits);
    CHECK_FALSE(same_bits(expected, found));
    CHECK(check_greedy(cpu, metal, prompt(some), greedy_steps) > 0);
  }
}

TEST_CASE("real-model bf16") { check_sixteen_bits("qwen3-bf16", 2'759'680); }

TEST_CASE("real-model f16") {
  check_sixteen_bits("qwen2-untied-f16", 4'997'120);
  if (!checked) check_sixteen_bits("qwen3-f16", 2'563'072);
}

TEST_CASE("a split model has the logits of one on a single device, and is split where the plan says") {
  for (const std::string& name : {std::string("qwen2-f32"), std::string("qwen3-f16")}) {
    CAPTURE(name);
    Engine cpu(name, on("cpu")), split(name, on(metal_name(), "1"));
    std::map<std::string, int> places = split.placement(int64_t(some), int64_t(some));
    CHECK(places["cpu"] > 0);
    CHECK(places[metal_name()] > 0);
    const int in_block = places[metal_name()];
    CHECK(places["cpu"] > in_block);  // the other block, the embedding, the norm and the head
    CHECK(difference(prompt_and_step(cpu, prompt(some)), prompt_and_step(split, prompt(some))) <=
          tol::metal_logits);
  }
}

TEST_CASE("fused_qkv_matches_unfused_decode") {
  check_fused_decode("qwen2-q4_0", {"fused_qkv", "fused_ffn"});
  check_fused_decode("llama-q4_1", {"fused_qkv", "fused_ffn"});
  check_fused_decode("llama-q6_k", {"fused_qkv", "fused_ffn"});
}

TEST_CASE("fused_qkv_norm_matches_unfused_decode") {
  check_fused_decode("qwen3-q8_0", {"fused_qkv_norm", "fused_ffn"});
}

/// Values by node name, ids and graphs apart.
Captures by_name(const Captures& all) {
  Captures values;
  for (const auto& [name, value] : all)
    values[name.substr(name.find('.', name.find(".run") + 1) + 6)] = value;
  return values;
}

// Every value of the graph that keeps the last row alone is that row of the whole graph's, or all of it.
TEST_CASE("tail_reduction_matches_full_nt") {
  // Without the tiled matmul a row's bits do not depend on how many rows there are.
  const Environment by_rows("MINFER_GEMM", "0");
  const int64_t tokens = checked ? 3 : 9;
  for (const std::string& name : {std::string("qwen2-q4_0"), std::string("qwen3-f16")}) {
    CAPTURE(name);
    const auto values = [&](int64_t rows) {
      return by_name(captured([&] { Engine(name, on(metal_name())).run(prompt(size_t(tokens)), 0, rows); }));
    };
    const Captures full = values(tokens), tail = values(1);
    size_t reduced = 0, added = 0;
    for (const auto& [node, value] : tail) {
      CAPTURE(node);
      const auto whole = full.find(node);
      if (whole == full.end()) ++added;  // the gather itself
      if (whole == full.end()) continue;
      REQUIRE(value.size() <= whole->second.size());
      reduced += value.size() < whole->second.size();
      CHECK(same_bits({whole->second.end() - std::ptrdiff_t(value.size()), whole->second.end()}, value));
    }
    CHECK(added > 0);
    CHECK(reduced > 1);
    CHECK(tail.size() > 20);
  }
}

// Float weights, so that what the CPU's other blocks add is below the device's own class.
TEST_CASE("graph_metal_layer0_isolation") {
  for (const char* name : {"qwen2-f32", "qwen3-bf16", "llama-f16"}) {
    if (checked && name != std::string("llama-f16")) continue;
    CAPTURE(name);
    Engine split(name, on(metal_name(), "1")), cpu(name, on("cpu"));
    CHECK(difference(prompt_and_step(cpu, prompt(some)), prompt_and_step(split, prompt(some))) <=
          tol::metal_logits);
  }
}

TEST_CASE("half staging changes the logits of a prompt, within its class") {
  for (const std::string name : {"qwen2-q4_0", "qwen3-q4_k", "llama-q6_k", "qwen3-f16"}) {
    CAPTURE(name);
    Engine engine(name, on(metal_name()));
    const std::vector<float> exact = prompt_and_step(engine, prompt(some));
    const Environment half("MINFER_HALF_STAGING", "1");
    Engine staged(name, on(metal_name()));
    const std::vector<float> found = prompt_and_step(staged, prompt(some));
    CHECK(difference(exact, found) <= tol::metal_logits_half);
    CHECK_FALSE(same_bits(exact, found));
  }
}

// A program's second run has the bits of its first.
TEST_CASE("metal_prefill_determinism") {
  Engine engine("qwen3-q8_0", on(metal_name()));
  const std::vector<Token> tokens = prompt(checked ? some : 70);
  const std::vector<float> first = prompt_and_step(engine, tokens);
  CHECK(same_bits(prompt_and_step(engine, tokens), first));
}

TEST_CASE("reused_cache_across_prompts_matches_a_fresh_cache") {
  const size_t brief = checked ? 3 : 12, before = checked ? 12 : 80;
  const auto fresh = Session::create(model("qwen2-q4_0"), on(metal_name()));
  const std::vector<float> expected = copy(fresh->decode(prompt(brief)));
  const auto reused = Session::create(model("qwen2-q4_0"), on(metal_name()));
  reused->decode(prompt(before));
  reused->truncate(0);
  CHECK(same_bits(copy(reused->decode(prompt(brief))), expected));
}

TEST_CASE("a_chunked_prefill_answers_like_an_unchunked_one") {
  const std::vector<Token> tokens = prompt(checked ? 25 : 100);
  const auto last_row = [&](const std::string& device, int64_t chunk) {
    SessionOptions options = on(device);
    options.prefill_chunk = chunk;
    return copy(Session::create(model("qwen3-f16"), options)->decode(tokens));
  };
  const int64_t all = int64_t(tokens.size()), chunk = checked ? 13 : 33;
  CHECK(difference(last_row(metal_name(), all), last_row(metal_name(), chunk)) <= tol::metal_logits);
  CHECK(same_bits(last_row("cpu", all), last_row("cpu", chunk)));
}

// Two sessions of one model keep two formats.
TEST_CASE("metal_kv_format_is_per_engine") {
  SessionOptions options = on(metal_name());
  options.kv_format = KvFormat::q8_0;
  const auto packed = Session::create(model("qwen3-f16"), options);
  const auto plain = Session::create(model("qwen3-f16"), on(metal_name()));
  const std::vector<float> a = copy(packed->decode(prompt(20))), b = copy(plain->decode(prompt(20)));
  CHECK_FALSE(same_bits(a, b));
  CHECK(difference(a, b) <= tol::metal_logits + tol::kv_q8_0);
  CHECK(same_bits(copy(Session::create(model("qwen3-f16"), on(metal_name()))->decode(prompt(20))), b));
}

TEST_CASE("metal_registered_weights_are_charged_in_the_budget_gate") {
  const Environment budget("MINFER_GPU_MEM", "0");
  const auto session = Session::create(model("qwen2-f32"), on(metal_name()));
  const Refused answer = refused([&] { session->decode(prompt(2)); });
  CHECK(answer.thrown);
  CHECK(answer.code == int(ErrorCode::out_of_memory));
  CHECK(answer.message.find("weights 0.00") == std::string::npos);
}

TEST_CASE("MINFER_DISABLE_MPS leaves no device: by name it is refused, auto runs on the CPU") {
  const Environment off("MINFER_DISABLE_MPS", "1");
  const Refused answer = refused([&] { Session::create(model("qwen2-f32"), on(metal_name())); });
  CHECK(answer.thrown);
  CHECK(answer.code == int(ErrorCode::unsupported));
  CHECK(answer.message.find("MINFER_DISABLE_MPS") != std::string::npos);
  CHECK(Session::create(model("qwen2-f32"), on("auto"))->device() == "cpu");
}
