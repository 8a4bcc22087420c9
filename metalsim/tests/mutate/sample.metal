#include <metal_stdlib>
using namespace metal;

// A comment: i < n, s[0]
kernel void sample(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                   uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  threadgroup float other[32];
  if (i >= n) return;
  s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint last = n - 1;
  y[i] = s[min(last, i + 1)] + other[0];
}
