#include "models/blocks.h"

#include <fmt/format.h>

#include <cmath>

#include "models/weights.h"

namespace minfer {
namespace {

struct Layer {
  WeightRef attn_norm, ffn_norm;
  MatMul q, k, v, output, gate, up, down;
  std::optional<WeightRef> q_norm, k_norm;
};

struct Tensors {
  WeightRef embedding, output_norm;
  MatMul head;
  std::optional<WeightRef> rope_factors;
  std::vector<Layer> layers;
};

MatMul linear(const WeightFinder& find, const std::string& stem, int64_t cols, int64_t rows,
              BlockStyle::Presence bias) {
  MatMul op{find.matrix(stem + ".weight", cols, rows), std::nullopt};
  const bool wanted = bias == BlockStyle::Presence::required ||
                      (bias == BlockStyle::Presence::optional && find.has(stem + ".bias"));
  if (wanted) op.bias = find.vector(stem + ".bias", rows);
  return op;
}

Layer find_layer(const WeightFinder& find, const Hyperparams& h, const BlockStyle& style, int64_t index) {
  using enum BlockStyle::Presence;
  const auto stem = [&](std::string_view name) { return fmt::format("blk.{}.{}", index, name); };
  const int64_t q_dim = h.n_heads * h.head_dim;
  // Files of the optional kind may carry a bias on every projection.
  const auto other = style.qkv_bias == optional ? optional : never;
  Layer layer;
  layer.attn_norm = find.vector(stem("attn_norm.weight"), h.dim);
  layer.q = linear(find, stem("attn_q"), h.dim, q_dim, style.qkv_bias);
  layer.k = linear(find, stem("attn_k"), h.dim, h.kv_dim(), style.qkv_bias);
  layer.v = linear(find, stem("attn_v"), h.dim, h.kv_dim(), style.qkv_bias);
  if (style.qk_norm) {
    layer.q_norm = find.vector(stem("attn_q_norm.weight"), h.head_dim);
    layer.k_norm = find.vector(stem("attn_k_norm.weight"), h.head_dim);
  }
  layer.output = linear(find, stem("attn_output"), q_dim, h.dim, other);
  layer.output.fine_activations = true;
  layer.ffn_norm = find.vector(stem("ffn_norm.weight"), h.dim);
  layer.gate = linear(find, stem("ffn_gate"), h.dim, h.ffn_dim, other);
  layer.up = linear(find, stem("ffn_up"), h.dim, h.ffn_dim, other);
  layer.down = linear(find, stem("ffn_down"), h.ffn_dim, h.dim, other);
  return layer;
}

Tensors find_tensors(const Hyperparams& h, const gguf::File& file, const BlockStyle& style) {
  const WeightFinder find(file);
  Tensors t;
  t.embedding = find.matrix("token_embd.weight", h.dim, h.vocab);
  t.output_norm = find.vector("output_norm.weight", h.dim);
  // A file without its own head uses the embedding for both.
  t.head.weight = find.has("output.weight") ? find.matrix("output.weight", h.dim, h.vocab) : t.embedding;
  t.head.fine_activations = true;
  if (find.has("output.bias")) t.head.bias = find.vector("output.bias", h.vocab);
  if (style.rope_factors && find.has("rope_freqs.weight"))
    t.rope_factors = find.vector("rope_freqs.weight", h.head_dim / 2);
  for (int64_t i = 0; i < h.n_layers; ++i) t.layers.push_back(find_layer(find, h, style, i));
  return t;
}

/// The graph's inputs; `tail` only if some rows, but fewer than tokens, reach the head.
struct Inputs {
  NodeId ids, positions, cells;
  std::optional<NodeId> window, tail;
};

Inputs add_inputs(GraphBuilder& b, const GraphParams& params) {
  const int64_t tokens = params.n_tokens;
  Inputs in{b.input(InputKind::token_ids, tokens),
            b.input(InputKind::positions, tokens),
            b.input(InputKind::cells, tokens),
            {},
            {}};
  if (params.context.window == WindowKind::ranges) in.window = b.input(InputKind::window, 2 * tokens);
  if (params.context.window == WindowKind::runs)
    in.window = b.input(InputKind::window, tokens * max_window_runs * 2);
  if (params.n_out > 0 && params.n_out < tokens) in.tail = b.input(InputKind::tail_ids, params.n_out);
  return in;
}

/// One forward pass under construction.
class ForwardBuilder {
 public:
  ForwardBuilder(const Hyperparams& h, const Tensors& tensors, const GraphParams& params,
                 const BlockStyle& style)
      : h_(h), t_(tensors), params_(params), b_(params.context.n_ctx), in_(add_inputs(b_, params)) {
    rope_ = {style.rope, h.rope_base, h.rope_scale, tensors.rope_factors};
  }

  Graph build() {
    NodeId x = b_.add("embedding", GetRows{t_.embedding}, {in_.ids});
    for (size_t i = 0; i < t_.layers.size(); ++i) {
      b_.set_layer(int(i));
      const bool last = i + 1 == t_.layers.size();
      if (last && params_.n_out == 0) {
        store_only(t_.layers[i], int(i), x);
        return b_.build();
      }
      x = block(t_.layers[i], int(i), x, last);
    }
    b_.set_layer(-2);
    x = b_.add("output_norm", RmsNorm{t_.output_norm, h_.norm_eps}, {x});
    b_.output(b_.add("logits", t_.head, {x}));
    return b_.build();
  }

