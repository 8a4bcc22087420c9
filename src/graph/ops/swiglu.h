#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// The gated feed-forward activation: Mul(Silu(gate), up) in one node, made by the `swiglu` pass.
///
///   y[i] = gate[i] / (1 + exp(-gate[i])) * up[i]
///
/// Inputs   gate, up: f32 of one shape
/// Output   y: f32, that shape
/// Numerics as Silu and Mul one after the other
/// Errors   Error{bad_model} if the shapes differ
/// Source   Shazeer, "GLU Variants Improve Transformer", 2020, eq. 6
struct SwiGlu {
  static constexpr std::string_view name = "swiglu";
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 2);
    rule.f32("source 0", in[0]);
    rule.f32("source 1", in[1], in[0].cols(), in[0].rows());
    return in[0];
  }
  bool operator==(const SwiGlu&) const = default;
};

}  // namespace minfer
