#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// Q8_0: 32 signed 8-bit values with one scale, 34 bytes (8.5 bits a weight).
///
///   bytes 0-1   d: f16
///   bytes 2-33  qs: i8
///   value       qs * d
struct Q8_0 {
  static constexpr int64_t elements = 32, bytes = 34;

  static void decode(const std::byte* block, float* y) {
    const float d = load_f16(block);
    for (int e = 0; e < 32; ++e) y[e] = float(int8_t(byte_at(block, 2 + e))) * d;
  }
};

}  // namespace minfer::quant
