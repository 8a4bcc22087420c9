#pragma once
// The one quantiser of packed KV rows, as kernels see it. Its bytes are those of quantise_row_q8_0 on the
// host for all finite values, so both divisions are correctly rounded ones: fast-math would replace them by
// reciprocals.

// Below it 127 / amax overflows.
constant constexpr float q8_0_least_amax = 3.73215e-37f;

/// One block by one simdgroup: lane i brings value i. All 32 lanes must come here.
inline void store_block_q8_0(device uchar* block, float value, int lane) {
  const float amax = simd_max(fabs(value));
  float q = 0.0f;
  if (amax >= q8_0_least_amax) {
    q = clamp(rint(value * precise::divide(127.0f, amax)), -127.0f, 127.0f);
  } else if (value != 0.0f) {
    q = value > 0.0f ? 127.0f : -127.0f;  // an infinite reciprocal, clamped; d is 0 as a half
  }
  block[2 + lane] = as_type<uchar>(char(q));
  if (lane == 0) *(device half*)block = half(precise::divide(amax, 127.0f));
}
