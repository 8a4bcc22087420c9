#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/fp16.h"

namespace minfer::quant {

/// An IEEE half as a file stores it: two bytes, low byte first, at any address.
struct Half {
  uint8_t low, high;
  float value() const { return f16_to_f32(uint16_t(low | high << 8)); }
};

/// Copies a block out of the file. Blocks have odd strides (18, 22, 34, 210 bytes), so no address is aligned
/// for anything wider than a byte; block structs therefore hold bytes only and have no padding.
template <class Block>
Block load_block(const std::byte* src) {
  static_assert(alignof(Block) == 1, "a block struct may hold bytes only");
  Block block;
  std::memcpy(&block, src, sizeof block);
  return block;
}

}  // namespace minfer::quant
