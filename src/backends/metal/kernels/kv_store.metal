// Rows of keys and values to their cells.
#include <metal_stdlib>
using namespace metal;
#include "kv_rows.h"
#include "kv_store_args.h"
#include "quantise_q8_0.h"

// Grid: groups of 4 columns, tokens, K and V.
template <class Rows>
kernel void kv_store(constant KvStoreArgs& args [[buffer(0)]],
                     device const float* k [[buffer(1)]],
                     device const float* v [[buffer(2)]],
                     device const int* cells [[buffer(3)]],
                     device uchar* k_region [[buffer(4)]],
                     device uchar* v_region [[buffer(5)]],
                     uint3 at [[thread_position_in_grid]]) {
  const int first_column = int(at.x) * 4, first_token = int(at.y) * args.tokens_a_thread;
  const int end_token = first_token + args.tokens_a_thread;
  device const float* from = at.z == 0 ? k : v;
  device uchar* to = at.z == 0 ? k_region : v_region;
  for (int token = first_token; token < end_token; token++) {
    device const float* values = from + ulong(token) * args.kv_dim;
    device uchar* row = to + ulong(cells[token]) * args.row_bytes;
    if (first_column + 4 <= args.kv_dim) {
      Rows::store4(row, first_column, float4(*(device const packed_float4*)(values + first_column)));
    } else {
      for (int i = first_column; i < args.kv_dim; i++) Rows::store(row, i, values[i]);
    }
  }
}
typedef decltype(kv_store<RowsF32>) kv_store_t;
template [[host_name("kv_store_f32")]] kernel kv_store_t kv_store<RowsF32>;
template [[host_name("kv_store_f16")]] kernel kv_store_t kv_store<RowsF16>;

// Grid: groups of simdgroups, each with a block of 32 columns; tokens; K and V.
kernel void kv_store_q8_0(constant KvStoreArgs& args [[buffer(0)]],
                          device const float* k [[buffer(1)]],
                          device const float* v [[buffer(2)]],
                          device const int* cells [[buffer(3)]],
                          device uchar* k_region [[buffer(4)]],
                          device uchar* v_region [[buffer(5)]],
                          uint3 group [[threadgroup_position_in_grid]],
                          ushort lane [[thread_index_in_simdgroup]],
                          ushort in_group [[simdgroup_index_in_threadgroup]],
                          ushort per_group [[simdgroups_per_threadgroup]]) {
  const int block = int(group.x) * per_group + in_group, first_token = int(group.y) * args.tokens_a_thread;
  if (block >= args.kv_dim / 32) return;  // a whole simdgroup
  const int end_token = first_token + args.tokens_a_thread;
  device const float* from = group.z == 0 ? k : v;
  device uchar* to = group.z == 0 ? k_region : v_region;
  for (int token = first_token; token < end_token; token++) {
    device uchar* row = to + ulong(cells[token]) * args.row_bytes;
    store_block_q8_0(row + block * 34, from[ulong(token) * args.kv_dim + block * 32 + lane], lane);
  }
}
