#pragma once
#include "backends/cpu/isa/weigh_tile.h"

/// Attention over one tile of keys and values: scores by dot tiles, a softmax step a query, then the values
/// weighted in register tiles of several queries by several vectors of o. Each row is widened as it is used
/// and serves all queries of a register tile.
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
  weigh_queries<V>(o, o_stride, Weights<attn_tile_rows, 1>{p, carry}, values, visible, n, head_dim);
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
