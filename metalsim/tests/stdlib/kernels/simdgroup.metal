// Every operation among lanes: one kernel an operation, each thread writing its own result.
#include <metal_stdlib>
using namespace metal;

#define OPERATION(name, type, expression)                                                              \
  kernel void name##_##type(device const type* in [[buffer(0)]], device type* out [[buffer(1)]],       \
                            constant ushort& k [[buffer(2)]],                                          \
                            uint i [[thread_position_in_grid]]) {                                      \
    const type x = in[i];                                                                              \
    out[i] = expression;                                                                               \
  }
#define ARITHMETIC(group, type)                                                             \
  OPERATION(group##_sum, type, group##_sum(x))                                              \
  OPERATION(group##_product, type, group##_product(x))                                      \
  OPERATION(group##_min, type, group##_min(x))                                              \
  OPERATION(group##_max, type, group##_max(x))                                              \
  OPERATION(group##_prefix_inclusive_sum, type, group##_prefix_inclusive_sum(x))            \
  OPERATION(group##_prefix_exclusive_sum, type, group##_prefix_exclusive_sum(x))            \
  OPERATION(group##_prefix_inclusive_product, type, group##_prefix_inclusive_product(x))    \
  OPERATION(group##_prefix_exclusive_product, type, group##_prefix_exclusive_product(x))    \
  OPERATION(group##_broadcast, type, group##_broadcast(x, k))                               \
  OPERATION(group##_broadcast_first, type, group##_broadcast_first(x))                      \
  OPERATION(group##_shuffle, type, group##_shuffle(x, ushort(i * 7 + k)))                   \
  OPERATION(group##_shuffle_xor, type, group##_shuffle_xor(x, k))                           \
  OPERATION(group##_shuffle_up, type, group##_shuffle_up(x, k))                             \
  OPERATION(group##_shuffle_down, type, group##_shuffle_down(x, k))                         \
  OPERATION(group##_shuffle_rotate_up, type, group##_shuffle_rotate_up(x, k))               \
  OPERATION(group##_shuffle_rotate_down, type, group##_shuffle_rotate_down(x, k))           \
  OPERATION(group##_shuffle_and_fill_up, type, group##_shuffle_and_fill_up(x, type(-x), k)) \
  OPERATION(group##_shuffle_and_fill_down, type, group##_shuffle_and_fill_down(x, type(-x), k))
#define BITWISE(group, type)                 \
  OPERATION(group##_and, type, group##_and(x)) \
  OPERATION(group##_or, type, group##_or(x))   \
  OPERATION(group##_xor, type, group##_xor(x))

ARITHMETIC(simd, int)
ARITHMETIC(simd, float)
ARITHMETIC(simd, short)
ARITHMETIC(quad, int)
ARITHMETIC(quad, float)
ARITHMETIC(quad, short)
BITWISE(simd, int)
BITWISE(quad, int)
BITWISE(simd, uint)
BITWISE(quad, uint)
OPERATION(simd_fill_down_modulo, int, simd_shuffle_and_fill_down(x, -x, k, 8))
OPERATION(simd_fill_up_modulo, int, simd_shuffle_and_fill_up(x, -x, k, 8))

OPERATION(simd_all, int, simd_all(x > 0))
OPERATION(simd_any, int, simd_any(x > 0))
OPERATION(simd_ballot, int, int(ulong(simd_ballot(x > 0))))
OPERATION(simd_vote_all, int, simd_ballot(x > 0).all())
OPERATION(simd_vote_any, int, simd_ballot(x > 0).any())
OPERATION(simd_active, int, int((simd_vote::vote_t)simd_active_threads_mask()))
OPERATION(simd_first, int, simd_is_first())
OPERATION(quad_all, int, quad_all(x > 0))
OPERATION(quad_any, int, quad_any(x > 0))
OPERATION(quad_ballot, int, int(uint(quad_ballot(x > 0))))
OPERATION(quad_vote_all, int, quad_ballot(x > 0).all())
OPERATION(quad_vote_any, int, quad_ballot(x > 0).any())
OPERATION(quad_active, int, int((quad_vote::vote_t)quad_active_threads_mask()))
OPERATION(quad_first, int, quad_is_first())

// Vectors and narrow types travel as well: out = the sum of four floats' shuffles, and of a half.
kernel void shuffle_float4(device const float4* in [[buffer(0)]], device float4* out [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle_xor(in[i], 1) + simd_sum(in[i]);
}
kernel void sum_half(device const half* in [[buffer(0)]], device half* out [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  out[i] = simd_sum(in[i]);
}

// Lanes 1, 3, 5 ... return before the others go on: they are no longer live.
kernel void after_return(device const int* in [[buffer(0)]], device int* out [[buffer(1)]],
                         ushort lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_grid]]) {
  const int whole = simd_sum(in[i]);
  out[i] = whole;
  if (lane & 1) return;
  out[i] = simd_sum(in[i]) * 1000 + simd_prefix_exclusive_sum(1);
}
