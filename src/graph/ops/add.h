#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Element-wise sum: the residual connections.
///
///   y[i] = a[i] + b[i]
///
/// Inputs   a, b: f32 of one shape
/// Output   y: f32, that shape
/// Numerics one f32 rounding
/// Errors   Error{bad_model} if the shapes differ
struct Add {
  static constexpr std::string_view name = "add";
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 2);
    rule.f32("source 0", in[0]);
    rule.f32("source 1", in[1], in[0].cols(), in[0].rows());
    return in[0];
  }
  bool operator==(const Add&) const = default;
};

}  // namespace minfer
