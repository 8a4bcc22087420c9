#pragma once
#include "backends/cpu/isa/dot_tile.h"
#include "backends/cpu/isa/kernels.h"

/// Attention over one tile of keys and values: scores by dot tiles, a softmax step a query, then the values
/// weighted in register tiles of several queries by several vectors of o. Each row is widened as it is used
/// and serves all queries of a register tile.
namespace minfer::cpu {

inline constexpr int query_block = 8;  ///< queries whose scores of one tile are held at once
inline constexpr int cache_line = 64;

/// Rows of packed keys or values: 34 bytes hold 32 elements and begin with their scale.
template <class V>
struct RowQ8 {
  using Element = std::byte;
  static constexpr int unit = 32, unit_elements = 34;
  static typename V::Part load_part(const std::byte* row, int64_t i) {
    return V::Q8::load_part(row + i / unit * unit_elements, i % unit);
  }
  static V load_first(const std::byte* row, int64_t i, int n) {
    return V::select_first(load_lanes<V, RowQ8>(row, i), V::splat(0.0f), n);  // blocks are always whole
  }
};

/// A tile's keys or values as rows of Row's elements.
template <class Row>
struct TileRows {
  const typename Row::Element* first;
  int64_t stride;  ///< in elements, which for packed rows are bytes
  size_t ahead;

