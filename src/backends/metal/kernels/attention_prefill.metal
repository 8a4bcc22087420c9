// Attention of many queries: a threadgroup takes 8 queries of one head through the KV rows they see, 64 rows at a time,
// on 8x8 simdgroup matrices, with the softmax computed as it goes. Nothing is rounded to half.
//
// Tiles of rows count from row 0, and the numbers of two queries meet only where one of them is a zero. So a query's
// result does not depend, to the bit, on which others share its launch or its threadgroup.
#include <metal_stdlib>
using namespace metal;
#include "attention.h"
#include "attention_prefill_args.h"

// Where a thread stands.
struct Place {
  ushort index, simdgroup, lane;
};

// Up to eight consecutive KV rows, from a head's first column on.
template <typename T>
struct KvRows {
  device const T* data;
  ulong stride;
  int count;
};

// Columns `column` to + 7 of the rows as a matrix, zeros below the last row.
//
// Eight rows that all exist are read where they are. Of a threadgroup's rows, at most the last eight are cut short:
// they go through 64 elements of threadgroup memory, matrix by matrix. A buffer with padded copies of the last 64 rows
// would do as well, but costs each layer a dispatch and a barrier. Reading the missing rows and masking them would
// not: nobody wrote them, and zero times a NaN is a NaN.
template <typename T, bool TRANSPOSE>
inline void load_block(thread simdgroup_matrix<T, 8, 8>& m, KvRows<T> rows, int column, threadgroup T* stage,
                       ushort lane) {
  if (rows.count >= 8) {
    simdgroup_load(m, rows.data + column, rows.stride, ulong2(0, 0), TRANSPOSE);
  } else {
    typedef vec<T, 2> pair;
    const int row = lane / 4, at = lane % 4 * 2;
    pair values = pair(T(0));
    if (row < rows.count) values = *(device const pair*)(rows.data + row * rows.stride + column + at);
    simdgroup_barrier(mem_flags::mem_threadgroup);  // the matrix before this one has been read
    *(threadgroup pair*)(stage + row * 8 + at) = values;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_load(m, stage, 8, ulong2(0, 0), TRANSPOSE);
  }
}

// The queries that exist, and zeros.
template <short D>
inline void load_queries(device const float* from, ulong stride, int count, threadgroup float* queries, Place at) {
  for (int i = at.index; i < prefill_queries * D / 4; i += prefill_simdgroups * 32) {
    const int row = i / (D / 4), column = i % (D / 4) * 4;
    float4 x = 0.0f;
    if (row < count) x = *(device const float4*)(from + row * stride + column);
    *(threadgroup float4*)(queries + row * (D + prefill_row_padding) + column) = x;
  }
}

// scores = queries x keys, unscaled. `rows`: from the tile's first row on, all that any query sees. Each simdgroup
// takes every fourth block of eight rows.
template <short D, typename T>
inline void score_tile(threadgroup const float* queries, KvRows<T> rows, threadgroup float* scores,
                       threadgroup T* stage, Place at) {
  const short blocks = (min(int(prefill_rows), rows.count) + 7) / 8;
  for (short b = at.simdgroup; b < blocks; b += prefill_simdgroups) {
    const KvRows<T> block = {rows.data + b * 8 * rows.stride, rows.stride, rows.count - b * 8};
    simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (short column = 0; column < D; column += 8) {
      simdgroup_float8x8 mq;
      simdgroup_matrix<T, 8, 8> mk;
      simdgroup_load(mq, queries + column, D + prefill_row_padding);
      load_block<T, true>(mk, block, column, stage, at.lane);
      simdgroup_multiply_accumulate(sum, mq, mk, sum);
    }
    simdgroup_store(sum, scores + b * 8, prefill_score_stride);
  }
}

// A query's online softmax.
struct Running {
  float most, total;
};

// Replaces a query's scores of a tile by their weights. `seen`: how many of the rows the query sees; the others may never
// have been written, and get zeros. Returns what the sums so far are to be multiplied with. A lane takes two columns.
inline float weigh_scores(thread Running& state, threadgroup float* scores, int seen, float scale, ushort lane) {
  threadgroup float2* pair = (threadgroup float2*)scores + lane;
  const bool first = lane * 2 < seen, second = lane * 2 + 1 < seen;
  float2 s = masked_score;
  if (first) s.x = pair->x * scale;
  if (second) s.y = pair->y * scale;
  const float most = max(state.most, simd_max(max(s.x, s.y)));
  const float factor = exp(state.most - most);
  const float2 weights = float2(first ? exp(s.x - most) : 0.0f, second ? exp(s.y - most) : 0.0f);
  state.total = state.total * factor + simd_sum(weights.x + weights.y);
  state.most = most;
  *pair = weights;
  return factor;
}

// out = factors x out + weights x values. A simdgroup has the columns 8 (simdgroup + 4 i) .. + 7 in out[i].
template <short D, typename T, short COUNT>
inline void add_tile(thread simdgroup_float8x8* out, threadgroup const float* factors,
                     threadgroup const float* weights, KvRows<T> rows, threadgroup T* stage, Place at) {
  simdgroup_float8x8 factor;
  simdgroup_load(factor, factors, 8);
  for (short i = 0; i < COUNT; i++) simdgroup_multiply(out[i], factor, out[i]);

  const short blocks = (min(int(prefill_rows), rows.count) + 7) / 8;
  for (short b = 0; b < blocks; b++) {
    const KvRows<T> block = {rows.data + b * 8 * rows.stride, rows.stride, rows.count - b * 8};
    simdgroup_float8x8 mw;
    simdgroup_load(mw, weights + b * 8, prefill_score_stride);
    for (short i = 0; i < COUNT; i++) {
      const short column = (at.simdgroup + prefill_simdgroups * i) * 8;
      if (column < D) {
        simdgroup_matrix<T, 8, 8> mv;
        load_block<T, false>(mv, block, column, stage, at.lane);
        simdgroup_multiply_accumulate(out[i], mw, mv, out[i]);
      }
    }
  }
}

