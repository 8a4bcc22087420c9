#pragma once
#include "quant/blocks.h"

/// Types without blocks, seen as blocks of one element. Widening is exact, NaN payloads included.
namespace minfer::quant {

struct F32 {
  static constexpr int64_t elements = 1, bytes = 4;
  static void decode(const std::byte* p, float* y) { std::memcpy(y, p, sizeof *y); }
};

struct F16 {
  static constexpr int64_t elements = 1, bytes = 2;
  static void decode(const std::byte* p, float* y) { *y = load_f16(p); }
};

/// bfloat16 is the upper half of an f32.
struct BF16 {
  static constexpr int64_t elements = 1, bytes = 2;
  static void decode(const std::byte* p, float* y) { *y = bf16_to_f32(load_u16(p)); }
};

}  // namespace minfer::quant
