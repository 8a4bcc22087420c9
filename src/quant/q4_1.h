#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// Q4_1: 32 unsigned 4-bit values with a scale and a minimum, 20 bytes (5 bits a weight).
///
///   bytes 0-1   d: f16        bytes 2-3  m: f16
///   bytes 4-19  qs: nibbles in the order of Q4_0
///   value       nibble * d + m
struct Q4_1 {
  static constexpr int64_t elements = 32, bytes = 20;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block), m = load_f16(block + 2);
    for (int e = 0; e < 16; ++e) {
      const uint8_t q = byte_at(block, 4 + e);
      y[e] = float(q & 15) * d + m;
      y[e + 16] = float(q >> 4) * d + m;
    }
  }
};

}  // namespace minfer::quant
