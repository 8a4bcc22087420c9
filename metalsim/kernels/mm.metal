// Matrix product of quantised weights on 8x8 simdgroup matrices.
#include <metal_stdlib>
#include "common.h"
using namespace metal;

// 16 consecutive values of a block: its first (part 0) or second half.
inline void dequantize16(device const block_q8_0* b, short part, thread half* out) {
  const float d = b->d;
  for (short i = 0; i < 16; i++) out[i] = half(d * b->qs[part * 16 + i]);
}
inline void dequantize16(device const block_q4_0* b, short part, thread half* out) {
  const float d = b->d;
  for (short i = 0; i < 16; i++) out[i] = half(d * ((part ? (b->qs[i] >> 4) : (b->qs[i] & 0xF)) - 8));
}

// A tile of 64 rows of A by 32 rows of B; each of 4 simdgroups has 32 x 16 of it in eight accumulators.
// Scratch: a 64x32 half tile of A (4096 B) and a 32x32 half tile of B (2048 B). A tile at the edge goes through a
// 32x64 float tile that overlays both (8192 B).
template <typename block_t>
kernel void mul_mm(constant mm_args& args [[buffer(0)]],
                   device const char* A [[buffer(1)]],
                   device const float* B [[buffer(2)]],
                   device float* C [[buffer(3)]],
                   threadgroup char* scratch [[threadgroup(0)]],
                   uint3 tgpig [[threadgroup_position_in_grid]],
                   ushort tiitg [[thread_index_in_threadgroup]],
                   ushort sgitg [[simdgroup_index_in_threadgroup]]) {
  threadgroup half* tile_a = (threadgroup half*)scratch;           // [64][32]
  threadgroup half* tile_b = (threadgroup half*)(scratch + 4096);  // [32][32]
  const int m0 = tgpig.y * 64, n0 = tgpig.x * 32, blocks = args.K / 32;

  simdgroup_half8x8 ma[4], mb[2];
  simdgroup_float8x8 mc[8];
  for (short i = 0; i < 8; i++) mc[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

  const short row_a = tiitg / 2, part = tiitg & 1;           // two threads load a row of A
  const short row_b = tiitg / 4, column_b = (tiitg & 3) * 8;  // four threads load a row of B
  const int m = min(m0 + row_a, args.M - 1), n = min(n0 + row_b, args.N - 1);

  for (int k = 0; k < args.K; k += 32) {
    half values[16];
    dequantize16((device const block_t*)A + m * blocks + k / 32, part, values);
    device const float4* b4 = (device const float4*)(B + n * args.K + k + column_b);
    const half4 b0 = half4(b4[0]), b1 = half4(b4[1]);

    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short i = 0; i < 16; i++) tile_a[row_a * 32 + part * 16 + i] = values[i];
    *(threadgroup half4*)(tile_b + row_b * 32 + column_b) = b0;
    *(threadgroup half4*)(tile_b + row_b * 32 + column_b + 4) = b1;
    threadgroup_barrier(mem_flags::mem_threadgroup);

    threadgroup const half* own_a = tile_a + (sgitg & 1) * 32 * 32;
    threadgroup const half* own_b = tile_b + (sgitg >> 1) * 16 * 32;
    for (short kk = 0; kk < 32; kk += 8) {
      for (short i = 0; i < 4; i++) simdgroup_load(ma[i], own_a + i * 8 * 32 + kk, 32);  // [8 m][8 k]
      simdgroup_barrier(mem_flags::mem_none);
      for (short i = 0; i < 2; i++)  // transposed: [8 k][8 n]
        simdgroup_load(mb[i], own_b + i * 8 * 32 + kk, 32, ulong2(0, 0), true);
      simdgroup_barrier(mem_flags::mem_none);
      for (short i = 0; i < 8; i++) simdgroup_multiply_accumulate(mc[i], ma[i & 3], mb[i >> 2], mc[i]);
    }
  }

  const int mw = m0 + (sgitg & 1) * 32, nw = n0 + (sgitg >> 1) * 16;
  if (m0 + 64 <= args.M && n0 + 32 <= args.N) {
    for (short i = 0; i < 8; i++)
      simdgroup_store(mc[i], C + (nw + (i >> 2) * 8) * args.M + mw + (i & 3) * 8, args.M, ulong2(0, 0), true);
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // before the float tile overlays the half tiles
    threadgroup float* tile_c = (threadgroup float*)scratch;  // [32 n][64 m]
    for (short i = 0; i < 8; i++)
      simdgroup_store(mc[i], tile_c + ((sgitg >> 1) * 16 + (i >> 2) * 8) * 64 + (sgitg & 1) * 32 + (i & 3) * 8, 64,
                      ulong2(0, 0), true);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = tiitg; i < 64 * 32; i += 128) {
      const int row = n0 + i / 64, column = m0 + i % 64;
      if (row < args.N && column < args.M) C[row * args.M + column] = tile_c[i];
    }
  }
}
typedef decltype(mul_mm<block_q8_0>) mul_mm_t;
template [[host_name("mul_mm_q8_0_f32")]] kernel mul_mm_t mul_mm<block_q8_0>;
template [[host_name("mul_mm_q4_0_f32")]] kernel mul_mm_t mul_mm<block_q4_0>;
