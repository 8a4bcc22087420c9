// Attention of one query row and head by a threadgroup, with the softmax computed as it goes.
#include <metal_stdlib>
#include "common.h"
using namespace metal;

constant bool FC_causal [[function_constant(1)]];

// Head size D, K and V in half, Q and O in float. The simdgroups take the positions in turns of 32 and merge their
// results at the end. Scratch: for each simdgroup 32 probabilities and D + 2 floats (sums, maximum, denominator).
template <short D>
kernel void flash_attn_vec(constant fa_args& args [[buffer(0)]],
                           device const float* Q [[buffer(1)]],
                           device const half* K [[buffer(2)]],
                           device const half* V [[buffer(3)]],
                           device float* O [[buffer(4)]],
                           threadgroup float* scratch [[threadgroup(0)]],
                           uint3 tgpig [[threadgroup_position_in_grid]],  // x: query, y: head
                           uint3 ntgpg [[threadgroups_per_grid]],
                           ushort tiisg [[thread_index_in_simdgroup]],
                           ushort sgitg [[simdgroup_index_in_threadgroup]],
                           ushort nsg [[simdgroups_per_threadgroup]]) {
  const int head = tgpig.y, head_kv = head / (args.n_head / args.n_head_kv);
  device const half* k = K + head_kv * D;
  device const half* v = V + head_kv * D;
  device const float4* q4 = (device const float4*)(Q + (tgpig.x * args.n_head + head) * D);
  const int n = FC_causal ? args.n_kv - (int)ntgpg.x + (int)tgpig.x + 1 : args.n_kv;

  threadgroup float* probability = scratch + sgitg * 32;
  threadgroup float* partial = scratch + nsg * 32 + sgitg * (D + 2);
  float acc[D / 32];
  for (short i = 0; i < D / 32; i++) acc[i] = 0.0f;
  float m = -INFINITY, l = 0.0f;

  for (int c = sgitg * 32; c < n; c += nsg * 32) {
    float s = -INFINITY;
    if (c + tiisg < n) {
      device const half4* k4 = (device const half4*)(k + (c + tiisg) * args.ld_kv);
      s = 0.0f;
      for (short i = 0; i < D / 4; i++) s += dot(q4[i], float4(k4[i]));
      s *= args.scale;
    }
    const float m_new = max(m, simd_max(s));
    const float correction = exp(m - m_new), p = exp(s - m_new);
    l = l * correction + simd_sum(p);
    m = m_new;
    probability[tiisg] = p;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (short i = 0; i < D / 32; i++) acc[i] *= correction;
    const int count = min(32, n - c);
    for (short j = 0; j < count; j++) {
      device const half* vj = v + (c + j) * args.ld_kv;
      for (short i = 0; i < D / 32; i++) acc[i] += probability[j] * (float)vj[i * 32 + tiisg];
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (short i = 0; i < D / 32; i++) partial[i * 32 + tiisg] = acc[i];
  if (tiisg == 0) {
    partial[D] = m;
    partial[D + 1] = l;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (sgitg != 0) return;
  threadgroup const float* parts = scratch + nsg * 32;
  float m_all = -INFINITY, l_all = 0.0f;
  for (short g = 0; g < nsg; g++) m_all = max(m_all, parts[g * (D + 2) + D]);
  for (short g = 0; g < nsg; g++) l_all += parts[g * (D + 2) + D + 1] * exp(parts[g * (D + 2) + D] - m_all);
  for (short i = 0; i < D / 32; i++) {
    float sum = 0.0f;
    for (short g = 0; g < nsg; g++)
      sum += parts[g * (D + 2) + i * 32 + tiisg] * exp(parts[g * (D + 2) + D] - m_all);
    O[(tgpig.x * args.n_head + head) * D + i * 32 + tiisg] = sum / l_all;
  }
}
typedef decltype(flash_attn_vec<64>) flash_attn_t;
template [[host_name("flash_attn_vec_d64")]] kernel flash_attn_t flash_attn_vec<64>;
