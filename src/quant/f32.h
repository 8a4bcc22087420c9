#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// F32: four bytes a value, low byte first.
inline void decode_f32(const std::byte* src, float* out) { std::memcpy(out, src, sizeof *out); }

}  // namespace minfer::quant
