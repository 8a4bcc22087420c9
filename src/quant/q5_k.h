#pragma once
#include "quant/block.h"
#include "quant/k_scales.h"

namespace minfer::quant {

/// Q5_K: 256 values in 176 bytes, 5.5 bits a value.
///
///   x[e] = d * scale[j] * q[e] - dmin * min[j]      q in 0..31, j = e / 32
///
/// Q4_K with a fifth bit: bit j of qh[e % 32] is bit 4 of value e. The value is unsigned; the minimum does
/// the work that an offset does in Q5_0.
struct BlockQ5_K {
  Half d, dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

inline void decode_q5_k(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ5_K>(src);
  for (int j = 0; j < 8; ++j) {
    const KScale k = unpack_k_scale(block.scales, j);
    const float scale = block.d.value() * float(k.scale);
    const float min = block.dmin.value() * float(k.min);
    const uint8_t* qs = block.qs + j / 2 * 32;
    const int shift = j % 2 * 4;
    for (int l = 0; l < 32; ++l) {
      const int q = (qs[l] >> shift & 15) | (block.qh[l] >> j & 1) << 4;
      out[j * 32 + l] = scale * float(q) - min;
    }
  }
}

}  // namespace minfer::quant
