#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// Q6_K: 256 signed 6-bit values in sixteen sub-blocks of 16 with 8-bit scales, 210 bytes (6.56 bits a
/// weight).
///
///   bytes 0-127    ql: low four bits        bytes 128-191  qh: upper two bits
///   bytes 192-207  sc: i8, one a sub-block  bytes 208-209  d: f16
///
/// Each half of 128 elements has 64 bytes of ql and 32 of qh. Quarter k (elements 32k to 32k+31 of the half)
/// takes byte l + 32 * (k % 2) of the half's ql, its low nibble for k < 2 and its high one after, and bits
/// 2k, 2k+1 of qh[l].
///   value          (d * sc[element / 16]) * (q - 32)
struct Q6_K {
  static constexpr int64_t elements = 256, bytes = 210;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block + 208);
    for (int half = 0; half < 2; ++half) {
      const std::byte* ql = block + 64 * half;
      const std::byte* qh = block + 128 + 32 * half;
      for (int k = 0; k < 4; ++k)
        for (int l = 0; l < 32; ++l) {
          const int low = byte_at(ql, l + 32 * (k % 2));
          const int q = (k < 2 ? low & 15 : low >> 4) | (byte_at(qh, l) >> 2 * k & 3) << 4;
          const int element = 128 * half + 32 * k + l;
          const float step = d * float(int8_t(byte_at(block, 192 + element / 16)));
          y[element] = step * float(q - 32);
        }
    }
  }
};

}  // namespace minfer::quant
