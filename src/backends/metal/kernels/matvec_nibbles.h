// What the matrix-vector kernels of Q4_0, Q4_1, Q5_0 and Q5_1 share: half a block in 16 registers.
#pragma once
#include "matvec.h"
#include "nibbles.h"

// Eight bytes of a block: values 8 * part to 8 * part + 7 in the low nibbles, 16 further on in the high ones.
struct Nibbles16 {
  float4 low[2], high[2];
};

inline Nibbles16 decode_nibbles(device const uchar* qs) {
  const ushort4 q = load_bytes8(qs);
  return {{low_nibbles(q.xy), low_nibbles(q.zw)}, {high_nibbles(q.xy), high_nibbles(q.zw)}};
}

// The activations that they meet, by place.
inline Nibbles16 inputs_of_nibbles(device const float* x) {
  device const float4* low = (device const float4*)x;
  device const float4* high = low + 4;
  return {{low[0] * low_inverse, low[1] * low_inverse}, {high[0] * high_inverse, high[1] * high_inverse}};
}

inline float dot_nibbles(thread const Nibbles16& q, thread const Nibbles16& x, float s) {
  s = chain(q.low[0], x.low[0], s);
  s = chain(q.low[1], x.low[1], s);
  s = chain(q.high[0], x.high[0], s);
  return chain(q.high[1], x.high[1], s);
}

// `factor` times the activations' sum.
inline float sum_inputs(thread const Nibbles16& x, float factor) {
  const float4 low = factor * low_places, high = factor * high_places;
  const Nibbles16 factors = {{low, low}, {high, high}};
  return dot_nibbles(factors, x, 0.0f);
}
