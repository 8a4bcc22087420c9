// Root-mean-square norms of rows, in place or not.
#include <metal_stdlib>
using namespace metal;
#include "norm_args.h"
#include "norm.h"

// One threadgroup a row, of as many simdgroups as the row has parts. `sums`: 32 floats, one a simdgroup.
kernel void rms_norm_f32(constant NormArgs& args [[buffer(0)]],
                         device const float* x [[buffer(1)]],
                         device const float* gain [[buffer(2)]],
                         device float* y [[buffer(3)]],
                         threadgroup float* sums [[threadgroup(0)]],
                         uint row [[threadgroup_position_in_grid]],
                         ushort thread_index [[thread_index_in_threadgroup]],
                         ushort threads [[threads_per_threadgroup]],
                         ushort lane [[thread_index_in_simdgroup]],
                         ushort part [[simdgroup_index_in_threadgroup]],
                         ushort parts [[simdgroups_per_threadgroup]]) {
  const int width = args.width;
  device const float* from = x + ulong(row) * width;
  const float sum = simd_sum(norm_lane_sum(from, width, part, lane));
  if (lane == 0) sums[part] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float total = simd_sum(lane < parts ? sums[lane] : 0.0f);
  norm_apply(y + ulong(row) * width, from, gain, width, norm_scale(total, width, args.eps), thread_index, threads);
}

// One simdgroup a row: for the short rows of a head, and as the reference of the kernel above.
kernel void rms_norm_simd_f32(constant NormArgs& args [[buffer(0)]],
                              device const float* x [[buffer(1)]],
                              device const float* gain [[buffer(2)]],
                              device float* y [[buffer(3)]],
                              uint group [[threadgroup_position_in_grid]],
                              ushort lane [[thread_index_in_simdgroup]],
                              ushort in_group [[simdgroup_index_in_threadgroup]],
                              ushort per_group [[simdgroups_per_threadgroup]]) {
  const int row = int(group) * per_group + in_group;
  if (row >= args.rows) return;  // a whole simdgroup
  const int width = args.width;
  device const float* from = x + ulong(row) * width;
  const float scale = norm_scale_simd(from, width, args.eps, lane);
  norm_apply(y + ulong(row) * width, from, gain, width, scale, lane, 32);
}
