#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Rows by index. With a table: the embedding. Without: the tokens whose logits are wanted.
///
///   y[t] = table[ids[t]]   or   y[t] = x[ids[t]]
///
/// Inputs   ids: i32 [n]   table: any weight type, decoded to f32       (ids)
///          x: f32 [cols, tokens], ids: i32 [n]                          (x, ids)
/// Output   y: f32 [cols, n]
/// Numerics exact, but for the decoding of the table's type
/// Errors   Error{bad_model} if ids are not i32 or the table's row is no whole number of blocks;
///          an id out of range is refused when it is known, by the device
struct GetRows {
  static constexpr std::string_view name = "get_rows";
  std::optional<WeightRef> table;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, table ? 1 : 2);
    const TensorDesc& ids = in.sources.back();
    rule.i32("ids", ids, ids.elements());
    if (table) {
      rule.matrix("table", *table, table->cols);
      return desc_f32(table->cols, ids.elements());
    }
    rule.f32("x", in[0]);
    return desc_f32(in[0].cols(), ids.elements());
  }
  bool operator==(const GetRows&) const = default;
};

}  // namespace minfer
