// What follows the q, k and v matmuls of one token, in one pass: biases or norms of q and k, rope of q and k,
// and the rows of k and v in their cell. The arithmetic is that of the separate kernels, by the same
// functions.
#include <metal_stdlib>
using namespace metal;
#include "kv_rows.h"
#include "norm.h"
#include "qkv_epilogue_args.h"
#include "quantise_q8_0.h"
#include "rope_args.h"
#include "rope.h"

constant constexpr int most_heads_a_threadgroup = 8;

/// Stores values [column, column + count) of a row; every thread of the threadgroup comes here.
template <class Rows>
inline void store_columns(device uchar* row, int column, threadgroup const float* values, int count,
                          int thread_index, int threads) {
  for (int i = thread_index; i < count; i += threads) Rows::store(row, column + i, values[i]);
}
template <>
inline void store_columns<RowsQ8_0>(device uchar* row, int column, threadgroup const float* values, int count,
                                    int thread_index, int threads) {
  const int lane = thread_index % 32;
  for (int at = thread_index - lane; at < count; at += threads) {
    store_block_q8_0(row + (column + at) / 32 * 34, values[at + lane], lane);
  }
}

// y: q, k and v one after the other. Grid: threadgroups of q's heads, then of k's, then of v's. Threadgroup
// memory: the heads' values.
template <class Rows>
kernel [[max_total_threads_per_threadgroup(256)]] void qkv_epilogue(
    constant QkvEpilogueArgs& args [[buffer(0)]],
    device float* y [[buffer(1)]],
    device const int* positions [[buffer(2)]],
    device const RopeFrequency* frequencies [[buffer(3)]],
    device const int* cells [[buffer(4)]],
    device uchar* k_region [[buffer(5)]],
    device uchar* v_region [[buffer(6)]],
    device const float* q_vector [[buffer(7)]],  // a bias, or a gain
    device const float* k_vector [[buffer(8)]],
    device const float* v_vector [[buffer(9)]],
    threadgroup float* values [[threadgroup(0)]],
    uint position [[threadgroup_position_in_grid]],
    ushort thread_index [[thread_index_in_threadgroup]],
    ushort threads [[threads_per_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]],
    ushort simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float scales[most_heads_a_threadgroup];
  const int width = args.head_dim, at_once = args.heads_a_threadgroup;
  const int q_groups = (args.n_heads + at_once - 1) / at_once;
  const int kv_groups = (args.n_kv_heads + at_once - 1) / at_once;

  // part 0 is q, 1 k, 2 v.
  const int group = position, part = group < q_groups ? 0 : group < q_groups + kv_groups ? 1 : 2;
  const int first_head = (group - (part > 0 ? q_groups : 0) - (part > 1 ? kv_groups : 0)) * at_once;
  const int heads = min(at_once, (part == 0 ? args.n_heads : args.n_kv_heads) - first_head);
  const int before = part == 0 ? 0 : part == 1 ? args.n_heads : args.n_heads + args.n_kv_heads;
  const int count = heads * width, first_column = first_head * width;
  device float* mine = y + (before + first_head) * width;
  device const float* vector = part == 0 ? q_vector : part == 1 ? k_vector : v_vector;

  if (args.norms != 0 && part < 2) {
    for (int head = simdgroup; head < heads; head += simdgroups) {
      const float scale = norm_scale_simd(mine + head * width, width, args.eps, lane);
      if (lane == 0) scales[head] = scale;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    for (int i = thread_index; i < count; i += threads) {
      values[i] = norm_value(mine[i], scales[i / width], vector[i % width]);
    }
  } else if ((args.biases >> part & 1) != 0) {
    for (int i = thread_index; i < count; i += threads) values[i] = mine[i] + vector[first_column + i];
  } else {
    for (int i = thread_index; i < count; i += threads) values[i] = mine[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (part < 2) {
    const int pairs = width / 2;
    for (int i = thread_index; i < heads * pairs; i += threads) {
      const int pair = i % pairs, head = i / pairs * width;
      const int2 places = head + rope_places(pair, width, args.interleaved != 0);
      const float2 turn = rope_turn(positions[0], frequencies[pair]);
      const float2 turned = rope_rotate(values[places.x], values[places.y], turn);
      values[places.x] = turned.x;
      values[places.y] = turned.y;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (int i = thread_index; i < count; i += threads) mine[i] = values[i];
  if (part > 0) {
    device uchar* row = (part == 1 ? k_region : v_region) + ulong(cells[0]) * args.row_bytes;
    store_columns<Rows>(row, first_column, values, count, thread_index, threads);
  }
}
typedef decltype(qkv_epilogue<RowsF32>) qkv_epilogue_t;
template [[host_name("qkv_epilogue_f32")]] kernel qkv_epilogue_t qkv_epilogue<RowsF32>;
template [[host_name("qkv_epilogue_f16")]] kernel qkv_epilogue_t qkv_epilogue<RowsF16>;
template [[host_name("qkv_epilogue_q8_0")]] kernel qkv_epilogue_t qkv_epilogue<RowsQ8_0>;
