#pragma once
#include "quant/block.h"
#include "quant/k_scales.h"

namespace minfer::quant {

/// Q4_K: 256 values in 144 bytes, 4.5 bits a value.
///
///   x[e] = d * scale[j] * q[e] - dmin * min[j]      q in 0..15, j = e / 32
///
/// Eight affine sub-blocks of 32 whose scales and minima are themselves 6-bit integers in units of d and
/// dmin. Values come in groups of 64: group g uses bytes 32g..32g+31 of qs, low nibbles for its first
/// sub-block, high nibbles for its second. Products are formed left to right: d * scale is rounded before it
/// meets q.
struct BlockQ4_K {
  Half d, dmin;
  uint8_t scales[12];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

inline void decode_q4_k(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ4_K>(src);
  for (int j = 0; j < 8; ++j) {
    const KScale k = unpack_k_scale(block.scales, j);
    const float scale = block.d.value() * float(k.scale);
    const float min = block.dmin.value() * float(k.min);
    const uint8_t* qs = block.qs + j / 2 * 32;
    const int shift = j % 2 * 4;
    for (int l = 0; l < 32; ++l) out[j * 32 + l] = scale * float(qs[l] >> shift & 15) - min;
  }
}

}  // namespace minfer::quant
