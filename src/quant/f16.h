#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// F16: an IEEE half a value. Widening is exact.
inline void decode_f16(const std::byte* src, float* out) { *out = load_block<Half>(src).value(); }

}  // namespace minfer::quant
