// Half and bfloat: conversions and single operations.
#include <metal_stdlib>
using namespace metal;

#define CONVERSIONS(narrow)                                                                                   \
  kernel void narrow##_to_float(device const narrow* in [[buffer(0)]], device float* out [[buffer(1)]],       \
                                uint i [[thread_position_in_grid]]) {                                         \
    out[i] = float(in[i]);                                                                                    \
  }                                                                                                           \
  kernel void float_to_##narrow(device const float* in [[buffer(0)]], device narrow* out [[buffer(1)]],       \
                                uint i [[thread_position_in_grid]]) {                                         \
    out[i] = narrow(in[i]);                                                                                   \
  }                                                                                                           \
  kernel void float4_to_##narrow##4(device const float4* in [[buffer(0)]], device narrow##4* out [[buffer(1)]], \
                                    uint i [[thread_position_in_grid]]) {                                     \
    out[i] = narrow##4(in[i]);                                                                                \
  }                                                                                                           \
  kernel void narrow##_to_int(device const narrow* in [[buffer(0)]], device int* out [[buffer(1)]],           \
                              uint i [[thread_position_in_grid]]) {                                           \
    out[i] = int(in[i]);                                                                                      \
  }                                                                                                           \
  kernel void short_to_##narrow(device const short* in [[buffer(0)]], device narrow* out [[buffer(1)]],       \
                                uint i [[thread_position_in_grid]]) {                                         \
    out[i] = narrow(in[i]);                                                                                   \
  }                                                                                                           \
  /* five results a pair: sum, difference, product, quotient, and the product plus x with two roundings */    \
  kernel void narrow##_operations(device const narrow* x [[buffer(0)]], device const narrow* y [[buffer(1)]], \
                                  device narrow* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {     \
    out[i * 5 + 0] = x[i] + y[i];                                                                             \
    out[i * 5 + 1] = x[i] - y[i];                                                                             \
    out[i * 5 + 2] = x[i] * y[i];                                                                             \
    out[i * 5 + 3] = x[i] / y[i];                                                                             \
    out[i * 5 + 4] = x[i] * y[i] + x[i];                                                                      \
  }                                                                                                           \
  kernel void narrow##4_operations(device const narrow##4* x [[buffer(0)]], device const narrow##4* y [[buffer(1)]], \
                                   device narrow##4* out [[buffer(2)]], uint i [[thread_position_in_grid]]) { \
    out[i * 5 + 0] = x[i] + y[i];                                                                             \
    out[i * 5 + 1] = x[i] - y[i];                                                                             \
    out[i * 5 + 2] = x[i] * y[i];                                                                             \
    out[i * 5 + 3] = x[i] / y[i];                                                                             \
    out[i * 5 + 4] = x[i] * y[i] + x[i];                                                                      \
  }
CONVERSIONS(half)
CONVERSIONS(bfloat)

kernel void half_fma(device const half* x [[buffer(0)]], device const half* y [[buffer(1)]],
                     device const half* z [[buffer(2)]], device half* out [[buffer(3)]],
                     uint i [[thread_position_in_grid]]) {
  out[i] = fma(x[i], y[i], z[i]);
}

// Classes of every half: bits isnan, isinf, isfinite, isnormal, signbit.
kernel void half_classes(device const half* x [[buffer(0)]], device uint* out [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  const half2 v = half2(x[i]);
  out[i] = isnan(x[i]) | isinf(x[i]) << 1 | isfinite(v).y << 2 | isnormal(x[i]) << 3 | signbit(v).x << 4 |
           isunordered(x[i], half(1)) << 5 | isordered(v, half2(1)).x << 6;
}
