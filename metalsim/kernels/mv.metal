// Matrix-vector product of 4-bit weights, and the element-wise kernels of a decoder.
#include <metal_stdlib>
#include "common.h"
using namespace metal;

constant int FC_nsg [[function_constant(0)]];  // simdgroups in a threadgroup

// The dot product of eight bytes of a block (both nibbles of each) with their inputs.
// x: the inputs of the low nibbles; those of the high nibbles are 16 further on.
inline float dot_half_block(device const block_q4_0& b, short half_index, float4 low0, float4 low1, float4 high0,
                            float4 high1, float sum_x) {
  device const uchar* q = b.qs + half_index * 8;
  const uchar4 q0 = uchar4(q[0], q[1], q[2], q[3]);
  const uchar4 q1 = uchar4(q[4], q[5], q[6], q[7]);
  const float s = dot(low0, float4(q0 & uchar4(0xF))) + dot(low1, float4(q1 & uchar4(0xF))) +
                  dot(high0, float4(q0 >> 4)) + dot(high1, float4(q1 >> 4));
  return float(b.d) * (s - 8.0f * sum_x);
}

// Each simdgroup computes ROWS rows. Two lanes share a block, so 16 blocks of a row are in flight.
template <short ROWS>
kernel void mul_mv_q4_0_f32(constant mv_args& args [[buffer(0)]],
                            device const char* w [[buffer(1)]],
                            device const float* x [[buffer(2)]],
                            device float* y [[buffer(3)]],
                            uint3 tgpig [[threadgroup_position_in_grid]],
                            ushort tiisg [[thread_index_in_simdgroup]],
                            ushort sgitg [[simdgroup_index_in_threadgroup]]) {
  const int blocks = args.K / 32;
  const int row = (int(tgpig.x) * FC_nsg + sgitg) * ROWS;
  const short half_index = tiisg & 1;
  float sum[ROWS] = {0.0f};

  for (int ib = tiisg / 2; ib < blocks; ib += 16) {
    device const float4* x4 = (device const float4*)(x + ib * 32 + half_index * 8);
    const float4 low0 = x4[0], low1 = x4[1], high0 = x4[4], high1 = x4[5];
    const float sum_x = dot(low0 + low1 + high0 + high1, float4(1.0f));
    for (short r = 0; r < ROWS; r++) {
      if (row + r >= args.M) break;
      device const block_q4_0& b = *((device const block_q4_0*)w + (row + r) * blocks + ib);
      sum[r] += dot_half_block(b, half_index, low0, low1, high0, high1, sum_x);
    }
  }
  for (short r = 0; r < ROWS; r++) {
    const float total = simd_sum(sum[r]);
    if (tiisg == 0 && row + r < args.M) y[row + r] = total;
  }
}
typedef decltype(mul_mv_q4_0_f32<4>) mul_mv_t;
template [[host_name("mul_mv_q4_0_f32")]] kernel mul_mv_t mul_mv_q4_0_f32<4>;
template [[host_name("mul_mv_q4_0_f32_2")]] kernel mul_mv_t mul_mv_q4_0_f32<2>;

kernel void add_f32(device const float* a [[buffer(0)]],
                    device const float* b [[buffer(1)]],
                    device float* c [[buffer(2)]],
                    constant uint& n [[buffer(3)]],
                    uint gid [[thread_position_in_grid]]) {
  if (gid >= n) return;
  c[gid] = a[gid] + b[gid];
}

// One row by one threadgroup of at most 1024 threads; tmp holds one partial sum for each simdgroup.
kernel void rms_norm_f32(device const float* x [[buffer(0)]],
                         device const float* w [[buffer(1)]],
                         device float* y [[buffer(2)]],
                         constant int& n [[buffer(3)]],
                         threadgroup float* tmp [[threadgroup(0)]],
                         ushort tid [[thread_position_in_threadgroup]],
                         ushort ntg [[threads_per_threadgroup]],
                         ushort tiisg [[thread_index_in_simdgroup]],
                         ushort sgitg [[simdgroup_index_in_threadgroup]],
                         ushort nsg [[simdgroups_per_threadgroup]]) {
  float sum = 0.0f;
  for (int i = tid; i < n; i += ntg) sum += x[i] * x[i];
  sum = simd_sum(sum);
  if (tiisg == 0) tmp[sgitg] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = simd_sum(tiisg < nsg ? tmp[tiisg] : 0.0f);
  const float scale = rsqrt(sum / n + 1e-5f);
  for (int i = tid; i < n; i += ntg) y[i] = x[i] * scale * w[i];
}
