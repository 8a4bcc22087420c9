#pragma once
#include <cstddef>
#include <cstdint>

#include "quant/dtype.h"

namespace minfer {

/// Decodes `elements` values of `type` (a whole number of blocks) to f32, bit for bit as the format defines
/// them. The plain reference: fast kernels are tested against it. `src` needs no alignment.
void decode_row(DType type, const std::byte* src, float* dst, int64_t elements);

/// The one Q8_0 quantiser: KV store, tests and, on every device, byte-identical results.
///
///   amax = max|x| over 32 values; d = amax / 127 stored as f16;
///   q = round_half_even(x * (127 / amax)), 0 when amax = 0, clamped to [-127, 127]
///
/// `elements` is a multiple of 32; `dst` receives elements / 32 blocks of 34 bytes.
void quantise_row_q8_0(const float* x, std::byte* dst, int64_t elements);

}  // namespace minfer
