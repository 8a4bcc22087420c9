#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Root-mean-square normalisation, one row at a time.
///
///   y[t, i] = x[t, i] * w[i] / sqrt(mean_i(x[t, i]^2) + eps)
///
/// Inputs   x: f32 [dim, tokens]   weight w: f32 [dim]
/// Output   y: f32 [dim, tokens]
/// eps      dimensionless, from GGUF `<arch>.attention.layer_norm_rms_epsilon`
/// Numerics the sum of squares is kept in f32 or wider
/// Errors   Error{bad_model} if w is not f32 or its length is not dim
/// Source   Zhang & Sennrich, "Root Mean Square Layer Normalization", 2019, eq. 4
struct RmsNorm {
  static constexpr std::string_view name = "rms_norm";
  WeightRef weight;
  float eps;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0]);
    rule.vector("weight", weight, in[0].cols());
    return in[0];
  }
  bool operator==(const RmsNorm&) const = default;
};

}  // namespace minfer
