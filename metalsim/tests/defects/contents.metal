// Kernels that read what nobody wrote.
#include <metal_stdlib>
using namespace metal;

kernel void half_written(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                         uint i [[thread_position_in_threadgroup]]) {
  if (i < 32) s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[i];  // here
}

kernel void unwritten_array(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float sums[2];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = sums[i % 2];  // here
}

kernel void left_by_the_last_group(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                   uint i [[thread_position_in_threadgroup]],
                                   uint g [[threadgroup_position_in_grid]]) {
  if (g == 0) s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[g * 32 + i] = s[i];  // here
}

kernel void read_new_buffer(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
  y[i] = x[i];  // here
}

kernel void accumulate_into_new_buffer(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] += 1.0f;  // here
}

kernel void write_even(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i * 2] = i;
}
