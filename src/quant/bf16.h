#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// BF16: the upper two bytes of a float, low byte first. Widening is exact, NaN payloads included.
inline void decode_bf16(const std::byte* src, float* out) {
  uint16_t bits;
  std::memcpy(&bits, src, sizeof bits);
  *out = bf16_to_f32(bits);
}

}  // namespace minfer::quant
