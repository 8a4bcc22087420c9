// Kernels whose costs are known by counting them in the source.
#include <metal_stdlib>
using namespace metal;

// Per thread: reads 4 bytes of x[i] and 4 of x[0], 4 of setBytes data; writes 4.
kernel void bytes(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& c [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + x[0] + c;
}

// Per thread: writes 4 and reads 8 bytes of threadgroup memory; two barriers a threadgroup; three operations a simdgroup.
kernel void meetings(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                     uint i [[thread_position_in_threadgroup]], uint g [[thread_position_in_grid]]) {
  s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float a = s[i ^ 1] + s[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const float t = simd_sum(a) + simd_max(a) + simd_shuffle_xor(a, 1);
  threadgroup_barrier(mem_flags::mem_device);
  y[g] = t;
}

// Per simdgroup: 2 loads, 3 multiplies, 1 store of 8x8 floats.
kernel void tiles(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  uint g [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 a, b, c(0.0f);
  simdgroup_load(a, x, 8);
  simdgroup_load(b, x + 64, 8);
  for (int k = 0; k < 3; k++) simdgroup_multiply_accumulate(c, a, b, c);
  simdgroup_store(c, y + g * 64, 8);
}

kernel void atomics(device atomic_uint* n [[buffer(0)]]) {
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
}

// Per thread: 2 float operations in a fused one, 1 division; in half 3, in bfloat 1; `n` turns of a loop with 1 each.
kernel void flops(device float* y [[buffer(0)]], device const float* x [[buffer(1)]], constant int& n [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  float a = fma(x[i], 3.0f, 1.0f) / x[i + 1];
  half h = half(x[i]);
  h = h * h + h * half(3.0h);
  bfloat b = bfloat(x[i]);
  b = b - bfloat(x[i + 1]);
  for (int k = 0; k < n; k++) a *= x[k];
  y[i] = a + float(h) + float(b);
}

// Lanes `stride` elements apart, in both kinds of memory; one store of either kind is side by side.
kernel void strided(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], threadgroup float* s [[threadgroup(0)]],
                    constant uint& stride [[buffer(2)]], uint i [[thread_position_in_threadgroup]]) {
  s[i * stride] = i;
  y[i] = x[i * stride];
}