// The outputs of the queries that exist, divided by their sums of weights.
template <short D>
inline void store_outputs(threadgroup const float* outputs, threadgroup const float* inverse, device float* to,
                          ulong stride, int count, Place at) {
  for (int i = at.index; i < count * D / 4; i += prefill_simdgroups * 32) {
    const int row = i / (D / 4), column = i % (D / 4) * 4;
    threadgroup const float* from = outputs + row * (D + prefill_row_padding) + column;
    *(device float4*)(to + row * stride + column) = *(threadgroup const float4*)from * inverse[row];
  }
}

// Scores alternate between two places, which saves a barrier a tile: whoever writes the one has passed a barrier that
// all reach only after they have read it.
template <short D, typename T>
kernel void prefill_flash(constant PrefillFlashArgs& args [[buffer(0)]],
                          device const float* q [[buffer(1)]],
                          device const T* k [[buffer(2)]],
                          device const T* v [[buffer(3)]],
                          device const int* positions [[buffer(4)]],
                          device float* y [[buffer(5)]],
                          threadgroup float* scratch [[threadgroup(0)]],
                          uint3 tgpig [[threadgroup_position_in_grid]],  // x: eight queries, y: head
                          ushort tiitg [[thread_index_in_threadgroup]],
                          ushort tiisg [[thread_index_in_simdgroup]],
                          ushort sgitg [[simdgroup_index_in_threadgroup]]) {
  constexpr short SG = prefill_simdgroups, own_queries = prefill_queries / SG, own_columns = (D / 8 + SG - 1) / SG;
  threadgroup float* queries = scratch;  // later the outputs
  threadgroup float* scores = queries + prefill_queries * (D + prefill_row_padding);
  threadgroup float* factors = scores + 2 * prefill_scores;  // on the diagonal of a matrix
  threadgroup float* stages = factors + prefill_matrix;
  threadgroup float* inverse = stages + SG * prefill_matrix;
  threadgroup T* stage = (threadgroup T*)(stages + sgitg * prefill_matrix);

  const Place at = {tiitg, sgitg, tiisg};
  const int first = tgpig.x * prefill_queries, count = min(int(prefill_queries), args.tokens - first);
  const int head = tgpig.y, kv_column = head / args.heads_per_kv_head * D;

  // Lane i < 8 knows the position of query i. One that does not exist sees nothing.
  const int position = tiisg < count ? positions[first + tiisg] : -1;
  const int visible = simd_max(position) + 1;

  load_queries<D>(q + ulong(first) * args.q_stride + head * D, args.q_stride, count, queries, at);
  if (tiitg < prefill_matrix) factors[tiitg] = 0.0f;
  simdgroup_float8x8 out[own_columns];
  for (short i = 0; i < own_columns; i++) out[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  Running states[own_queries];
  for (short i = 0; i < own_queries; i++) states[i] = {masked_score, 0.0f};
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (int tile = 0; tile * prefill_rows < visible; tile++) {
    const int row = tile * prefill_rows;
    const ulong offset = ulong(row) * args.kv_stride + kv_column;
    threadgroup float* tile_scores = scores + (tile & 1) * prefill_scores;

    const KvRows<T> keys = {k + offset, ulong(args.kv_stride), visible - row};
    score_tile<D, T>(queries, keys, tile_scores, stage, at);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (short i = 0; i < own_queries; i++) {
      const ushort query = sgitg + SG * i;
      const int seen = simd_shuffle(position, query) + 1 - row;
      const float factor =
          weigh_scores(states[i], tile_scores + query * prefill_score_stride, seen, args.scale, tiisg);
      if (tiisg == 0) factors[query * 9] = factor;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const KvRows<T> values = {v + offset, ulong(args.kv_stride), visible - row};
    add_tile<D, T, own_columns>(out, factors, tile_scores, values, stage, at);
  }

  // The queries, whose place the outputs take, were last read before the last tile's first barrier.
  for (short i = 0; i < own_columns; i++) {
    const short column = (sgitg + SG * i) * 8;
    if (column < D) simdgroup_store(out[i], queries + column, D + prefill_row_padding);
  }
  for (short i = 0; i < own_queries; i++)
    if (tiisg == 0) inverse[sgitg + SG * i] = states[i].total == 0.0f ? 0.0f : 1.0f / states[i].total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  store_outputs<D>(queries, inverse, y + ulong(first) * args.y_stride + head * D, args.y_stride, count, at);
}

#define PREFILL_FLASH(width)                                                                  \
  template [[host_name("prefill_flash_f32_hd" #width)]] kernel decltype(prefill_flash<width, float>) \
      prefill_flash<width, float>;                                                            \
  template [[host_name("prefill_flash_f16_hd" #width)]] kernel decltype(prefill_flash<width, half>) \
      prefill_flash<width, half>;
PREFILL_FLASH(64)
PREFILL_FLASH(80)
PREFILL_FLASH(96)
PREFILL_FLASH(128)
PREFILL_FLASH(256)
