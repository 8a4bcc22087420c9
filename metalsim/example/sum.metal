#include <metal_stdlib>
using namespace metal;

// Adds the values of one threadgroup. Halves the distance each round, and forgets a barrier.
kernel void sum(device const float* x [[buffer(0)]], device float* total [[buffer(1)]],
                threadgroup float* part [[threadgroup(0)]],
                uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  part[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint width = n / 2; width > 0; width /= 2) {
    if (i < width) part[i] += part[i + width];
  }
  if (i == 0) total[0] = part[0];
}
