#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// Q6_K: 256 values in 210 bytes, 6.5625 bits a value.
///
///   x[e] = d * sc[e / 16] * (q[e] - 32)             q in 0..63, sc in -128..127
///
/// Sixteen symmetric sub-blocks of 16 with signed 8-bit scales in units of d. The two halves of 128 values
/// are coded alike: quarter k (0..3) of a half takes its low four bits from ql (quarters 0 and 2 the low and
/// high nibbles of the half's first 32 bytes, 1 and 3 those of the next 32) and its upper two bits from bits
/// 2k, 2k+1 of qh. The scale d stands last.
struct BlockQ6_K {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t sc[16];
  Half d;
};
static_assert(sizeof(BlockQ6_K) == 210);

inline void decode_q6_k(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ6_K>(src);
  const float d = block.d.value();
  for (int quarter = 0; quarter < 8; ++quarter) {
    const int half = quarter / 4, k = quarter % 4;
    const uint8_t* ql = block.ql + half * 64 + k % 2 * 32;
    const uint8_t* qh = block.qh + half * 32;
    for (int l = 0; l < 32; ++l) {
      const int q = (ql[l] >> (k / 2 * 4) & 15) | (qh[l] >> (2 * k) & 3) << 4;
      out[quarter * 32 + l] = d * float(block.sc[quarter * 2 + l / 16]) * float(q - 32);
    }
  }
}

}  // namespace minfer::quant
