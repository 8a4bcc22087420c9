#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// The sigmoid-weighted linear unit.
///
///   y[i] = x[i] / (1 + exp(-x[i]))
///
/// Inputs   x: f32
/// Output   y: f32, x's shape; may share x's buffer
/// Numerics the exponential's error, one division
/// Errors   Error{bad_model} if x is not f32
/// Source   Elfwing, Uchibe & Doya, "Sigmoid-Weighted Linear Units", 2017, eq. 1
struct Silu {
  static constexpr std::string_view name = "silu";
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("source 0", in[0]);

    return in[0];
  }
  bool operator==(const Silu&) const = default;
};

}  // namespace minfer
