#pragma once
#include <cstddef>

#include "backends/cpu/isa/dot_tile.h"

namespace minfer::cpu {

/// Activations of one pass over the weights: as many tokens as stay in the second-level cache.
inline constexpr int64_t matmul_pass_bytes = 256 * 1024;

/// KernelTable::MatMulF for weights of Row's element type.
template <class V, class Row>
void matmul_float(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                  const float* x, int64_t x_stride, int64_t cols, int64_t tokens) {
  using Element = typename Row::Element;
  const int64_t token_bytes = cols * int64_t(sizeof(float));
  int64_t pass =
      token_bytes == 0 ? tokens : matmul_pass_bytes / token_bytes / V::dot_columns * V::dot_columns;
  if (pass < V::dot_columns) pass = V::dot_columns;
  for (int64_t t = 0; t < tokens; t += pass) {
    const int64_t count = tokens - t < pass ? tokens - t : pass;
    dots<V, Row>(y + t * y_stride, y_stride, reinterpret_cast<const Element*>(w),
                 int64_t(w_row_bytes / sizeof(Element)), rows, x + t * x_stride, x_stride, count, cols);
  }
}

template <class V>
constexpr auto matmul_f32 = matmul_float<V, RowF32<V>>;
template <class V>
constexpr auto matmul_f16 = matmul_float<V, RowHalf<V, typename V::F16>>;
template <class V>
constexpr auto matmul_bf16 = matmul_float<V, RowHalf<V, typename V::BF16>>;

}  // namespace minfer::cpu
