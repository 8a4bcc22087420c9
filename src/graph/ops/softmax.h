#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Probabilities over the columns of each row.
///
///   y[t, i] = exp(x[t, i] - max_j x[t, j]) / sum_j exp(x[t, j] - max_j x[t, j])
///
/// Inputs   x: f32 [cols, tokens]
/// Output   y: f32, x's shape
/// Numerics the row's maximum is taken off first, so no exponential overflows
/// Errors   Error{bad_model} if x is not f32
struct Softmax {
  static constexpr std::string_view name = "softmax";
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("source 0", in[0]);

    return in[0];
  }
  bool operator==(const Softmax&) const = default;
};

}  // namespace minfer
