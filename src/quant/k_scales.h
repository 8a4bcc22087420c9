#pragma once
#include "quant/blocks.h"

namespace minfer::quant {

/// The scale and minimum of one sub-block, 0 to 63 each.
struct ScaleMin {
  int scale, min;
};

/// Q4_K and Q5_K pack eight 6-bit scales and eight 6-bit minimums into 12 bytes. Sub-blocks 0-3 take the low
/// six bits of bytes j and j + 4; sub-blocks 4-7 take their low four bits from the nibbles of byte j + 4 and
/// their upper two from the top bits of bytes j - 4 (scale) and j (minimum).
inline ScaleMin k_scale_min(const std::byte* scales, int j) {
  if (j < 4) return {byte_at(scales, j) & 63, byte_at(scales, j + 4) & 63};
  const int packed = byte_at(scales, j + 4);
  return {(packed & 15) | (byte_at(scales, j - 4) >> 6) << 4, (packed >> 4) | (byte_at(scales, j) >> 6) << 4};
}

}  // namespace minfer::quant
