#pragma once
#include <array>

#include "graph/ops/op.h"

namespace minfer {

/// A contiguous part of a value, copied.
///
/// Inputs   x: f32
/// Output   f32 of `shape`: x's elements offset .. offset + elements(shape)
/// Numerics exact
/// Errors   Error{bad_model} if the part leaves x
struct View {
  static constexpr std::string_view name = "view";
  int64_t offset;
  std::array<int64_t, 4> shape;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0]);
    const TensorDesc out{DType::f32, shape};
    for (int64_t extent : shape) rule.positive("extent", extent);
    const bool inside = offset >= 0 && offset <= in[0].elements() - out.elements();
    rule.holds(inside, "a part that ends outside x", "one inside its " + to_string(in[0]));
    return out;
  }
  bool operator==(const View&) const = default;
};  // elements

/// The same elements in the same order under another shape.
///
/// Inputs   x: f32
/// Output   f32 of `shape`
/// Numerics exact
/// Errors   Error{bad_model} if the number of elements changes
struct Reshape {
  static constexpr std::string_view name = "reshape";
  std::array<int64_t, 4> shape;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0]);
    const TensorDesc out{DType::f32, shape};
    for (int64_t extent : shape) rule.positive("extent", extent);
    rule.equal("elements", out.elements(), in[0].elements());
    return out;
  }
  bool operator==(const Reshape&) const = default;
};

/// The dimensions in another order: output dimension d is x's dimension dims[d]; the elements move.
///
/// Inputs   x: f32
/// Output   f32, contiguous
/// Numerics exact
/// Errors   Error{bad_model} if dims is no permutation of 0 .. 3
struct Permute {
  static constexpr std::string_view name = "permute";
  std::array<int, 4> dims;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 1);
    rule.f32("x", in[0]);
    unsigned seen = 0;
    TensorDesc out = in[0];
    for (size_t d = 0; d < dims.size(); ++d) {
      rule.holds(dims[d] >= 0 && dims[d] < 4, "dimension " + std::to_string(dims[d]), "0 to 3");
      seen |= 1u << dims[d];
      out.shape[d] = in[0].shape[size_t(dims[d])];
    }
    rule.holds(seen == 0b1111, "dims that name one twice", "a permutation of 0 to 3");
    return out;
  }
  bool operator==(const Permute&) const = default;
};

}  // namespace minfer
