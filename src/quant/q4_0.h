#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// Q4_0: 32 values in 18 bytes, 4.5 bits a value.
///
///   x[e] = (q[e] - 8) * d        q in 0..15
///
/// Symmetric around zero: one scale, and the unsigned nibble carries an offset of 8. Byte i holds value i in
/// its low nibble and value i + 16 in its high one, so that one mask and one shift yield two runs of 16 in
/// order.
struct BlockQ4_0 {
  Half d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

inline void decode_q4_0(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ4_0>(src);
  const float d = block.d.value();
  for (int i = 0; i < 16; ++i) {
    out[i] = float((block.qs[i] & 15) - 8) * d;
    out[i + 16] = float((block.qs[i] >> 4) - 8) * d;
  }
}

}  // namespace minfer::quant
