#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/fp16.h"

/// Little-endian loads from packed blocks. Block strides of 18, 22, 34 and 210 bytes leave every field
/// unaligned.
namespace minfer::quant {

inline uint8_t byte_at(const std::byte* p, int64_t i) { return std::to_integer<uint8_t>(p[i]); }

inline uint16_t load_u16(const std::byte* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline uint32_t load_u32(const std::byte* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline float load_f16(const std::byte* p) { return f16_to_f32(load_u16(p)); }

}  // namespace minfer::quant
