#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// Q5_1: 32 values in 24 bytes, 6 bits a value.
///
///   x[e] = q[e] * d + m          q in 0..31
///
/// The affine form of Q5_0: bits are stored the same way, without the offset.
struct BlockQ5_1 {
  Half d, m;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

inline void decode_q5_1(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ5_1>(src);
  const float d = block.d.value(), m = block.m.value();
  const auto fifth_bit = [&](int e) { return (block.qh[e / 8] >> (e % 8) & 1) << 4; };
  for (int i = 0; i < 16; ++i) {
    out[i] = float((block.qs[i] & 15) | fifth_bit(i)) * d + m;
    out[i + 16] = float(block.qs[i] >> 4 | fifth_bit(i + 16)) * d + m;
  }
}

}  // namespace minfer::quant
