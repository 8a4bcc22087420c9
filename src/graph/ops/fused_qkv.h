#pragma once
#include "graph/ops/matmul.h"
#include "graph/ops/rope.h"

namespace minfer {

/// Decode only (one token): the layer's q, k, v matmuls with biases, rope of q and k, store at `cells`.
/// Made by the `fused_qkv` pass; its unfused form is MatMul x3, Rope x2, KvStore.
///
/// Inputs   x: f32 [dim, 1]   positions, cells: i32 [1]
/// Output   f32 [n_heads*head_dim + 2*kv_dim, 1]: q, k, v; attention reads the leading q. The layer's KV
///          regions change
/// Numerics bitwise those of the unfused chain
/// Errors   Error{bad_model} if there is more than one token or a width does not fit the heads
struct FusedQkv {
  static constexpr std::string_view name = "fused_qkv";
  int layer;
  MatMul q, k, v;
  RopeParams rope;
  int64_t n_heads, n_kv_heads, head_dim;
  KvFormat format;
  int64_t q_dim() const { return n_heads * head_dim; }
  int64_t kv_dim() const { return n_kv_heads * head_dim; }
  TensorDesc infer(const OpInputs& in) const { return infer(ShapeRule(name), in); }
  TensorDesc infer(const ShapeRule& rule, const OpInputs& in) const {
    rule.sources(in, 3);
    rule.f32("x", in[0], in[0].cols(), 1);
    rule.i32("positions", in[1], 1);
    rule.i32("cells", in[2], 1);
    rope.check(rule, head_dim);
    rule.positive("n_heads", n_heads);
    rule.positive("n_kv_heads", n_kv_heads);
    for (const MatMul* part : {&q, &k, &v}) {
      const int64_t rows = part == &q ? q_dim() : kv_dim();
      rule.matrix("weight", part->weight, in[0].cols());
      rule.equal("weight " + part->weight.name + "'s rows", part->weight.rows, rows);
      if (part->bias) rule.vector("bias", *part->bias, rows);
    }
    kv_row_bytes(format, kv_dim());
    return desc_f32(q_dim() + 2 * kv_dim(), 1);
  }
  bool operator==(const FusedQkv&) const = default;
};

/// FusedQkv without biases, with the per-head norms of q and k before rope. Made by the `fused_qkv_norm`
/// pass; its unfused form is MatMul x3, QkNorm x2, Rope x2, KvStore.
///
/// Inputs   as FusedQkv
/// Output   as FusedQkv
/// Numerics bitwise those of the unfused chain
/// Errors   as FusedQkv; also if there is a bias, or a gain's length is not head_dim
struct FusedQkvNorm {
  static constexpr std::string_view name = "fused_qkv_norm";
  FusedQkv qkv;
  WeightRef q_norm, k_norm;
  float eps;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.holds(!qkv.q.bias && !qkv.k.bias && !qkv.v.bias, "a bias", "none beside the norms");
    rule.vector("q_norm", q_norm, qkv.head_dim);
    rule.vector("k_norm", k_norm, qkv.head_dim);
    return qkv.infer(rule, in);
  }
  bool operator==(const FusedQkvNorm&) const = default;
};

/// The epilogue alone: q is biased and roped in place; k and v are biased, k roped, and both stored.
///
/// Inputs   q: f32 [n_heads*head_dim, tokens]   k, v: f32 [kv_dim, tokens]   positions, cells: i32 [tokens]
/// Output   the roped q, of q's shape; may share q's buffer. The layer's KV regions change
/// Numerics bitwise those of Add, Rope and KvStore one after the other
/// Errors   Error{bad_model} if a width does not fit the heads
struct QkvBiasRopeStore {
  static constexpr std::string_view name = "qkv_bias_rope_store";
  int layer;
  std::optional<WeightRef> q_bias, k_bias, v_bias;
  RopeParams rope;
  int64_t n_heads, n_kv_heads, head_dim;
  KvFormat format;
  int64_t kv_dim() const { return n_kv_heads * head_dim; }
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 5);
    rope.check(rule, head_dim);
    rule.positive("n_heads", n_heads);
    rule.positive("n_kv_heads", n_kv_heads);
    const int64_t tokens = in[0].rows();
    rule.f32("q", in[0], n_heads * head_dim, tokens);
    rule.f32("k", in[1], kv_dim(), tokens);
    rule.f32("v", in[2], kv_dim(), tokens);
    rule.i32("positions", in[3], tokens);
    rule.i32("cells", in[4], tokens);
    if (q_bias) rule.vector("q_bias", *q_bias, n_heads * head_dim);
    if (k_bias) rule.vector("k_bias", *k_bias, kv_dim());
    if (v_bias) rule.vector("v_bias", *v_bias, kv_dim());
    kv_row_bytes(format, kv_dim());
    return in[0];
  }
  bool operator==(const QkvBiasRopeStore&) const = default;
};

}  // namespace minfer
