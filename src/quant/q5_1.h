#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// Q5_1: 32 unsigned 5-bit values with a scale and a minimum, 24 bytes (6 bits a weight).
///
///   bytes 0-1   d: f16        bytes 2-3  m: f16
///   bytes 4-7   qh: u32, bit e is the fifth bit of element e
///   bytes 8-23  qs: low four bits, nibbles in the order of Q4_0
///   value       (nibble + 16 * bit) * d + m
struct Q5_1 {
  static constexpr int64_t elements = 32, bytes = 24;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block), m = load_f16(block + 2);
    const uint32_t high = load_u32(block + 4);
    for (int e = 0; e < 16; ++e) {
      const uint8_t q = byte_at(block, 8 + e);
      y[e] = float((q & 15) | (high >> e & 1) << 4) * d + m;
      y[e + 16] = float((q >> 4) | (high >> (e + 16) & 1) << 4) * d + m;
    }
  }
};

}  // namespace minfer::quant
