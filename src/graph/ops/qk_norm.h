#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// RmsNorm of each head of a row on its own, all heads with one gain: Qwen3's norm of q and k before rope.
///
///   y[t, h, i] = x[t, h, i] * w[i] / sqrt(mean_i(x[t, h, i]^2) + eps)
///
/// Inputs   x: f32 [n_heads * head_dim, tokens]   weight w: f32 [head_dim]
/// Output   y: f32, x's shape
/// Numerics as RmsNorm over head_dim values
/// Errors   Error{bad_model} if the heads do not fill the row, or w's length is not head_dim
/// Source   Henry et al., "Query-Key Normalization for Transformers", 2020, with the norm of RmsNorm
struct QkNorm {
  static constexpr std::string_view name = "qk_norm";
  WeightRef weight;
  int64_t head_dim, n_heads;
  float eps;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0]);
    rule.positive("head_dim", head_dim);
    rule.positive("n_heads", n_heads);
    rule.equal("x's row", in[0].cols(), n_heads * head_dim);
    rule.vector("weight", weight, head_dim);
    return in[0];
  }
  bool operator==(const QkNorm&) const = default;
};

}  // namespace minfer
