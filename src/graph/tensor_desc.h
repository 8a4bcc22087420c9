#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "quant/dtype.h"

namespace minfer {

/// Element type and extents of a value in the graph. `shape[0]` is the fastest dimension: an activation is
/// [width, tokens, 1, 1], stored token after token.
struct TensorDesc {
  DType dtype = DType::f32;
  std::array<int64_t, 4> shape = {1, 1, 1, 1};

  int64_t cols() const { return shape[0]; }
  int64_t rows() const { return shape[1] * shape[2] * shape[3]; }
  int64_t elements() const { return cols() * rows(); }
  size_t bytes() const { return row_bytes(dtype, cols()) * size_t(rows()); }
  bool operator==(const TensorDesc&) const = default;
};

inline TensorDesc desc_f32(int64_t cols, int64_t rows) { return {DType::f32, {cols, rows, 1, 1}}; }
inline TensorDesc desc_i32(int64_t count) { return {DType::i32, {count, 1, 1, 1}}; }

/// "f32 [576, 12]"
std::string to_string(const TensorDesc& desc);

}  // namespace minfer
