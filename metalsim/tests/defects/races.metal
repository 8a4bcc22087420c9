// Kernels whose threads touch the same memory without order.
#include <metal_stdlib>
using namespace metal;

kernel void lanes_without_barrier(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                  uint i [[thread_position_in_threadgroup]]) {
  s[i] = i;  // earlier
  if (i % 2 == 1) y[i] = s[i - 1];  // here
}

kernel void read_then_overwritten(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                  uint i [[thread_position_in_threadgroup]]) {
  s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float v = s[63 - i];  // earlier
  s[i] = v + 1;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[i];
}

kernel void all_write_one(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                          uint i [[thread_position_in_threadgroup]]) {
  s[0] = i;  // here earlier
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[0];
}

kernel void barrier_without_memory(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                   uint i [[thread_position_in_threadgroup]]) {
  s[i] = i;  // earlier
  threadgroup_barrier(mem_flags::mem_none);
  y[i] = s[i ^ 1];  // here
}

kernel void barrier_of_wrong_memory(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                                    uint n [[threads_per_threadgroup]]) {
  y[i] = i;  // earlier
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float v = y[n - 1 - i];  // here
  threadgroup_barrier(mem_flags::mem_device);
  y[i] = v;
}

kernel void barrier_of_simdgroup_only(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                      uint i [[thread_position_in_threadgroup]]) {
  s[i] = i;  // earlier
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[(i + 32) % 64];  // here
}

kernel void missing_in_tree(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                            uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint d = n / 2; d > 0; d >>= 1) {
    if (i < d) s[i] += s[i + d];  // here earlier
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[0];
}

kernel void buffer_reused_too_early(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                    uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  float sum = 0;
  for (uint k = 0; k < 4; k++) {
    s[i] = i * k;  // here
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += s[n - 1 - i];  // earlier
  }
  y[i] = sum;
}

kernel void simd_sum_then_shared(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                 uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                                 uint sg [[simdgroup_index_in_threadgroup]]) {
  const float t = simd_sum(float(i));
  if (lane == 0) s[sg] = t;  // earlier
  y[i] = s[0] + s[1];  // here
}

kernel void threadgroups_write_one(device float* y [[buffer(0)]], uint g [[threadgroup_position_in_grid]],
                                   uint i [[thread_position_in_threadgroup]]) {
  y[i] = g;  // here earlier
}

kernel void threadgroup_reads_other(device float* y [[buffer(0)]], uint g [[threadgroup_position_in_grid]],
                                    uint i [[thread_position_in_grid]]) {
  const float before = g ? y[i - 32] : 0.0f;  // here
  y[i] = before + 1;  // earlier
}

kernel void atomic_and_plain(device atomic_uint* counter [[buffer(0)]], device uint* plain [[buffer(1)]],
                             uint g [[threadgroup_position_in_grid]]) {
  if (g == 0) atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);  // earlier
  else plain[0] = 5;  // here
}

kernel void bytes_of_one_word(device uchar* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  y[i / 2] = uchar(i);  // here earlier
}

kernel void matrix_store_then_read(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                   uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m(2.0f);
  simdgroup_store(m, s, 8);  // earlier
  y[lane] = s[lane * 2];  // here
}

kernel void device_neighbours(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  y[i] = i;  // earlier
  if (i > 0) y[i] += y[i - 1];  // here
}