  TileRows(const std::byte* bytes, const KvTile& tile)
      : first(reinterpret_cast<const typename Row::Element*>(bytes)),
        stride(int64_t(tile.stride / sizeof(*first))),
        ahead(tile.ahead) {}
  const typename Row::Element* at(int64_t row) const { return first + row * stride; }
  /// Asks for what lies `ahead` of elements [i, i + n) of a row.
  [[gnu::always_inline]] void fetch_ahead(const typename Row::Element* row, int64_t i, int64_t n) const {
    constexpr auto bytes = [](int64_t e) { return e / Row::unit * Row::unit_elements * sizeof(*first); };
    const auto* from = reinterpret_cast<const char*>(row) + ahead;
    for (size_t b = bytes(i); b < bytes(i + n); b += cache_line) __builtin_prefetch(from + b);
  }
};

/// p's sixteen lanes twice; lanes from `visible` on are `beyond`.
template <class V>
void hide_rows(V& low, V& high, int64_t visible, float beyond) {
  if (visible == attn_tile_rows) return;
  low = V::select_first(low, V::splat(beyond), visible < lanes ? int(visible) : lanes);
  high = V::select_first(high, V::splat(beyond), visible < lanes ? 0 : int(visible) - lanes);
}

/// Scales one query's dots into scores and advances its m. Returns the exponent of the factor that s and o
/// take.
template <class V>
float advance_max(float* p, int64_t visible, float scale, float& m) {
  static_assert(attn_tile_rows == 2 * lanes);
  for (int64_t j = visible; j < attn_tile_rows; ++j) p[j] = 0.0f;
  V low = V::mul(V::load(p), V::splat(scale)), high = V::mul(V::load(p + lanes), V::splat(scale));
  hide_rows(low, high, visible, -infinity);
  V::store(p, low);
  V::store(p + lanes, high);
  const float old_m = m;
  m = max1<V>(m, V::max_lanes(V::max(low, high)));
  return old_m == -infinity ? -infinity : old_m - m;
}

/// Turns one query's scores into weights p, zero from `visible` on, and advances its s.
template <class V>
void advance_sum(float* p, int64_t visible, float m, float carry, float& s) {
  V low = exp16(V::sub(V::load(p), V::splat(m))), high = exp16(V::sub(V::load(p + lanes), V::splat(m)));
  hide_rows(low, high, visible, 0.0f);
  V::store(p, low);
  V::store(p + lanes, high);
  s = s * carry + V::sum(V::add(low, high));  // the zeros change no lane: weights are not negative
}

/// o[c] = o[c] * carry[c], then fma(p[c][j], v_j, o[c]) for j < rows in order: elements [d, d + 16 * Chunks)
/// of Columns queries.
template <class V, class Row, int Columns, int Chunks>
inline void weigh_tile(float* o, int64_t o_stride, const float* p, const float* carry,
                       const TileRows<Row>& values, int64_t first_row, int64_t rows, int64_t d) {
  // Counted from the unit that holds element d, so that what depends on the unit alone is loaded once.
  const int64_t in_unit = Chunks * lanes % Row::unit == 0 ? 0 : d % Row::unit;
  const int64_t unit_at = (d - in_unit) / Row::unit * Row::unit_elements;
  o += d;
  V acc[Columns * Chunks];
  for (int c = 0; c < Columns; ++c) {
    for (int k = 0; k < Chunks; ++k) {
      acc[c * Chunks + k] = V::mul(V::load(o + c * o_stride + k * lanes), V::splat(carry[c]));
    }
  }
  for (int64_t j = first_row; j < first_row + rows; ++j) {
    const auto* row = values.at(j) + unit_at;
    values.fetch_ahead(row, 0, Chunks * lanes);
    V value[Chunks];
    for (int k = 0; k < Chunks; ++k) value[k] = load_lanes<V, Row>(row, in_unit + k * lanes);
    for (int c = 0; c < Columns; ++c) {
      const V weight = V::splat(p[c * attn_tile_rows + j]);
      for (int k = 0; k < Chunks; ++k) acc[c * Chunks + k] = V::fma(weight, value[k], acc[c * Chunks + k]);
    }
  }
  for (int c = 0; c < Columns; ++c) {
    for (int k = 0; k < Chunks; ++k) V::store(o + c * o_stride + k * lanes, acc[c * Chunks + k]);
  }
}

/// The same for the last n < 16 elements of one query, from d on.
template <class V, class Row>
void weigh_rest(float* o, const float* p, float carry, const TileRows<Row>& values, int64_t first_row,
                int64_t rows, int64_t d, int n) {
  V acc = V::mul(V::load_first(o + d, n), V::splat(carry));
  for (int64_t j = first_row; j < first_row + rows; ++j) {
    acc = V::fma(V::splat(p[j]), Row::load_first(values.at(j), d, n), acc);
  }
  V::store_first(o + d, acc, n);
}

template <class V, class Row, int Columns>
void weigh(float* o, int64_t o_stride, const float* p, const float* carry, const TileRows<Row>& values,
           int64_t first_row, int64_t rows, int64_t head_dim) {
  constexpr int chunks = Columns == 1 ? 4 : V::weigh_chunks;
  int64_t d = 0;
  for (; d + chunks * lanes <= head_dim; d += chunks * lanes) {
    weigh_tile<V, Row, Columns, chunks>(o, o_stride, p, carry, values, first_row, rows, d);
  }
  for (; d + lanes <= head_dim; d += lanes) {
    weigh_tile<V, Row, Columns, 1>(o, o_stride, p, carry, values, first_row, rows, d);
  }
  const int rest = int(head_dim - d);
  for (int c = 0; rest != 0 && c < Columns; ++c) {
    weigh_rest<V>(o + c * o_stride, p + c * attn_tile_rows, carry[c], values, first_row, rows, d, rest);
  }
}

/// weigh for Columns queries of which each sees its own number of rows: the rows that all see together, then
/// what is left of each.
template <class V, class Row, int Columns>
void weigh_ragged(float* o, int64_t o_stride, const float* p, const float* carry, const TileRows<Row>& values,
                  const int32_t* visible, int64_t head_dim) {
  int32_t shared = visible[0];
  for (int c = 1; c < Columns; ++c) shared = visible[c] < shared ? visible[c] : shared;
  weigh<V, Row, Columns>(o, o_stride, p, carry, values, 0, shared, head_dim);
  const float unchanged = 1.0f;
  for (int c = 0; c < Columns; ++c) {
    if (visible[c] == shared) continue;
    weigh<V, Row, 1>(o + c * o_stride, o_stride, p + c * attn_tile_rows, &unchanged, values, shared,
                     visible[c] - shared, head_dim);
  }
}

/// Dots of the first `rows` keys with n queries, while keys further on are fetched.
template <class V, class Row>
void dots_of_keys(float* p, const TileRows<Row>& keys, int64_t rows, const float* q, int64_t q_stride, int n,
                  int64_t head_dim) {
  for (int64_t r = 0; r < rows; r += row_block) {
    const int64_t count = rows - r < row_block ? rows - r : row_block;
    for (int64_t j = r; j < r + count; ++j) keys.fetch_ahead(keys.at(j), 0, head_dim);
    dots<V, Row>(p + r, attn_tile_rows, keys.at(r), keys.stride, count, q, q_stride, n, head_dim);
  }
}

/// attend for n <= query_block queries.
template <class V, class Row>
void attend_block(const float* q, int64_t q_stride, int n, const KvTile& tile, int64_t head_dim, float scale,
                  const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  int32_t rows = 0;
  for (int i = 0; i < n; ++i) rows = visible[i] > rows ? visible[i] : rows;
  if (rows == 0) return;
  alignas(64) float p[query_block * attn_tile_rows];
  float carry[lanes] = {};  // of which query_block are in use
  dots_of_keys<V>(p, TileRows<Row>(tile.k, tile), rows, q, q_stride, n, head_dim);
  for (int i = 0; i < n; ++i) {
    if (visible[i] != 0) carry[i] = advance_max<V>(p + i * attn_tile_rows, visible[i], scale, m[i]);
  }
  V::store(carry, exp16(V::load(carry)));  // 1 for a query that sees nothing
  for (int i = 0; i < n; ++i) {
    if (visible[i] != 0) advance_sum<V>(p + i * attn_tile_rows, visible[i], m[i], carry[i], s[i]);
  }
  const TileRows<Row> values(tile.v, tile);
  const auto weigh_from = [&]<int Columns>(int i) {
    weigh_ragged<V, Row, Columns>(o + i * o_stride, o_stride, p + i * attn_tile_rows, carry + i, values,
                                  visible + i, head_dim);
    return i + Columns;
  };
  int i = 0;
  while (i + V::weigh_columns <= n) i = weigh_from.template operator()<V::weigh_columns>(i);
  if constexpr (V::weigh_columns > 2) {
    if (i + 3 <= n) i = weigh_from.template operator()<3>(i);
    if (i + 2 <= n) i = weigh_from.template operator()<2>(i);
  }
  if (i < n) weigh_from.template operator()<1>(i);
}

template <class V>
void attend(const float* q, int64_t q_stride, int64_t n_q, const KvTile& tile, int64_t head_dim, float scale,
            const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  const auto block = tile.type == DType::f16    ? attend_block<V, RowHalf<V, typename V::F16>>
                     : tile.type == DType::q8_0 ? attend_block<V, RowQ8<V>>
                                                : attend_block<V, RowF32<V>>;
  for (int64_t i = 0; i < n_q; i += query_block) {
    const int n = n_q - i < query_block ? int(n_q - i) : query_block;
    block(q + i * q_stride, q_stride, n, tile, head_dim, scale, visible + i, m + i, s + i, o + i * o_stride,
          o_stride);
  }
}

template <class V>
void attend_merge_f32(float* m, float* s, float* o, float m2, float s2, const float* o2, int64_t head_dim) {
  if (m2 == -infinity) return;
  const float new_m = max1<V>(*m, m2);
  const float a = *m == -infinity ? 0.0f : exp1<V>(*m - new_m);
  const float b = exp1<V>(m2 - new_m);
  *m = new_m;
  *s = __builtin_fmaf(s2, b, *s * a);
  map_lanes<V>(o, o, o2, head_dim, [a = V::splat(a), b = V::splat(b)](V first, V second) {
    return V::fma(second, b, V::mul(first, a));
  });
}

}  // namespace minfer::cpu
