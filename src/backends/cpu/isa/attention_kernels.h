#pragma once
#include "backends/cpu/isa/dot_tile.h"
#include "backends/cpu/isa/kernels.h"

/// Attention over one tile of keys and values: scores by dot tiles, a softmax step a query, then the values
/// weighted in register tiles of several queries by several vectors of o.
namespace minfer::cpu {

inline constexpr int query_block = 8;  ///< queries whose scores of one tile are held at once

/// Turns one query's dots into weights p (zero from `visible` on) and advances its m and s. Returns the
/// factor that o takes first. p has attn_tile_rows places.
template <class V>
float advance_softmax(float* p, int64_t visible, float scale, float& m, float& s) {
  static_assert(attn_tile_rows == 2 * lanes);
  scale_f32<V>(p, p, scale, visible);
  for (int64_t j = visible; j < attn_tile_rows; ++j) p[j] = -infinity;
  const V low = V::load(p), high = V::load(p + lanes);
  const float new_m = max1<V>(m, max_of_lanes(V::max(low, high)));
  const float carry = m == -infinity ? 0.0f : exp1<V>(m - new_m);
  V::store(p, exp16(V::sub(low, V::splat(new_m))));
  V::store(p + lanes, exp16(V::sub(high, V::splat(new_m))));
  for (int64_t j = visible; j < attn_tile_rows; ++j) p[j] = 0.0f;
  // The zeros change no lane: weights are not negative.
  s = s * carry + V::sum(V::add(V::load(p), V::load(p + lanes)));
  m = new_m;
  return carry;
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
  constexpr int chunks = Columns == 1 ? 4 : V::tile_chunks;
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
  float carry[query_block];
  dots<V, RowF32<V>>(p, attn_tile_rows, tile.k, tile.stride, rows, q, q_stride, n, head_dim);
  for (int i = 0; i < n; ++i) {
    carry[i] =
        visible[i] == 0 ? 1.0f : advance_softmax<V>(p + i * attn_tile_rows, visible[i], scale, m[i], s[i]);
  }
  const auto weigh_from = [&]<int Columns>(int i) {
    weigh_ragged<V, Columns>(o + i * o_stride, o_stride, p + i * attn_tile_rows, carry + i, tile, visible + i,
                             head_dim);
    return i + Columns;
  };
  int i = 0;
  while (i + V::tile_columns <= n) i = weigh_from.template operator()<V::tile_columns>(i);
  if constexpr (V::tile_columns > 2) {
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
