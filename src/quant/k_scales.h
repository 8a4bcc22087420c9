#pragma once
#include <cstdint>

namespace minfer::quant {

/// Scale and minimum of one 32-value sub-block of Q4_K and Q5_K, each 0..63.
struct KScale {
  int scale, min;
};

/// Unpacks sub-block `j` (0..7) from the 12 bytes that hold eight scales and eight minima of 6 bits.
///
/// Sub-blocks 0..3 lie plainly in the low six bits of bytes 0..3 (scales) and 4..7 (minima). Sub-blocks 4..7
/// are split: low four bits in the nibbles of bytes 8..11 (scale low, minimum high), upper two bits in the
/// two top bits that sub-blocks 0..3 left free.
inline KScale unpack_k_scale(const uint8_t* packed, int j) {
  if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
  return {(packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4, packed[j + 4] >> 4 | (packed[j] >> 6) << 4};
}

}  // namespace minfer::quant
