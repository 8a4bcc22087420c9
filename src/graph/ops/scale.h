#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Multiplication by a constant.
///
///   y[i] = x[i] * factor
///
/// Inputs   x: f32
/// Output   y: f32, x's shape
/// Numerics one f32 rounding
/// Errors   Error{bad_model} if x is not f32
struct Scale {
  static constexpr std::string_view name = "scale";
  float factor;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("source 0", in[0]);
    return in[0];
  }
  bool operator==(const Scale&) const = default;
};

}  // namespace minfer
