#pragma once
#include "backends/cpu/isa/weigh_tile.h"

/// Attention of many queries over one tile: the operations of attention_kernels.h with sixteen queries in the
/// lanes instead of sixteen elements of one. Then no sum goes across lanes, and the softmax step of sixteen
/// queries costs as much as that of one; only the queries have to be laid out for it, once for all tiles.
namespace minfer::cpu {

template <class V>
using WideRows = TileRows<RowF32<V>, true>;

/// Transposes 16 x 16 values: each round moves the lowest bit of a value's place to the top, so four rounds
/// swap row and column.
template <class V>
void transpose16(float* block) {
  for (int round = 0; round < 4; ++round) {
    V even[lanes / 2], odd[lanes / 2];
    for (int i = 0; i < lanes / 2; ++i) V::load_pairs(block + 2 * i * lanes, even[i], odd[i]);
    for (int i = 0; i < lanes / 2; ++i) {
      V::store(block + i * lanes, even[i]);
      V::store(block + (lanes / 2 + i) * lanes, odd[i]);
    }
  }
}

template <class V>
V load_some(const float* p, int n) {
  return n == lanes ? V::load(p) : V::load_first(p, n);
}

template <class V>
void store_some(float* p, V a, int n) {
  if (n == lanes) {
    V::store(p, a);
  } else {
    V::store_first(p, a, n);
  }
}

/// The order in which a tile of scores adds sum16's chains: its tree walked depth first. Its own inverse.
inline constexpr int chain_order[lanes] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

/// Elements of each chain, the last of which some chains lack.
template <class V>
int64_t chain_length(int64_t head_dim) {
  return (head_dim + lanes - 1) / lanes;
}

/// Sixteen queries take sixteen chains in chain_order, each chain_length vectors: a tile reads them in a row.
template <class V>
void lay_queries(float* laid, const float* q, int64_t q_stride, int64_t n, int64_t head_dim) {
  const int64_t length = chain_length<V>(head_dim);
  for (int64_t i = 0; i < n; i += lanes) {
    for (int64_t link = 0; link < length; ++link) {
      const int64_t d = link * lanes;
      const int width = head_dim - d < lanes ? int(head_dim - d) : lanes;
      alignas(64) float block[lanes * lanes] = {};
      for (int64_t c = 0; c < lanes && i + c < n; ++c) {
        V::store(block + c * lanes, load_some<V>(q + (i + c) * q_stride + d, width));
      }
      transpose16<V>(block);
      for (int chain = 0; chain < lanes; ++chain) {
        V::store(laid + (chain_order[chain] * length + link) * lanes, V::load(block + chain * lanes));
      }
    }
    laid += lanes * length * lanes;
  }
}

inline constexpr int score_keys = 4;  ///< keys of a tile of scores

/// Scores of score_keys keys with Vectors times sixteen queries: that of key r and vector v at scores[(v *
/// attn_tile_rows + r) * lanes]. sum16's lane l is a chain of fma over elements l, l + 16, ... Depth first,
/// few of its tree's sums wait at a time: chains 0 and 8 are added, then 4 and 12, then those two sums, and
/// so on. Unrolled, because a jump that depends on the leaf is often mispredicted.
template <class V, int Vectors>
[[gnu::noinline]] void score_tile(float* scores, const float* laid, int64_t head_dim, const float* const* key,
                                  float scale) {
  constexpr int sums = Vectors * score_keys;
  const int64_t length = chain_length<V>(head_dim);
  alignas(64) float waiting[5][sums * lanes];  // [i]: sums of 2^i chains
#pragma GCC unroll 16
  for (int leaf = 0; leaf < lanes; ++leaf) {
    V acc[sums];
    for (V& a : acc) a = V::splat(0.0f);
    const float* link = laid + leaf * length * lanes;
    for (int64_t d = chain_order[leaf]; d < head_dim; d += lanes, link += lanes) {
      V queries[Vectors];
      for (int v = 0; v < Vectors; ++v) queries[v] = V::load(link + v * lanes * length * lanes);
      for (int r = 0; r < score_keys; ++r) {
        const V element = V::splat(key[r][d]);
        for (int v = 0; v < Vectors; ++v) {
          acc[v * score_keys + r] = V::fma(element, queries[v], acc[v * score_keys + r]);
        }
      }
    }
    int level = 0;
#pragma GCC unroll 4
    for (; leaf >> level & 1; ++level) {
      for (int i = 0; i < sums; ++i) acc[i] = V::add(V::load(waiting[level] + i * lanes), acc[i]);
    }
    for (int i = 0; i < sums; ++i) V::store(waiting[level] + i * lanes, acc[i]);
  }
  for (int v = 0; v < Vectors; ++v) {
    for (int r = 0; r < score_keys; ++r) {
      const V dot = V::load(waiting[4] + (v * score_keys + r) * lanes);
      V::store(scores + (v * attn_tile_rows + r) * lanes, V::mul(dot, V::splat(scale)));
    }
  }
}

/// Scores of the first `rows` keys, rounded up to score_keys: the last key stands in for what is missing.
template <class V, int Vectors>
void score_keys_of(float* scores, const float* laid, int64_t head_dim, const WideRows<V>& keys, int64_t rows,
                   float scale) {
  for (int64_t j = 0; j < rows; j += score_keys) {
    const float* key[score_keys];
    for (int64_t r = 0; r < score_keys; ++r) key[r] = keys.at(j + r < rows ? j + r : rows - 1);
    score_tile<V, Vectors>(scores + j * lanes, laid, head_dim, key, scale);
  }
}

/// Folds sixteen vectors into the first in the order in which sum16 adds lanes.
template <class V, class F>
[[gnu::always_inline]] inline V fold_tree(V* a, F f) {
  for (int step = lanes / 2; step > 0; step /= 2) {
    for (int i = 0; i < step; ++i) a[i] = f(a[i], a[i + step]);
  }
  return a[0];
}

/// One softmax step of sixteen queries: turns their scores p (attn_tile_rows vectors) into weights and
/// advances m and s. Returns what o is to be multiplied by. If Ragged, lane i sees its first visible[i] rows
/// alone, and what p has beyond becomes zero.
template <class V, bool Ragged>
V advance_states(float* p, V visible, V& m, V& s) {
  const auto see = [&](V x, int row, float beyond) {
    return Ragged ? V::replace_below(x, visible, float(row) + 0.5f, V::splat(beyond)) : x;
  };
  const auto score = [&](int row) { return see(V::load(p + row * lanes), row, -infinity); };
  V fold[lanes];
  for (int j = 0; j < lanes; ++j) fold[j] = V::max(score(j), score(j + lanes));
  const V old_m = m;
  m = V::max(m, fold_tree(fold, [](V a, V b) { return V::max(a, b); }));
  const auto weigh = [&](int row) {
    const V weight = see(exp16(V::sub(V::load(p + row * lanes), m)), row, 0.0f);
    V::store(p + row * lanes, weight);
    return weight;
  };
  for (int j = 0; j < lanes; ++j) fold[j] = V::add(weigh(j), weigh(j + lanes));
  // Nothing is carried over from a state that has seen nothing; infinity minus infinity would be NaN.
  const V carry = exp16(V::replace_below(V::sub(old_m, m), old_m, lowest, V::splat(-infinity)));
  s = V::add(V::mul(s, carry), fold_tree(fold, [](V a, V b) { return V::add(a, b); }));
  return carry;
}

/// Softmax and values of n <= 16 queries, whose scores are in p.
template <class V>
void finish_sixteen(float* p, int n, const WideRows<V>& values, int64_t head_dim, const int32_t* visible,
                    float* m, float* s, float* o, int64_t o_stride) {
  alignas(64) float seen[lanes] = {}, carry[lanes];
  int32_t least = visible[0], most = 0;
  for (int i = 0; i < n; ++i) {
    seen[i] = float(visible[i]);
    least = visible[i] < least ? visible[i] : least;
    most = visible[i] > most ? visible[i] : most;
  }
  if (most == 0) return;
  V m_lanes = load_some<V>(m, n), s_lanes = load_some<V>(s, n);
  const auto advance = least == attn_tile_rows ? advance_states<V, false> : advance_states<V, true>;
  V::store(carry, advance(p, V::load(seen), m_lanes, s_lanes));
  store_some(m, m_lanes, n);
  store_some(s, s_lanes, n);
  weigh_queries<V>(o, o_stride, Weights<1, lanes>{p, carry}, values, visible, n, head_dim);
}

/// attend_wide for n <= V::score_vectors * 16 queries.
template <class V>
void attend_vectors(const float* laid, int n, const WideRows<V>& keys, const WideRows<V>& values,
                    int64_t head_dim, float scale, const int32_t* visible, float* m, float* s, float* o,
                    int64_t o_stride) {
  int32_t rows = 0;
  for (int i = 0; i < n; ++i) rows = visible[i] > rows ? visible[i] : rows;
  if (rows == 0) return;
  alignas(64) float p[V::score_vectors * lanes * attn_tile_rows];
  const int vectors = (n + lanes - 1) / lanes;
  if (vectors == V::score_vectors) {
    score_keys_of<V, V::score_vectors>(p, laid, head_dim, keys, rows, scale);
  } else if constexpr (V::score_vectors == 3) {
    if (vectors == 2) score_keys_of<V, 2>(p, laid, head_dim, keys, rows, scale);
    if (vectors == 1) score_keys_of<V, 1>(p, laid, head_dim, keys, rows, scale);
  }
  for (int i = 0; i < n; i += lanes) {
    finish_sixteen<V>(p + i * attn_tile_rows, n - i < lanes ? n - i : lanes, values, head_dim, visible + i,
                      m + i, s + i, o + i * o_stride, o_stride);
  }
}

template <class V>
void attend_wide(const float* laid, int64_t n_q, const KvTile& tile, int64_t head_dim, float scale,
                 const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  const WideRows<V> keys(tile.k, tile), values(tile.v, tile);
  const auto parts = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
  for (int64_t i = 0, count; i < n_q; i += count) {
    const int64_t vectors = parts(n_q - i, lanes);
    count = lanes * parts(vectors, parts(vectors, V::score_vectors));  // four as two and two
    const int64_t n = n_q - i < count ? n_q - i : count;
    attend_vectors<V>(laid + i * chain_length<V>(head_dim) * lanes, int(n), keys, values, head_dim, scale,
                      visible + i, m + i, s + i, o + i * o_stride, o_stride);
  }
}

}  // namespace minfer::cpu
