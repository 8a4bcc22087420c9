#pragma once
#include "graph/ops/op.h"

namespace minfer {

enum class RopeStyle : uint8_t { split_half, interleaved };

/// theta_i(p) = p * scale * base^(-2i / head_dim) / factor_i, i < head_dim / 2. Pairs (i, i + head_dim/2) or
/// (2i, 2i+1).
struct RopeParams {
  RopeStyle style = RopeStyle::split_half;
  float base = 10000.0f;
  float scale = 1.0f;
  std::optional<WeightRef> factors;  ///< rope_freqs.weight, f32 [head_dim / 2]; 1 if absent
  void check(const ShapeRule& rule, int64_t head_dim) const {
    rule.positive("head_dim", head_dim);
    rule.multiple("head_dim", head_dim, 2);
    if (factors) rule.vector("factors", *factors, head_dim / 2);
  }
  bool operator==(const RopeParams&) const = default;
};

/// Rotary position embedding: each pair (a, b) of a head turns by theta_i(p).
///
///   a' = a cos(theta) - b sin(theta)
///   b' = a sin(theta) + b cos(theta)
///
/// Inputs   x: f32 [n_heads * head_dim, tokens]   positions: i32 [tokens]
/// Output   y: f32, x's shape; may share x's buffer
/// Numerics the angle is f32; two products and a sum each
/// Errors   Error{bad_model} if head_dim is odd, the heads do not fill the row, or a token has no position
/// Source   Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, eq. 15
struct Rope {
  static constexpr std::string_view name = "rope";
  RopeParams rope;
  int64_t head_dim, n_heads;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 2);
    rope.check(rule, head_dim);
    rule.positive("n_heads", n_heads);
    rule.f32("x", in[0]);
    rule.equal("x's row", in[0].cols(), n_heads * head_dim);
    rule.i32("positions", in[1], in[0].rows());
    return in[0];
  }
  bool operator==(const Rope&) const = default;
};  // (x, positions)

}  // namespace minfer
