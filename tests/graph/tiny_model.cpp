#include "graph/tiny_model.h"

#include <cmath>
#include <random>

#include "base/error.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

struct WeightsOf {
  using Answer = std::vector<WeightRef>;
  Answer operator()(const RmsNorm& op) const { return {op.weight}; }
  Answer operator()(const QkNorm& op) const { return {op.weight}; }
  Answer operator()(const MatMul& op) const {
    return op.bias ? Answer{op.weight, *op.bias} : Answer{op.weight};
  }
  Answer operator()(const GetRows& op) const { return op.table ? Answer{*op.table} : Answer{}; }
  template <class Other>
  Answer operator()(const Other&) const {
    return {};
  }
};

std::vector<std::byte> random_weight(const WeightRef& ref) {
  std::seed_seq seed(ref.name.begin(), ref.name.end());
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0.0f, 1.0f / std::sqrt(float(ref.cols)));
  std::vector<float> values(size_t(ref.cols * ref.rows));
  for (float& value : values) value = normal(rng);
  std::vector<std::byte> bytes(row_bytes(ref.type, ref.cols) * size_t(ref.rows));
  if (ref.type == DType::f32) {
    const auto raw = std::as_bytes(std::span(values));
    bytes.assign(raw.begin(), raw.end());
  } else {
    MINFER_CHECK(ref.type == DType::q8_0, "the tiny model is F32 or Q8_0");
    quantise_row_q8_0(values.data(), bytes.data(), int64_t(values.size()));
  }
  return bytes;
}

}  // namespace

std::vector<WeightRef> weights_of(const Op& op) { return std::visit(WeightsOf{}, op); }

Graph TinyModel::build(const GraphParams& params) const {
  GraphBuilder b(params.context.n_ctx);
  const NodeId ids = b.input(InputKind::token_ids, params.n_tokens);
  const NodeId positions = b.input(InputKind::positions, params.n_tokens);
  const NodeId cells = b.input(InputKind::cells, params.n_tokens);
  const auto vector = [](std::string name, int64_t length) {
    return WeightRef{std::move(name), DType::f32, length, 1};
  };
  const auto matrix = [&](std::string name, int64_t cols, int64_t rows) {
    return WeightRef{std::move(name), type, cols, rows};
  };
  const RopeParams rope;
  NodeId x = b.add("embedding", GetRows{matrix("embedding", dim, vocab)}, {ids});
  for (int i = 0; i < n_layers; ++i) {
    b.set_layer(i);
    const std::string stem = "blk." + std::to_string(i) + ".";
    const auto project = [&](const char* name, NodeId from, int64_t rows, bool bias) {
      MatMul op{matrix(stem + name, b.node(from).desc.cols(), rows), {}};
      if (bias) op.bias = vector(stem + name + ".bias", rows);
      return b.add(stem + name, op, {from});
    };
    const auto rotated = [&](const char* name, NodeId from, int64_t heads) {
      NodeId y = project(name, from, heads * head_dim, biases);
      if (qk_norms) {
        y = b.add(stem + name + "_norm",
                  QkNorm{vector(stem + name + "_norm", head_dim), head_dim, heads, 1e-5f}, {y});
      }
      return b.add(stem + name + "_rope", Rope{rope, head_dim, heads}, {y, positions});
    };
    const NodeId normed = b.add(stem + "attn_norm", RmsNorm{vector(stem + "attn_norm", dim), 1e-5f}, {x});
    const NodeId q = rotated("attn_q", normed, n_heads), k = rotated("attn_k", normed, n_kv_heads);
    const NodeId v = project("attn_v", normed, kv_dim(), biases);
    b.add(stem + "kv_store", KvStore{i, kv_dim(), params.context.kv_format}, {k, v, cells});
    const NodeId kv = b.add(stem + "kv_load", KvLoad{i, kv_dim(), params.context.kv_format}, {});
    const Attention attention{i,
                              n_heads,
                              n_kv_heads,
                              head_dim,
                              1 / std::sqrt(float(head_dim)),
                              params.context.window,
                              params.context.kv_format};
    const NodeId attended = b.add(stem + "attention", attention, {q, kv, positions});
    x = b.add(stem + "attn_residual", Add{}, {x, project("attn_output", attended, dim, false)});
    const NodeId y = b.add(stem + "ffn_norm", RmsNorm{vector(stem + "ffn_norm", dim), 1e-5f}, {x});
    const NodeId gate = project("ffn_gate", y, ffn, false), up = project("ffn_up", y, ffn, false);
    const NodeId silu = b.add(stem + "ffn_silu", Silu{}, {gate});
    // Both operand orders occur.
    const NodeId hidden =
        b.add(stem + "ffn_hidden", Mul{}, i % 2 ? std::vector{up, silu} : std::vector{silu, up});
    x = b.add(stem + "ffn_residual", Add{}, {x, project("ffn_down", hidden, dim, false)});
  }
  b.set_layer(-2);
  x = b.add("output_norm", RmsNorm{vector("output_norm", dim), 1e-5f}, {x});
  b.output(b.add("logits", MatMul{matrix("output", dim, vocab), {}}, {x}));
  return b.build();
}

