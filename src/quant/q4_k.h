#pragma once
#include "quant/k_scales.h"

namespace minfer::quant {

/// Q4_K: 256 unsigned 4-bit values in eight sub-blocks of 32 with 6-bit scales and minimums, 144 bytes (4.5
/// bits a weight).
///
///   bytes 0-1     d: f16          bytes 2-3  dmin: f16
///   bytes 4-15    scales and minimums (k_scales.h)
///   bytes 16-143  qs: group g of 64 elements uses bytes 32g to 32g+31; low nibbles are sub-block 2g, high
///   ones 2g+1 value         (d * scale) * nibble - (dmin * min)
struct Q4_K {
  static constexpr int64_t elements = 256, bytes = 144;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block), dmin = load_f16(block + 2);
    for (int j = 0; j < 8; ++j) {
      const auto [scale, min] = k_scale_min(block + 4, j);
      const float step = d * float(scale), base = dmin * float(min);
      const std::byte* qs = block + 16 + j / 2 * 32;
      for (int e = 0; e < 32; ++e) {
        const int nibble = j % 2 == 0 ? byte_at(qs, e) & 15 : byte_at(qs, e) >> 4;
        y[32 * j + e] = step * float(nibble) - base;
      }
    }
  }
};

}  // namespace minfer::quant
