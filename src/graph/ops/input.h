#pragma once
#include "graph/ops/op.h"

namespace minfer {

enum class InputKind : uint8_t { token_ids, positions, cells, window, tail_ids };

/// What the caller fills before each run: the data that changes from token to token.
///
/// Inputs   none
/// Output   i32 [count]: the builder fixes the count, so there is no shape rule
///          token_ids, positions and cells have one element a token; tail_ids one a token with logits;
///          window 2 or 8 a token (WindowKind)
/// Numerics none
/// Errors   none
struct Input {
  static constexpr std::string_view name = "input";
  InputKind kind;
  bool operator==(const Input&) const = default;
};

}  // namespace minfer
