// A kernel for each floating-point function: on floats, on float3 (through a scalar second argument where there is
// one), and on halves.
#include <metal_stdlib>
using namespace metal;

#define FLOAT1(name, ...)                                                                                       \
  kernel void name##_float(device const float* x [[buffer(0)]], device float* out [[buffer(3)]],               \
                           uint i [[thread_position_in_grid]]) {                                               \
    out[i] = name(x[i]);                                                                                       \
  }                                                                                                            \
  kernel void name##_float3(device const packed_float3* x [[buffer(0)]], device packed_float3* out [[buffer(3)]], \
                            uint i [[thread_position_in_grid]]) {                                              \
    out[i] = metal::name(float3(x[i]));                                                                        \
  }                                                                                                            \
  kernel void name##_half(device const half* x [[buffer(0)]], device half* out [[buffer(3)]],                  \
                          uint i [[thread_position_in_grid]]) {                                                \
    out[i] = name(x[i]);                                                                                       \
  }
#define FLOAT2(name, ...)                                                                                       \
  kernel void name##_float(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],           \
                           device float* out [[buffer(3)]], uint i [[thread_position_in_grid]]) {              \
    out[i] = name(x[i], y[i]);                                                                                 \
  }                                                                                                            \
  kernel void name##_float3(device const packed_float3* x [[buffer(0)]], device const packed_float3* y [[buffer(1)]], \
                            device packed_float3* out [[buffer(3)]], uint i [[thread_position_in_grid]]) {     \
    out[i] = metal::name(float3(x[i]), float3(y[i]));                                                          \
  }
#define FLOAT3(name, ...)                                                                                       \
  kernel void name##_float(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],           \
                           device const float* z [[buffer(2)]], device float* out [[buffer(3)]],               \
                           uint i [[thread_position_in_grid]]) {                                               \
    out[i] = THREE(name, x[i], y[i], z[i]);                                                                    \
  }                                                                                                            \
  kernel void name##_float3(device const packed_float3* x [[buffer(0)]], device const packed_float3* y [[buffer(1)]], \
                            device const packed_float3* z [[buffer(2)]], device packed_float3* out [[buffer(3)]], \
                            uint i [[thread_position_in_grid]]) {                                              \
    out[i] = THREE(name, float3(x[i]), float3(y[i]), float3(z[i]));                                            \
  }
#define PRECISE1(name, ...)                                                                                     \
  kernel void precise_##name##_float(device const float* x [[buffer(0)]], device float* out [[buffer(3)]],     \
                                     uint i [[thread_position_in_grid]]) {                                     \
    out[i] = precise::name(x[i]);                                                                              \
  }                                                                                                            \
  kernel void precise_##name##_float3(device const packed_float3* x [[buffer(0)]],                             \
                                      device packed_float3* out [[buffer(3)]], uint i [[thread_position_in_grid]]) { \
    out[i] = precise::name(float3(x[i]));                                                                      \
  }

// clamp's limits, and smoothstep's edges, have to be in order.
template <typename T>
inline T ordered_clamp(T x, T y, T z) {
  return clamp(x, min(y, z), max(y, z));
}
template <typename T>
inline T ordered_smoothstep(T x, T y, T z) {
  return smoothstep(x, x + y, z);
}
#define THREE(name, x, y, z) THREE_##name(x, y, z)
#define THREE_clamp ordered_clamp
#define THREE_smoothstep ordered_smoothstep
#define THREE_fma fma
#define THREE_fmax3 fmax3
#define THREE_fmin3 fmin3
#define THREE_fmedian3 fmedian3
#define THREE_max3 max3
#define THREE_min3 min3
#define THREE_median3 median3
#define THREE_mix mix

#include "../functions.def"
