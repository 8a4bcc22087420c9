#pragma once
#include "backends/cpu/isa/dot_tile.h"
#include "backends/cpu/isa/kernels.h"

/// Attention over one tile of keys and values: scores by dot tiles, a softmax step a query, then the values
/// weighted in register tiles of several queries by several vectors of o.
namespace minfer::cpu {

inline constexpr int query_block = 8;  ///< queries whose scores of one tile are held at once

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

/// o[c] = o[c] * carry[c], then fma(p[c][j], v_j, o[c]) for j < rows in order: Chunks * 16 elements of
/// Columns queries.
template <class V, int Columns, int Chunks>
inline void weigh_tile(float* o, int64_t o_stride, const float* p, const float* carry, const float* v,
                       int64_t v_stride, int64_t rows) {
  V acc[Columns * Chunks];
  for (int c = 0; c < Columns; ++c) {
    for (int d = 0; d < Chunks; ++d) {
      acc[c * Chunks + d] = V::mul(V::load(o + c * o_stride + d * lanes), V::splat(carry[c]));
    }
  }
  for (int64_t j = 0; j < rows; ++j, v += v_stride) {
    V value[Chunks];
    for (int d = 0; d < Chunks; ++d) value[d] = V::load(v + d * lanes);
    for (int c = 0; c < Columns; ++c) {
      const V weight = V::splat(p[c * attn_tile_rows + j]);
      for (int d = 0; d < Chunks; ++d) acc[c * Chunks + d] = V::fma(weight, value[d], acc[c * Chunks + d]);
    }
  }
  for (int c = 0; c < Columns; ++c) {
    for (int d = 0; d < Chunks; ++d) V::store(o + c * o_stride + d * lanes, acc[c * Chunks + d]);
  }
}

/// The same for the last n < 16 elements of one query.
template <class V>
void weigh_rest(float* o, const float* p, float carry, const float* v, int64_t v_stride, int64_t rows,
                int n) {
  V acc = V::mul(V::load_first(o, n), V::splat(carry));
  for (int64_t j = 0; j < rows; ++j) acc = V::fma(V::splat(p[j]), V::load_first(v + j * v_stride, n), acc);
  V::store_first(o, acc, n);
}

template <class V, int Columns>
void weigh(float* o, int64_t o_stride, const float* p, const float* carry, const float* v, int64_t v_stride,
           int64_t rows, int64_t head_dim) {
  constexpr int chunks = Columns == 1 ? 4 : V::weigh_chunks;
  int64_t d = 0;
  for (; d + chunks * lanes <= head_dim; d += chunks * lanes) {
    weigh_tile<V, Columns, chunks>(o + d, o_stride, p, carry, v + d, v_stride, rows);
  }
  for (; d + lanes <= head_dim; d += lanes) {
    weigh_tile<V, Columns, 1>(o + d, o_stride, p, carry, v + d, v_stride, rows);
  }
  const int rest = int(head_dim - d);
  for (int c = 0; rest != 0 && c < Columns; ++c) {
    weigh_rest<V>(o + c * o_stride + d, p + c * attn_tile_rows, carry[c], v + d, v_stride, rows, rest);
  }
}

/// weigh for Columns queries of which each sees its own number of rows: the rows that all see together, then
/// what is left of each.
template <class V, int Columns>
void weigh_ragged(float* o, int64_t o_stride, const float* p, const float* carry, const KvTile& tile,
                  const int32_t* visible, int64_t head_dim) {
  int32_t shared = visible[0];
  for (int c = 1; c < Columns; ++c) shared = visible[c] < shared ? visible[c] : shared;
  weigh<V, Columns>(o, o_stride, p, carry, tile.v, tile.stride, shared, head_dim);
  const float unchanged = 1.0f;
  for (int c = 0; c < Columns; ++c) {
    if (visible[c] == shared) continue;
    weigh<V, 1>(o + c * o_stride, o_stride, p + c * attn_tile_rows + shared, &unchanged,
                tile.v + shared * tile.stride, tile.stride, visible[c] - shared, head_dim);
  }
}

/// attend_f32 for n <= query_block queries.
template <class V>
void attend_block(const float* q, int64_t q_stride, int n, const KvTile& tile, int64_t head_dim, float scale,
                  const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  int32_t rows = 0;
  for (int i = 0; i < n; ++i) rows = visible[i] > rows ? visible[i] : rows;
  if (rows == 0) return;
  alignas(64) float p[query_block * attn_tile_rows];
  float carry[lanes] = {};  // of which query_block are in use
  dots<V, RowF32<V>>(p, attn_tile_rows, tile.k, tile.stride, rows, q, q_stride, n, head_dim);
  for (int i = 0; i < n; ++i) {
    if (visible[i] != 0) carry[i] = advance_max<V>(p + i * attn_tile_rows, visible[i], scale, m[i]);
  }
  V::store(carry, exp16(V::load(carry)));  // 1 for a query that sees nothing
  for (int i = 0; i < n; ++i) {
    if (visible[i] != 0) advance_sum<V>(p + i * attn_tile_rows, visible[i], m[i], carry[i], s[i]);
  }
  const auto weigh_from = [&]<int Columns>(int i) {
    weigh_ragged<V, Columns>(o + i * o_stride, o_stride, p + i * attn_tile_rows, carry + i, tile, visible + i,
                             head_dim);
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
void attend_f32(const float* q, int64_t q_stride, int64_t n_q, const KvTile& tile, int64_t head_dim,
                float scale, const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  for (int64_t i = 0; i < n_q; i += query_block) {
    const int n = n_q - i < query_block ? int(n_q - i) : query_block;
    attend_block<V>(q + i * q_stride, q_stride, n, tile, head_dim, scale, visible + i, m + i, s + i,
                    o + i * o_stride, o_stride);
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
