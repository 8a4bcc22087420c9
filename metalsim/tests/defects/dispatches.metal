// Kernels whose dispatches a concurrent encoder may run at the same time.
#include <metal_stdlib>
using namespace metal;

kernel void produce(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] = i;  // here
}

kernel void consume(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = x[i];  // here
}

kernel void twice(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] *= 2;  // here
}
