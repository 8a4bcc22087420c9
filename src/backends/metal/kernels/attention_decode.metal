// Attention of few queries over many rows. The rows of a query are shared out in chunks, so that a token
// fills the device; each chunk leaves a record of its softmax, and decode_combine merges them.
//
// A threadgroup works for the query heads of one KV head, a simdgroup a head. They read the same rows at
// about the same time and find them in the core's cache, so memory is read once for all of them. (A simdgroup
// that kept several heads in registers would read once by construction, but there would be that many fewer
// simdgroups: with 2 KV heads and 16 chunks a token has only 32, too few to hide the latency of memory on 10
// to 40 cores.)
#include <metal_stdlib>
using namespace metal;
#include "attention_decode_args.h"
#include "attention_softmax.h"
#include "kv_rows.h"

// Which query head this simdgroup works for. `head` may be one that belongs to no simdgroup: see `exists`.
struct HeadPlace {
  int token, kv_head, head, chunk;
  bool exists;
};
inline HeadPlace head_place(constant DecodeAttentionArgs& args, uint3 position, int simdgroup) {
  const int groups = (args.group + args.heads_a_threadgroup - 1) / args.heads_a_threadgroup;
  const int kv_head = int(position.y) / groups;
  const int in_group = int(position.y) % groups * args.heads_a_threadgroup + simdgroup;
  const bool exists = in_group < args.group;
  const int head = kv_head * args.group + (exists ? in_group : 0);
  return {int(position.x), kv_head, head, int(position.z), exists};
}

/// Leaves m, s and o of one chunk. Records are ordered by token, head and chunk.
template <int lanes, int groups>
inline void write_record(thread const SoftmaxState<lanes, groups>& state, HeadPlace place,
                         constant DecodeAttentionArgs& args, device float2* sums, device float4* outputs,
                         int lane) {
  if (lane >= lanes) return;  // slot 0 has the merged state
  const ulong record = (ulong(place.token) * args.n_heads + place.head) * args.chunks + place.chunk;
  for (int i = 0; i < groups; i++) outputs[record * (lanes * groups) + lane + lanes * i] = state.o[i];
  if (lane == 0) sums[record] = float2(state.m, state.s);
}

