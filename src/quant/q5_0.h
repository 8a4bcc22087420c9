#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// Q5_0: 32 signed 5-bit values with one scale, 22 bytes (5.5 bits a weight).
///
///   bytes 0-1   d: f16
///   bytes 2-5   qh: u32, bit e is the fifth bit of element e
///   bytes 6-21  qs: low four bits, nibbles in the order of Q4_0
///   value       (nibble + 16 * bit - 16) * d
struct Q5_0 {
  static constexpr int64_t elements = 32, bytes = 22;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block);
    const uint32_t high = load_u32(block + 2);
    for (int e = 0; e < 16; ++e) {
      const uint8_t q = byte_at(block, 6 + e);
      y[e] = float(int((q & 15) | (high >> e & 1) << 4) - 16) * d;
      y[e + 16] = float(int((q >> 4) | (high >> (e + 16) & 1) << 4) - 16) * d;
    }
  }
};

}  // namespace minfer::quant