void TinyModel::add_weights(const Graph& graph, TestBackend& backend) {
  for (const Node& node : graph.nodes) {
    for (const WeightRef& ref : weights_of(node.op)) {
      if (backend.has_weight(ref.name)) continue;
      bytes_.push_back(std::make_shared<const std::vector<std::byte>>(random_weight(ref)));
      backend.add_weight({ref, *bytes_.back()});
    }
  }
}

GraphParams decode_params(int64_t n_ctx) {
  GraphParams params;
  params.context.n_ctx = n_ctx;
  return params;
}

GraphParams prefill_params(int64_t n_ctx, int64_t tokens) {
  GraphParams params = decode_params(n_ctx);
  params.n_tokens = params.n_out = tokens;
  params.phase = GraphParams::Phase::prefill;
  return params;
}

Rig::Rig(TinyModel model_, std::vector<std::string> names, PipelineOptions options_)
    : model(std::move(model_)), options(std::move(options_)) {
  for (const std::string& name : names) {
    backends.push_back(std::make_unique<TestBackend>(name));
    model.add_weights(model.build(decode_params(16)), *backends.back());
  }
}

Pipeline& Rig::pipeline() {
  if (!pipeline_) {
    std::vector<Backend*> all;
    for (const auto& backend : backends) all.push_back(backend.get());
    pipeline_ = Pipeline::create(
        all, [this](const GraphParams& params) { return model.build(params); }, options);
  }
  return *pipeline_;
}

std::vector<float> Rig::forward(const GraphParams& params, int32_t first_position) {
  Executable& executable = pipeline().prepare(params);
  std::vector<int32_t> ids, positions;
  for (int32_t t = 0; t < params.n_tokens; ++t) {
    positions.push_back(first_position + t);
    ids.push_back((positions.back() * 7 + 3) % int32_t(model.vocab));
  }
  executable.set_input(InputKind::token_ids, ids);
  executable.set_input(InputKind::positions, positions);
  executable.set_input(InputKind::cells, positions);
  executable.run();
  std::vector<float> logits(size_t(params.n_tokens * model.vocab));
  executable.read_output(0, logits);
  return {logits.end() - std::ptrdiff_t(model.vocab), logits.end()};
}

std::vector<float> Rig::generate(const ContextParams& context) {
  GraphParams prefill = prefill_params(context.n_ctx, 5), decode = decode_params(context.n_ctx);
  prefill.context = decode.context = context;
  std::vector<float> all = forward(prefill, 0);
  for (int32_t position = 5; position < 8; ++position) {
    const std::vector<float> logits = forward(decode, position);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

int count_ops_of(const Graph& graph, std::string_view op) {
  int count = 0;
  for (const Node& node : graph.nodes) count += !node.dead && op_name(node.op) == op;
  return count;
}

}  // namespace minfer::test
