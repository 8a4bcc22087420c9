#pragma once
#include "quant/block.h"

namespace minfer::quant {

/// Q8_0: 32 values in 34 bytes, 8.5 bits a value.
///
///   x[e] = q[e] * d              q in -127..127 (a file may hold -128)
///
/// Also the form of packed KV rows and of quantised activations; quant.h has the one quantiser.
struct BlockQ8_0 {
  Half d;
  int8_t qs[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

inline void decode_q8_0(const std::byte* src, float* out) {
  const auto block = load_block<BlockQ8_0>(src);
  const float d = block.d.value();
  for (int e = 0; e < 32; ++e) out[e] = float(block.qs[e]) * d;
}

}  // namespace minfer::quant
