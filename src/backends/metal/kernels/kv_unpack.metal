// Packed q8_0 rows of K and V as f32 rows, for attention kernels that read no packed ones.
#include <metal_stdlib>
using namespace metal;
#include "kv_rows.h"
#include "kv_unpack_args.h"

// 32 threads take 128 columns of a row, four each.
kernel void kv_unpack_q8_0(constant KvUnpackArgs& args [[buffer(0)]],
                           device const uchar* k [[buffer(1)]],
                           device const uchar* v [[buffer(2)]],
                           device float* k_out [[buffer(3)]],
                           device float* v_out [[buffer(4)]],
                           uint3 tgpig [[threadgroup_position_in_grid]],  // x: columns, y: rows, z: K or V
                           uint3 tpitg [[thread_position_in_threadgroup]]) {
  const int row = tgpig.y * kv_unpack_rows + tpitg.y;
  const int column = tgpig.x * kv_unpack_columns + tpitg.x * kv_unpack_columns_a_thread;
  if (row >= args.rows || column >= args.width) return;
  device const uchar* packed = (tgpig.z == 0 ? k : v) + ulong(row) * args.row_bytes;
  device float* unpacked = (tgpig.z == 0 ? k_out : v_out) + ulong(row) * args.width;
  *(device float4*)(unpacked + column) = RowsQ8_0::load4(packed, column);
}
