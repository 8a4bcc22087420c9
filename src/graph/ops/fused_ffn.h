#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Decode only (one token): both feed-forward matmuls and their activation. Made by the `fused_ffn` pass; its
/// unfused form is MatMul x2, SwiGlu.
///
///   y[i] = silu(gate x)[i] * (up x)[i],  i < ffn_dim
///
/// Inputs   x: f32 [dim, 1]   gate, up: weights of one type, [ffn_dim][dim]
/// Output   f32 [2*ffn_dim, 1]: y in the first ffn_dim values, which are all that the down matmul reads
/// Numerics bitwise those of the unfused chain
/// Errors   Error{bad_model} if there is more than one token or the weights' shapes differ
struct FusedFfn {
  static constexpr std::string_view name = "fused_ffn";
  WeightRef gate, up;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0], in[0].cols(), 1);
    rule.matrix("gate", gate, in[0].cols());
    rule.matrix("up", up, in[0].cols());
    rule.equal("up's rows", up.rows, gate.rows);
    return desc_f32(2 * gate.rows, 1);
  }
  bool operator==(const FusedFfn&) const = default;
};

}  // namespace minfer
