#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Which KV rows a query sees. causal: cells 0 to its position. ranges: `window` holds lo[tokens] then
/// hi[tokens], half-open. runs: `window` holds [tokens][4][2] pairs (cell, length), zero-padded, in the order
/// they are read.
enum class WindowKind : uint8_t { causal, ranges, runs };
inline constexpr int max_window_runs = 4;

/// Scaled dot-product attention over the layer's KV regions; groups of query heads share a KV head.
///
///   y[t, h] = sum_j softmax_j(scale * q[t, h] . K[j, g]) V[j, g]   j in the window of t,
///   g = h / (n_heads / n_kv_heads)
///
/// Inputs   q: f32 [n_heads * head_dim, tokens]   kv: the layer's KvLoad or KvStore [kv_dim, n_ctx]
///          positions: i32 [tokens]   window: i32 [2 * tokens] or [8 * tokens], absent when causal
/// Output   y: f32 [n_heads * head_dim, tokens]
/// Numerics the row's maximum is taken off before the exponential
/// Errors   Error{bad_model} if n_heads is no multiple of n_kv_heads, or a width or count does not fit
/// Source   Vaswani et al., "Attention Is All You Need", 2017, eq. 1; Ainslie et al., "GQA", 2023
struct Attention {
  static constexpr std::string_view name = "attention";
  int layer;
  int64_t n_heads, n_kv_heads, head_dim;
  float scale;
  WindowKind window = WindowKind::causal;
  KvFormat format = KvFormat::f32;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, window == WindowKind::causal ? 3 : 4);
    rule.positive("head_dim", head_dim);
    rule.positive("n_kv_heads", n_kv_heads);
    rule.positive("n_heads", n_heads);
    rule.multiple("n_heads", n_heads, n_kv_heads);
    const int64_t tokens = in[0].rows();
    rule.f32("q", in[0], n_heads * head_dim, tokens);
    rule.f32("kv", in[1], n_kv_heads * head_dim, in.n_ctx);
    rule.i32("positions", in[2], tokens);
    if (window == WindowKind::ranges) rule.i32("window of ranges", in[3], 2 * tokens);
    if (window == WindowKind::runs) rule.i32("window of runs", in[3], tokens * max_window_runs * 2);
    return desc_f32(n_heads * head_dim, tokens);
  }
  bool operator==(const Attention&) const = default;
};  // (q, kv, positions[, window])

}  // namespace minfer
