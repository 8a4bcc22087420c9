#pragma once
#include "backends/cpu/isa/float_kernels.h"

/// Register tiles of dots, behind matmul_f* and attention scores: each row and each column is loaded once for
/// several dots. Every dot has sum16's order, whatever tile it falls in.
namespace minfer::cpu {

inline constexpr int row_block = 4;  ///< rows taken together; the last block may have fewer

/// How sixteen elements of a row become f32 lanes; load_first takes a ragged tail of n < 16.
template <class V>
struct RowF32 {
  using Element = float;
  static V load(const float* p) { return V::load(p); }
  static V load_first(const float* p, int n) { return V::load_first(p, n); }
};

template <class V, V (*Widen)(const uint16_t*)>
struct RowHalf {
  using Element = uint16_t;
  static V load(const uint16_t* p) { return Widen(p); }
  static V load_first(const uint16_t* p, int n) {
    uint16_t padded[lanes] = {};
    for (int i = 0; i < n; ++i) padded[i] = p[i];
    return Widen(padded);
  }
};

/// out[c * Rows + r] = sum16(fma(row r, column c, lane)) over n elements; column c is at x + c * x_stride.
template <class V, class Row, int Rows, int Columns>
inline void dot_tile(float* out, const typename Row::Element* const* row, const float* x, int64_t x_stride,
                     int64_t n) {
  static_assert(Rows * Columns % 4 == 0);
  V acc[Columns * Rows];
  for (V& a : acc) a = V::splat(0.0f);
  V column[Columns];
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int c = 0; c < Columns; ++c) column[c] = V::load(x + c * x_stride + i);
    for (int r = 0; r < Rows; ++r) {
      const V w = Row::load(row[r] + i);
      for (int c = 0; c < Columns; ++c) acc[c * Rows + r] = V::fma(w, column[c], acc[c * Rows + r]);
    }
  }
  if (const int rest = int(n - i); rest != 0) {
    for (int c = 0; c < Columns; ++c) column[c] = V::load_first(x + c * x_stride + i, rest);
    for (int r = 0; r < Rows; ++r) {
      const V w = Row::load_first(row[r] + i, rest);
      for (int c = 0; c < Columns; ++c) {
        V& a = acc[c * Rows + r];
        a = V::select_first(V::fma(w, column[c], a), a, rest);
      }
    }
  }
  for (int k = 0; k < Columns * Rows; k += 4) V::sum4(acc + k, out + k);
}

/// A block of rows times Columns columns; y[c * y_stride + r] for r < rows <= row_block. row[] has row_block
/// pointers, the last real row repeated in a short block.
template <class V, class Row, int Columns>
void dot_block(float* y, int64_t y_stride, const typename Row::Element* const* row, int rows, const float* x,
               int64_t x_stride, int64_t n) {
  constexpr int tile_rows = Columns == 1 ? row_block : V::tile_rows;
  for (int r0 = 0; r0 < rows; r0 += tile_rows) {
    float out[Columns * tile_rows];
    dot_tile<V, Row, tile_rows, Columns>(out, row + r0, x, x_stride, n);
    for (int c = 0; c < Columns; ++c) {
      for (int r = 0; r < tile_rows && r0 + r < rows; ++r) y[c * y_stride + r0 + r] = out[c * tile_rows + r];
    }
  }
}

/// y[c * y_stride + r] for rows r and columns c of any number. Rows are at w + r * w_stride (elements).
template <class V, class Row>
void dots(float* y, int64_t y_stride, const typename Row::Element* w, int64_t w_stride, int64_t rows,
          const float* x, int64_t x_stride, int64_t columns, int64_t n) {
  for (int64_t r = 0; r < rows; r += row_block) {
    const int block = rows - r < row_block ? int(rows - r) : row_block;
    const typename Row::Element* row[row_block];
    for (int i = 0; i < row_block; ++i) row[i] = w + (r + (i < block ? i : block - 1)) * w_stride;
    int64_t c = 0;
    for (; c + V::tile_columns <= columns; c += V::tile_columns) {
      dot_block<V, Row, V::tile_columns>(y + c * y_stride + r, y_stride, row, block, x + c * x_stride,
                                         x_stride, n);
    }
    const int64_t rest = columns - c;
    float* y_rest = y + c * y_stride + r;
    const float* x_rest = x + c * x_stride;
    if (rest == 1) dot_block<V, Row, 1>(y_rest, y_stride, row, block, x_rest, x_stride, n);
    if constexpr (V::tile_columns > 2) {
      if (rest == 2) dot_block<V, Row, 2>(y_rest, y_stride, row, block, x_rest, x_stride, n);
      if (rest == 3) dot_block<V, Row, 3>(y_rest, y_stride, row, block, x_rest, x_stride, n);
    }
  }
}

}  // namespace minfer::cpu
