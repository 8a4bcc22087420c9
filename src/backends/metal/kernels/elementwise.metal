// One value from one or two values. Four a thread; the last thread may have fewer.
#include <metal_stdlib>
#include "elementwise_args.h"
using namespace metal;

static inline float silu(float x) { return x / (1.0f + precise::exp(-x)); }

struct Add {
  static float of(float a, float b) { return a + b; }
};
struct Mul {
  static float of(float a, float b) { return a * b; }
};
struct SwiGlu {
  static float of(float gate, float up) { return silu(gate) * up; }
};

template <class Op>
kernel void binary(constant ElementwiseArgs& args [[buffer(0)]],
                   device float* y [[buffer(1)]],
                   device const float* a [[buffer(2)]],
                   device const float* b [[buffer(3)]],
                   uint thread_index [[thread_position_in_grid]]) {
  const uint first = thread_index * 4;
  for (uint i = first; i < min(first + 4, args.count); ++i) y[i] = Op::of(a[i], b[i]);
}
template [[host_name("add_f32")]] kernel decltype(binary<Add>) binary<Add>;
template [[host_name("mul_f32")]] kernel decltype(binary<Mul>) binary<Mul>;
template [[host_name("swiglu_f32")]] kernel decltype(binary<SwiGlu>) binary<SwiGlu>;

kernel void silu_f32(constant ElementwiseArgs& args [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     device const float* x [[buffer(2)]],
                     uint thread_index [[thread_position_in_grid]]) {
  const uint first = thread_index * 4;
  for (uint i = first; i < min(first + 4, args.count); ++i) y[i] = silu(x[i]);
}

// y[t] += row for every token t.
kernel void add_row_f32(constant ElementwiseArgs& args [[buffer(0)]],
                        device float* y [[buffer(1)]],
                        device const float* row [[buffer(2)]],
                        uint thread_index [[thread_position_in_grid]]) {
  const uint first = thread_index * 4;
  for (uint i = first; i < min(first + 4, args.count); ++i) y[i] += row[i % args.period];
}

kernel void copy_f32(constant ElementwiseArgs& args [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     device const float* x [[buffer(2)]],
                     uint thread_index [[thread_position_in_grid]]) {
  const uint first = thread_index * 4;
  for (uint i = first; i < min(first + 4, args.count); ++i) y[i] = x[i];
}
