// Kernels whose threads do not meet.
#include <metal_stdlib>
using namespace metal;

kernel void return_before_barrier(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                  uint i [[thread_position_in_threadgroup]]) {
  if (i == 5) return;
  s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  y[i] = s[0];
}

kernel void two_barriers(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  if (i < 32) {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // earlier
  } else {
    threadgroup_barrier(mem_flags::mem_device);  // here
  }
  y[i] = 1;
}

kernel void barrier_in_loop(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  for (uint k = 0; k < 1 + i / 32; k++) {
    threadgroup_barrier(mem_flags::mem_none);  // here
  }
  y[i] = 1;
}

kernel void simd_in_branch(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  float v = i;
  if (i % 3 == 0) {
    v = simd_sum(v);  // earlier
  } else {
    v = simd_max(v);  // here
  }
  y[i] = v;
}

kernel void simd_against_barrier(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  float v = i;
  if (i == 7) {
    threadgroup_barrier(mem_flags::mem_none);  // here
  } else {
    v = simd_sum(v);
  }
  y[i] = v;
}

kernel void matrix_in_half_simdgroup(device float* y [[buffer(0)]]) {
  simdgroup_float8x8 m(1.0f);
  simdgroup_store(m, y, 8);  // here
}

kernel void shuffle_in_loop(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  float v = i;
  for (uint k = 0; k < i % 4; k++) v += simd_shuffle_xor(v, 1);  // here
  v += simd_sum(v);  // earlier
  y[i] = v;
}

kernel void matrix_in_branch(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                             uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(1.0f);
  if (i % 32 < 16) {
    simdgroup_multiply(m, m, m);  // earlier
  } else {
    simdgroup_store(m, s, 8);  // here
  }
  y[i] = 1;
}

kernel void matrix_of_some_lanes(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(1.0f);
  if (i % 32 < 16) simdgroup_multiply(m, m, m);  // earlier
  y[i] = simd_sum(float(i));                     // here
}

kernel void matrix_before_barrier(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(1.0f);
  if (i != 40) simdgroup_multiply(m, m, m);  // earlier
  threadgroup_barrier(mem_flags::mem_none);  // here
  y[i] = 1;
}

kernel void return_before_matrix(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(1.0f);
  if (i == 40) return;
  simdgroup_multiply(m, m, m);  // here
  y[i] = 1;
}

kernel void pause_of_some_lanes(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  if (i % 32 < 16) simdgroup_barrier(mem_flags::mem_none);  // earlier
  y[i] = simd_sum(float(i));                                // here
}

kernel void more_matrices_of_some_lanes(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(1.0f);
  for (uint k = 0; k < (i % 32 < 16 ? 100 : 99); k++) simdgroup_multiply(m, m, m);  // earlier
  y[i] = simd_sum(float(i));                                                        // here
}
