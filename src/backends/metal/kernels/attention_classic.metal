// Attention for every head width that is a multiple of 4 up to 256, for any number of tokens: the plain way,
// for the widths that have no kernels of their own, and what the faster families are compared with. One
// threadgroup a token and KV head, one simdgroup a query head; all rows in one pass, staged in tiles for the
// heads that share them.
#include <metal_stdlib>
using namespace metal;
#include "attention_classic_args.h"
#include "attention_softmax.h"
#include "kv_rows.h"

template <class Format>
kernel [[max_total_threads_per_threadgroup(256)]] void attention_classic(
    constant ClassicAttentionArgs& args [[buffer(0)]],
    device const float* q [[buffer(1)]],
    device const uchar* k [[buffer(2)]],
    device const uchar* v [[buffer(3)]],
    device const int* positions [[buffer(4)]],
    device float4* y [[buffer(5)]],
    threadgroup float4* tiles [[threadgroup(0)]],
    uint2 position [[threadgroup_position_in_grid]],
    ushort thread_index [[thread_index_in_threadgroup]],
    ushort threads [[threads_per_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr int lanes = 16, groups = 4;  // up to 64 groups of four values
  const int width4 = args.head_dim / 4;
  const int head_groups = (args.group + args.heads_a_threadgroup - 1) / args.heads_a_threadgroup;
  const int token = position.x, kv_head = int(position.y) / head_groups;
  const int in_group = int(position.y) % head_groups * args.heads_a_threadgroup + simdgroup;
  // A simdgroup too many runs as the first head, since all must meet at the barriers, and stores nothing.
  const bool exists = in_group < args.group;
  const int head = kv_head * args.group + (exists ? in_group : 0);
  const ulong query = (ulong(token) * args.n_heads + head) * width4;

  const RegionRows<Format> keys{k, args.row_bytes, kv_head * args.head_dim};
  const RegionRows<Format> values{v, args.row_bytes, kv_head * args.head_dim};
  SoftmaxState<lanes, groups> state;
  start_softmax(state, (device const float4*)q + query, width4, args.scale, lane);
  attend_staged(state, keys, values, tiles, 0, positions[token] + 1, width4, thread_index, threads, lane);
  merge_slots(state);
  if (!exists || lane >= lanes) return;
  const float inverse = state.s > 0.0f ? 1.0f / state.s : 0.0f;
  for (int i = 0; i < groups; i++) {
    const int group = lane + lanes * i;
    if (group < width4) y[query + group] = state.o[i] * inverse;
  }
}
typedef decltype(attention_classic<RowsF32>) attention_classic_t;
template [[host_name("attention_classic_f32")]] kernel attention_classic_t attention_classic<RowsF32>;
template [[host_name("attention_classic_f16")]] kernel attention_classic_t attention_classic<RowsF16>;
template [[host_name("attention_classic_q8_0")]] kernel attention_classic_t attention_classic<RowsQ8_0>;
