#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// Q5_0: 32 values in 22 bytes, 5.5 bits a value.
///
///   x[e] = (q[e] - 16) * d       q in 0..31
///
/// Low four bits as in Q4_0; the fifth bit of value e is bit e of `qh` (byte e / 8, bit e % 8). The offset is
/// 16, half of the 32 levels.
struct BlockQ5_0 {
  Half d;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

inline void decode_q5_0(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ5_0>(src);
  const float d = block.d.value();
  const auto fifth_bit = [&](int e) { return (block.qh[e / 8] >> (e % 8) & 1) << 4; };
  for (int i = 0; i < 16; ++i) {
    out[i] = float(((block.qs[i] & 15) | fifth_bit(i)) - 16) * d;
    out[i + 16] = float((block.qs[i] >> 4 | fifth_bit(i + 16)) - 16) * d;
  }
}

}  // namespace minfer::quant
