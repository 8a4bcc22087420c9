#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// Q4_0: 32 signed 4-bit values with one scale, 18 bytes (4.5 bits a weight).
///
///   bytes 0-1   d: f16
///   bytes 2-17  qs: element e < 16 is the low nibble of qs[e], element e + 16 the high nibble of qs[e]
///   value       (nibble - 8) * d
struct Q4_0 {
  static constexpr int64_t elements = 32, bytes = 18;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block);
    for (int e = 0; e < 16; ++e) {
      const uint8_t q = byte_at(block, 2 + e);
      y[e] = float((q & 15) - 8) * d;
      y[e + 16] = float((q >> 4) - 8) * d;
    }
  }
};

}  // namespace minfer::quant