// Chunk c takes steps c, c + chunks, ... of 32 rows each, straight from the region.
template <class Format, int lanes, int groups>
kernel [[max_total_threads_per_threadgroup(256)]] void decode_flash(
    constant DecodeAttentionArgs& args [[buffer(0)]],
    device const float* q [[buffer(1)]],
    device const uchar* k [[buffer(2)]],
    device const uchar* v [[buffer(3)]],
    device const int* positions [[buffer(4)]],
    device float2* sums [[buffer(5)]],
    device float4* outputs [[buffer(6)]],
    uint3 position [[threadgroup_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr int width4 = lanes * groups;
  const HeadPlace place = head_place(args, position, simdgroup);
  if (!place.exists) return;  // a whole simdgroup, and there is no barrier below
  const int end = positions[place.token] + 1;
  const RegionRows<Format> keys{k, args.row_bytes, place.kv_head * args.head_dim};
  const RegionRows<Format> values{v, args.row_bytes, place.kv_head * args.head_dim};
  SoftmaxState<lanes, groups> state;
  start_softmax(state, (device const float4*)q + (place.token * args.n_heads + place.head) * width4, width4,
                args.scale, lane);
  for (int first = place.chunk * 32; first < end; first += args.chunks * 32) {
    attend_rows<lanes>(state, keys, values, first, end, width4, lane);
  }
  merge_slots(state);
  write_record(state, place, args, sums, outputs, lane);
}

#define DECODE_FLASH(format, rows, width, lanes)                                   \
  template [[host_name("decode_flash_" #format "_hd" #width)]] kernel               \
      decltype(decode_flash<rows, lanes, width / 4 / lanes>)                       \
          decode_flash<rows, lanes, width / 4 / lanes>;
#define DECODE_FLASH_WIDTHS(format, rows) \
  DECODE_FLASH(format, rows, 64, 4)       \
  DECODE_FLASH(format, rows, 80, 4)       \
  DECODE_FLASH(format, rows, 96, 8)       \
  DECODE_FLASH(format, rows, 128, 8)      \
  DECODE_FLASH(format, rows, 256, 16)
DECODE_FLASH_WIDTHS(f32, RowsF32)
DECODE_FLASH_WIDTHS(f16, RowsF16)
DECODE_FLASH_WIDTHS(q8_0, RowsQ8_0)

// Chunk c takes rows [c, c + 1) * rows_a_chunk, in tiles that the threadgroup stages for all its heads.
template <class Format, int lanes, int groups>
kernel [[max_total_threads_per_threadgroup(256)]] void decode_split(
    constant DecodeAttentionArgs& args [[buffer(0)]],
    device const float* q [[buffer(1)]],
    device const uchar* k [[buffer(2)]],
    device const uchar* v [[buffer(3)]],
    device const int* positions [[buffer(4)]],
    device float2* sums [[buffer(5)]],
    device float4* outputs [[buffer(6)]],
    threadgroup float4* tiles [[threadgroup(0)]],
    uint3 position [[threadgroup_position_in_grid]],
    ushort thread_index [[thread_index_in_threadgroup]],
    ushort threads [[threads_per_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr int width4 = lanes * groups;
  const HeadPlace place = head_place(args, position, simdgroup);
  const int begin = place.chunk * args.rows_a_chunk;
  const int end = min(begin + args.rows_a_chunk, positions[place.token] + 1);
  const RegionRows<Format> keys{k, args.row_bytes, place.kv_head * args.head_dim};
  const RegionRows<Format> values{v, args.row_bytes, place.kv_head * args.head_dim};
  SoftmaxState<lanes, groups> state;
  start_softmax(state, (device const float4*)q + (place.token * args.n_heads + place.head) * width4, width4,
                args.scale, lane);
  attend_staged(state, keys, values, tiles, begin, end, width4, thread_index, threads, lane);
  merge_slots(state);
  if (place.exists) write_record(state, place, args, sums, outputs, lane);
}

#define DECODE_SPLIT(format, rows, width, lanes)                                   \
  template [[host_name("decode_split_" #format "_hd" #width)]] kernel               \
      decltype(decode_split<rows, lanes, width / 4 / lanes>)                       \
          decode_split<rows, lanes, width / 4 / lanes>;
#define DECODE_SPLIT_WIDTHS(format, rows) \
  DECODE_SPLIT(format, rows, 64, 4)       \
  DECODE_SPLIT(format, rows, 80, 4)       \
  DECODE_SPLIT(format, rows, 96, 8)       \
  DECODE_SPLIT(format, rows, 128, 8)      \
  DECODE_SPLIT(format, rows, 256, 16)
DECODE_SPLIT_WIDTHS(f32, RowsF32)
DECODE_SPLIT_WIDTHS(f16, RowsF16)

// One simdgroup for each token and head: a grid of heads and tokens.
kernel void decode_combine(constant CombineArgs& args [[buffer(0)]],
                           device const float2* sums [[buffer(1)]],
                           device const float4* outputs [[buffer(2)]],
                           device float4* y [[buffer(3)]],
                           uint2 position [[threadgroup_position_in_grid]],
                           ushort lane [[thread_index_in_simdgroup]]) {
  const int width4 = args.head_dim / 4;
  const ulong query = ulong(position.y) * args.n_heads + position.x, first = query * args.chunks;
  float most = masked_score;
  for (int chunk = 0; chunk < args.chunks; chunk++) most = max(most, sums[first + chunk].x);
  float sum = 0.0f;
  for (int chunk = 0; chunk < args.chunks; chunk++) {
    sum += sums[first + chunk].y * exp2(sums[first + chunk].x - most);
  }
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // zeros where no row was seen
  for (int group = lane; group < width4; group += 32) {
    float4 output = float4(0.0f);
    for (int chunk = 0; chunk < args.chunks; chunk++) {
      output += outputs[(first + chunk) * width4 + group] * exp2(sums[first + chunk].x - most);
    }
    y[query * width4 + group] = output * inverse;
  }
}
