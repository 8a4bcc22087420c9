#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// Q4_1: 32 values in 20 bytes, 5 bits a value.
///
///   x[e] = q[e] * d + m          q in 0..15
///
/// The affine form of Q4_0: m is the block's smallest value, d the distance between levels. Nibbles as in
/// Q4_0.
struct BlockQ4_1 {
  Half d, m;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

inline void decode_q4_1(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ4_1>(src);
  const float d = block.d.value(), m = block.m.value();
  for (int i = 0; i < 16; ++i) {
    out[i] = float(block.qs[i] & 15) * d + m;
    out[i + 16] = float(block.qs[i] >> 4) * d + m;
  }
}

}  // namespace minfer::quant