 private:
  NodeId add(int layer, std::string_view name, Op op, std::vector<NodeId> sources) {
    return b_.add(fmt::format("blk.{}.{}", layer, name), std::move(op), std::move(sources));
  }

  /// Its heads normed, where the model does that, and rotated.
  NodeId rotated(int layer, const std::string& name, int64_t heads, const std::optional<WeightRef>& gain,
                 NodeId projected) {
    NodeId y = projected;
    if (gain) y = add(layer, name + "_norm", QkNorm{*gain, h_.head_dim, heads, h_.norm_eps}, {y});
    return add(layer, name + "_rope", Rope{rope_, h_.head_dim, heads}, {y, in_.positions});
  }

  NodeId normed(const Layer& w, int layer, NodeId x) {
    return add(layer, "attn_norm", RmsNorm{w.attn_norm, h_.norm_eps}, {x});
  }

  void store(int layer, const Layer& w, NodeId projected_k, NodeId v) {
    const NodeId k = rotated(layer, "attn_k", h_.n_kv_heads, w.k_norm, projected_k);
    add(layer, "kv_store", KvStore{layer, h_.kv_dim(), params_.context.kv_format}, {k, v, in_.cells});
  }

  /// All that later tokens need of the last layer.
  void store_only(const Layer& w, int layer, NodeId x) {
    const NodeId y = normed(w, layer, x);
    const NodeId projected_k = add(layer, "attn_k", w.k, {y});
    const NodeId v = add(layer, "attn_v", w.v, {y});
    store(layer, w, projected_k, v);
  }

  NodeId attention(const Layer& w, int layer, NodeId x) {
    const ContextParams& c = params_.context;
    // The three products stand together: a device runs them without waiting for what follows one of them.
    const NodeId projected_q = add(layer, "attn_q", w.q, {x});
    const NodeId projected_k = add(layer, "attn_k", w.k, {x});
    const NodeId v = add(layer, "attn_v", w.v, {x});
    const NodeId q = rotated(layer, "attn_q", h_.n_heads, w.q_norm, projected_q);
    store(layer, w, projected_k, v);
    const NodeId kv = add(layer, "kv_load", KvLoad{layer, h_.kv_dim(), c.kv_format}, {});
    const float scale = 1.0f / std::sqrt(float(h_.head_dim));
    const Attention op{layer, h_.n_heads, h_.n_kv_heads, h_.head_dim, scale, c.window, c.kv_format};
    std::vector<NodeId> sources = {q, kv, in_.positions};
    if (in_.window) sources.push_back(*in_.window);
    return add(layer, "attention", op, std::move(sources));
  }

  /// Rows beyond the last n_out are not needed once the last layer's keys and values are stored.
  NodeId tail(int layer, std::string_view name, NodeId x) {
    return in_.tail ? add(layer, name, GetRows{}, {x, *in_.tail}) : x;
  }

  NodeId block(const Layer& w, int layer, NodeId x, bool last) {
    NodeId attended = add(layer, "attn_output", w.output, {attention(w, layer, normed(w, layer, x))});
    if (last) {
      attended = tail(layer, "attn_tail", attended);
      x = tail(layer, "residual_tail", x);
    }
    x = add(layer, "attn_residual", Add{}, {x, attended});
    const NodeId y = add(layer, "ffn_norm", RmsNorm{w.ffn_norm, h_.norm_eps}, {x});
    const NodeId gate = add(layer, "ffn_gate", w.gate, {y});
    const NodeId up = add(layer, "ffn_up", w.up, {y});
    const NodeId silu = add(layer, "ffn_silu", Silu{}, {gate});
    const NodeId hidden = add(layer, "ffn_hidden", Mul{}, {silu, up});
    const NodeId down = add(layer, "ffn_down", w.down, {hidden});
    return add(layer, "ffn_residual", Add{}, {x, down});
  }

  const Hyperparams& h_;
  const Tensors& t_;
  const GraphParams& params_;
  GraphBuilder b_;
  Inputs in_;
  RopeParams rope_;
};

}  // namespace

std::vector<WeightRef> transformer_weights(const Hyperparams& h, const gguf::File& file,
                                           const BlockStyle& style) {
  const Tensors t = find_tensors(h, file, style);
  std::vector<WeightRef> all = {t.embedding, t.output_norm};
  const auto add = [&](const MatMul& op) {
    all.push_back(op.weight);
    if (op.bias) all.push_back(*op.bias);
  };
  if (t.head.weight != t.embedding) all.push_back(t.head.weight);
  if (t.head.bias) all.push_back(*t.head.bias);
  if (t.rope_factors) all.push_back(*t.rope_factors);
  for (const Layer& layer : t.layers) {
    for (const MatMul* op :
         {&layer.q, &layer.k, &layer.v, &layer.output, &layer.gate, &layer.up, &layer.down})
      add(*op);
    all.push_back(layer.attn_norm);
    all.push_back(layer.ffn_norm);
    for (const auto& norm : {layer.q_norm, layer.k_norm})
      if (norm) all.push_back(*norm);
  }
  return all;
}

Graph transformer_graph(const Hyperparams& h, const gguf::File& file, const GraphParams& params,
                        const BlockStyle& style) {
  const Tensors tensors = find_tensors(h, file, style);
  return ForwardBuilder(h, tensors, params, style).build();
}

}  // namespace minfer
