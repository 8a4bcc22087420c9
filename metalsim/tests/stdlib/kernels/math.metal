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
inline T ordered_smoothstep(T x, T, T z) {
  return smoothstep(x * T(0.5), x, z);
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

// One kernel for all functions of a narrow type: out[i] is function `which`, in the order of functions.def.
#undef FLOAT1
#undef FLOAT2
#undef FLOAT3
#undef PRECISE1
#define PRECISE1(name, ...)
#define FLOAT1(name, ...) number_of_##name,
#define FLOAT2(name, ...) number_of_##name,
#define FLOAT3(name, ...) number_of_##name,
enum FunctionNumber {
#include "../functions.def"
};
#undef FLOAT1
#undef FLOAT2
#undef FLOAT3
#define FLOAT1(name, ...) \
  case number_of_##name: out[i] = name(x[i]); break;
#define FLOAT2(name, ...) \
  case number_of_##name: out[i] = name(x[i], y[i]); break;
#define FLOAT3(name, ...) \
  case number_of_##name: out[i] = THREE(name, x[i], y[i], z[i]); break;
template <typename T>
kernel void narrow_functions(device const T* x [[buffer(0)]], device const T* y [[buffer(1)]],
                             device const T* z [[buffer(2)]], device T* out [[buffer(3)]],
                             constant uint& which [[buffer(4)]], uint i [[thread_position_in_grid]]) {
  switch (which) {
#include "../functions.def"
  }
}
typedef decltype(narrow_functions<half>) narrow_functions_t;
template [[host_name("functions_of_half")]] kernel narrow_functions_t narrow_functions<half>;
template [[host_name("functions_of_bfloat")]] kernel narrow_functions_t narrow_functions<bfloat>;

kernel void next_float(device const float2* x [[buffer(0)]], device float2* out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = float2(nextafter(x[i].x, x[i].y), nextafter(x[i], x[i].yx).y);
}
kernel void next_half(device const half2* x [[buffer(0)]], device half2* out [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  out[i] = half2(nextafter(x[i].x, x[i].y), nextafter(x[i], x[i].yx).y);
}
