#pragma once
#include "backends/cpu/isa/float_kernels.h"

/// Register tiles of dots, behind matmul_f* and attention scores: each row and each column is loaded once for
/// several dots. Every dot has sum16's order, whatever tile it falls in.
namespace minfer::cpu {

inline constexpr int row_block = 4;          ///< rows of a tile; the last block repeats its last row
inline constexpr int64_t dot_stretch = 512;  ///< elements of a tile's rows and columns that fit the L1 cache

/// How a row's elements from i on become f32 lanes: a register of them, or a ragged tail of n < 16.
template <class V>
struct RowF32 {
  using Element = float;
  static constexpr int unit = 1, unit_elements = 1;  ///< so many values take so many elements
  static typename V::Part load_part(const float* row, int64_t i) { return V::load_part(row + i); }
  static V load_first(const float* row, int64_t i, int n) { return V::load_first(row + i, n); }
};

/// Halves and bfloat16s; Format is V::F16 or V::BF16.
template <class V, class Format>
struct RowHalf {
  using Element = uint16_t;
  static constexpr int unit = 1, unit_elements = 1;
  static typename V::Part load_part(const uint16_t* row, int64_t i) { return Format::load_part(row + i); }
  static V load_first(const uint16_t* row, int64_t i, int n) {
    uint16_t padded[lanes] = {};
    for (int j = 0; j < n; ++j) padded[j] = row[i + j];
    float wide[lanes];
    constexpr int width = lanes / V::parts;
    for (int part = 0; part < V::parts; ++part)
      V::store_part(wide + part * width, load_part(padded, part * width));
    return V::load(wide);
  }
};

template <class V, class Row>
[[gnu::always_inline]] inline V load_lanes(const typename Row::Element* row, int64_t i) {
  V all;
  for (int p = 0; p < V::parts; ++p) V::set_part(all, p, Row::load_part(row, i + p * (lanes / V::parts)));
  return all;
}

/// Some of the registers of sixteen lanes (Parts of them, from `first`) of a tile over elements [begin, end).
/// Few at a time leave registers for more rows and columns; one column needs several to keep the fma units
/// busy. `Fresh` sums start from zero: acc is not set before.
template <bool Fresh, class V, class Row, int Columns, int Parts>
[[gnu::always_inline]] inline void dot_parts(V* acc, int first, const typename Row::Element* const* row,
                                             const float* x, int64_t x_stride, int64_t begin, int64_t end) {
  constexpr int width = lanes / V::parts, sums = Columns * row_block;
  typename V::Part sum[Parts * sums];
  for (int k = 0; k < Parts * sums; ++k) {
    sum[k] = V::part(Fresh ? V::splat(0.0f) : acc[k % sums], first + k / sums);
  }
  for (int64_t i = begin + first * width; i < end; i += lanes) {
    for (int p = 0; p < Parts; ++p) {
      typename V::Part column[Columns];
      for (int c = 0; c < Columns; ++c) {
        column[c] = V::load_part(x + c * x_stride + i + p * width);
        V::keep(column[c]);
      }
      for (int r = 0; r < row_block; ++r) {
        typename V::Part w = Row::load_part(row[r], i + p * width);
        if constexpr (Columns > 1) V::keep(w);
        for (int c = 0; c < Columns; ++c) {
          typename V::Part& a = sum[p * sums + c * row_block + r];
          a = V::fma_part(w, column[c], a);
        }
      }
    }
  }
  for (int k = 0; k < Parts * sums; ++k) V::set_part(acc[k % sums], first + k / sums, sum[k]);
}

/// out[c * out_stride + r] = sum16(fma(row r, column c, lane)) over n elements; column c is at x + c *
/// x_stride.
template <class V, class Row, int Columns>
inline void dot_tile(float* out, int64_t out_stride, const typename Row::Element* const* row, const float* x,
                     int64_t x_stride, int64_t n) {
  V acc[Columns * row_block];
  const int rest = int(n % lanes);
  const int64_t whole = n - rest;
  constexpr int together = Columns == 1 ? V::parts : 1;
  const int64_t first_end = whole < dot_stretch ? whole : dot_stretch;
  for (int part = 0; part < V::parts; part += together) {
    dot_parts<true, V, Row, Columns, together>(acc, part, row, x, x_stride, 0, first_end);
  }
  for (int64_t i = dot_stretch; i < whole; i += dot_stretch) {
    const int64_t end = whole - i < dot_stretch ? whole : i + dot_stretch;
    for (int part = 0; part < V::parts; part += together) {
      dot_parts<false, V, Row, Columns, together>(acc, part, row, x, x_stride, i, end);
    }
  }
  for (int r = 0; rest != 0 && r < row_block; ++r) {
    const V w = Row::load_first(row[r], whole, rest);
    for (int c = 0; c < Columns; ++c) {
      V& a = acc[c * row_block + r];
      a = V::select_first(V::fma(w, V::load_first(x + c * x_stride + whole, rest), a), a, rest);
    }
  }
  V::template sums<Columns>(acc, out, out_stride);
}

/// y[c * y_stride + r] for rows r and columns c of any number. Rows are at w + r * w_stride (elements).
template <class V, class Row>
void dots(float* y, int64_t y_stride, const typename Row::Element* w, int64_t w_stride, int64_t rows,
          const float* x, int64_t x_stride, int64_t columns, int64_t n) {
  for (int64_t r = 0; r < rows; r += row_block) {
    const int block = rows - r < row_block ? int(rows - r) : row_block;
    const typename Row::Element* row[row_block];
    for (int i = 0; i < row_block; ++i) row[i] = w + (r + (i < block ? i : block - 1)) * w_stride;
    const auto tile = [&]<int Columns>(int64_t c) {
      const float* columns_here = x + c * x_stride;
      float* y_here = y + c * y_stride + r;
      if (block == row_block) {
        dot_tile<V, Row, Columns>(y_here, y_stride, row, columns_here, x_stride, n);
        return c + Columns;
      }
      float out[Columns * row_block];
      dot_tile<V, Row, Columns>(out, row_block, row, columns_here, x_stride, n);
      for (int k = 0; k < Columns; ++k) {
        for (int i = 0; i < block; ++i) y_here[k * y_stride + i] = out[k * row_block + i];
      }
      return c + Columns;
    };
    int64_t c = 0;
    while (c + V::dot_columns <= columns) c = tile.template operator()<V::dot_columns>(c);
    if constexpr (V::dot_columns > 3) {
      if (c + 3 <= columns) c = tile.template operator()<3>(c);
    }
    if (c + 2 <= columns) c = tile.template operator()<2>(c);
    if (c < columns) tile.template operator()<1>(c);
  }
}

}  // namespace minfer::cpu
