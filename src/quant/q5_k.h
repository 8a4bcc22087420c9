#pragma once
#include "quant/k_scales.h"

namespace minfer::quant {

/// Q5_K: Q4_K with a fifth bit, 176 bytes (5.5 bits a weight). Values are unsigned, as in Q4_K.
///
///   bytes 0-1     d: f16          bytes 2-3  dmin: f16
///   bytes 4-15    scales and minimums (k_scales.h)
///   bytes 16-47   qh: bit j of qh[e] is the fifth bit of element e of sub-block j
///   bytes 48-175  qs: low four bits, laid out as in Q4_K
///   value         (d * scale) * (nibble + 16 * bit) - (dmin * min)
struct Q5_K {
  static constexpr int64_t elements = 256, bytes = 176;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block), dmin = load_f16(block + 2);
    for (int j = 0; j < 8; ++j) {
      const auto [scale, min] = k_scale_min(block + 4, j);
      const float step = d * float(scale), base = dmin * float(min);
      const std::byte* qs = block + 48 + j / 2 * 32;
      for (int e = 0; e < 32; ++e) {
        const int nibble = j % 2 == 0 ? byte_at(qs, e) & 15 : byte_at(qs, e) >> 4;
        const int bit = byte_at(block, 16 + e) >> j & 1;
        y[32 * j + e] = step * float(nibble + 16 * bit) - base;
      }
    }
  }
};

}  // namespace minfer::quant
