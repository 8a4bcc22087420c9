// Kernels that leave their memory. `// here` marks the line that a report must name, `// earlier` the other access.
#include <metal_stdlib>
using namespace metal;

kernel void read_past_end(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = x[i + 1];  // here
}

kernel void read_before_begin(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  y[i] = x[int(i) - 1];  // here
}

kernel void write_past_end(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i * 2] = 1.0f;  // here
}

kernel void read_far_away(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = x[i * 100000];  // here
}

kernel void wild_pointer(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  device float* p = y - 100000000;
  y[i] = p[i];  // here
}

kernel void vector_past_end(device const float4* x [[buffer(0)]], device float* y [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
  y[i] = x[i].x + x[i].w;  // here
}

kernel void threadgroup_argument_past_end(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                          uint i [[thread_position_in_threadgroup]]) {
  s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[i + 1];  // here
}

kernel void threadgroup_array_past_end(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float first[64];
  threadgroup float second[64];
  second[i] = i;
  first[i + 8] = i;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = second[i] + first[i];
}

kernel void write_to_constant(constant float& c [[buffer(0)]], device float* y [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  *(device float*)&c = i;  // here
  y[i] = c;
}

kernel void write_to_const_buffer(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
  ((device float*)x)[i] = 1.0f;  // here
  y[i] = 2.0f;
}

kernel void matrix_past_end(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, x, 9);  // here
  simdgroup_store(m, y, 8);
}

kernel void missing_guard(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                          constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i > n) return;
  y[i] = x[i];  // here
}
