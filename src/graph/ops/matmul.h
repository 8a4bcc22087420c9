#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// A linear layer.
///
///   y[t, r] = sum_c w[r, c] * x[t, c] + b[r]
///
/// Inputs   x: f32 [cols, tokens]   weight w: any type, `rows` rows of `cols`   bias b: f32 [rows], optional
/// Output   y: f32 [rows, tokens]
/// Numerics each device documents its order of summation and whether it rounds x to 8 bits; with
///          `fine_activations` it keeps at least 15 (the head: its rounding errors reach the logits
///          undiluted)
/// Errors   Error{bad_model} if x's row is not w's, w's row is no whole number of blocks, or b is not f32
///          [rows]
struct MatMul {
  static constexpr std::string_view name = "matmul";
  WeightRef weight;
  std::optional<WeightRef> bias;
  bool fine_activations = false;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0]);
    rule.matrix("weight", weight, in[0].cols());
    if (bias) rule.vector("bias", *bias, weight.rows);
    return desc_f32(weight.rows, in[0].rows());
  }
  bool operator==(const MatMul&) const = default;
};

}  // namespace minfer
