#pragma once
#include "backends/cpu/isa/dot_tile.h"
#include "backends/cpu/isa/kernels.h"

/// The second half of attention over a tile: its values weighted in register tiles of several queries by
/// several vectors of o. Each row is widened as it is used and serves all queries of a register tile.
namespace minfer::cpu {

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

/// A tile's keys or values as rows of RowOf's elements. A packed tile is in the cache already.
template <class RowOf, bool Packed = false>
struct TileRows {
  using Row = RowOf;
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
    if constexpr (Packed) return;
    constexpr auto bytes = [](int64_t e) { return e / Row::unit * Row::unit_elements * sizeof(*first); };
    const auto* from = reinterpret_cast<const char*>(row) + ahead;
    for (size_t b = bytes(i); b < bytes(i + n); b += cache_line) __builtin_prefetch(from + b);
  }
};

/// What several queries give the rows of a tile: query c gives row j p[c * QueryStep + j * RowStep] and takes
/// its o times carry[c] first.
template <int QueryStep, int RowStep>
struct Weights {
  const float* p;
  const float* carry;
  float at(int64_t c, int64_t j) const { return p[c * QueryStep + j * RowStep]; }
  Weights from(int64_t c) const { return {p + c * QueryStep, carry + c}; }
};

/// o[c] = o[c] * carry[c], then fma(weight of row j, v_j, o[c]) for rows in order: elements [d, d + 16 *
/// Chunks) of Columns queries.
/// A function of its own, and its short loops unrolled by order: inlined or looped, g++ 12 keeps sums in
/// memory.
template <class V, int Columns, int Chunks, class W, class Tile>
[[gnu::noinline]] void weigh_tile(float* o, int64_t o_stride, W weights, Tile values, int64_t first_row,
                                  int64_t rows, int64_t d) {
  using Row = typename Tile::Row;
  // Counted from the unit that holds element d, so that what depends on the unit alone is loaded once.
  const int64_t in_unit = Chunks * lanes % Row::unit == 0 ? 0 : d % Row::unit;
  const int64_t unit_at = (d - in_unit) / Row::unit * Row::unit_elements;
  o += d;
  V acc[Columns * Chunks];
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
#pragma GCC unroll 4
    for (int k = 0; k < Chunks; ++k) {
      acc[c * Chunks + k] = V::mul(V::load(o + c * o_stride + k * lanes), V::splat(weights.carry[c]));
    }
  }
  for (int64_t j = first_row; j < first_row + rows; ++j) {
    const auto* row = values.at(j) + unit_at;
    values.fetch_ahead(row, 0, Chunks * lanes);
    V value[Chunks];
    for (int k = 0; k < Chunks; ++k) value[k] = load_lanes<V, Row>(row, in_unit + k * lanes);
    for (int c = 0; c < Columns; ++c) {
      const V weight = V::splat(weights.at(c, j));
      for (int k = 0; k < Chunks; ++k) acc[c * Chunks + k] = V::fma(weight, value[k], acc[c * Chunks + k]);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
#pragma GCC unroll 4
    for (int k = 0; k < Chunks; ++k) V::store(o + c * o_stride + k * lanes, acc[c * Chunks + k]);
  }
}

/// The same for the last n < 16 elements of one query, from d on.
template <class V, class W, class Tile>
void weigh_rest(float* o, const W& weights, const Tile& values, int64_t first_row, int64_t rows, int64_t d,
                int n) {
  V acc = V::mul(V::load_first(o + d, n), V::splat(weights.carry[0]));
  for (int64_t j = first_row; j < first_row + rows; ++j) {
    acc = V::fma(V::splat(weights.at(0, j)), Tile::Row::load_first(values.at(j), d, n), acc);
  }
  V::store_first(o + d, acc, n);
}

template <class V, int Columns, class W, class Tile>
void weigh(float* o, int64_t o_stride, const W& weights, const Tile& values, int64_t first_row, int64_t rows,
           int64_t head_dim) {
  constexpr int chunks = Columns == 1 ? 4 : V::weigh_chunks;
  int64_t d = 0;
  for (; d + chunks * lanes <= head_dim; d += chunks * lanes) {
    weigh_tile<V, Columns, chunks>(o, o_stride, weights, values, first_row, rows, d);
  }
  for (; d + lanes <= head_dim; d += lanes) {
    weigh_tile<V, Columns, 1>(o, o_stride, weights, values, first_row, rows, d);
  }
  const int rest = int(head_dim - d);
  for (int c = 0; rest != 0 && c < Columns; ++c) {
    weigh_rest<V>(o + c * o_stride, weights.from(c), values, first_row, rows, d, rest);
  }
}

/// weigh for Columns queries of which each sees its own number of rows: the rows that all see together, then
/// what is left of each.
template <class V, int Columns, class W, class Tile>
void weigh_ragged(float* o, int64_t o_stride, const W& weights, const Tile& values, const int32_t* visible,
                  int64_t head_dim) {
  int32_t shared = visible[0];
  for (int c = 1; c < Columns; ++c) shared = visible[c] < shared ? visible[c] : shared;
  weigh<V, Columns>(o, o_stride, weights, values, 0, shared, head_dim);
  const float unchanged = 1.0f;
  for (int c = 0; c < Columns; ++c) {
    if (visible[c] == shared) continue;
    W left = weights.from(c);
    left.carry = &unchanged;
    weigh<V, 1>(o + c * o_stride, o_stride, left, values, shared, visible[c] - shared, head_dim);
  }
}

/// The values of a tile for n queries, of which each sees its own number of rows.
template <class V, class W, class Tile>
void weigh_queries(float* o, int64_t o_stride, const W& weights, const Tile& values, const int32_t* visible,
                   int n, int64_t head_dim) {
  const auto weigh_from = [&]<int Columns>(int i) {
    weigh_ragged<V, Columns>(o + i * o_stride, o_stride, weights.from(i), values, visible + i, head_dim);
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

}  // namespace minfer::cpu
