// Kernels whose arithmetic or addresses go wrong, or whose results depend on chance.
#include <metal_stdlib>
using namespace metal;

kernel void misaligned_vector(device char* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  if (i == 0) *(device float4*)(y + 4) = float4(1.0f);  // here
}

kernel void misaligned_scalar(device const char* x [[buffer(0)]], device uint* y [[buffer(1)]],
                              uint i [[thread_position_in_threadgroup]]) {
  y[i] = *(device const uint*)(x + 18 * i);  // here
}

kernel void index_product_overflows(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                    constant int& row [[buffer(2)]], constant int& stride [[buffer(3)]],
                                    uint i [[thread_position_in_grid]]) {
  const int offset = row * stride;  // here
  y[i] = x[offset & 15];
}

kernel void offset_loses_its_upper_half(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                        constant ulong& stride [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  const uint offset = 3 * stride;  // here
  y[i] = x[offset & 15];
}

kernel void shift_too_far(device int* y [[buffer(0)]], constant int& count [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = 1 << count;  // here
}

kernel void own_array_past_end(device float* y [[buffer(0)]], constant int& n [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
  float values[4] = {1, 2, 3, 4};
  float sum = 0;
  for (int k = 0; k <= n; k++) sum += values[k];  // here
  y[i] = sum;
}

kernel void divide_by_zero(device int* y [[buffer(0)]], constant int& n [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  y[i] = int(i) / n;  // here
}

kernel void ticket_order(device atomic_uint* next [[buffer(0)]], device uint* y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  const uint ticket = atomic_fetch_add_explicit(next, 1u, memory_order_relaxed);
  y[ticket] = i;  // here
}

kernel void half_overflows(device half* y [[buffer(0)]], device const float* x [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  y[i] = half(x[i] * 1000.0f);  // here
}

kernel void unsigned_index_wraps(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                 uint i [[thread_position_in_grid]]) {
  const uint before = i - 1;  // here
  y[i] = x[before & 15];
}
