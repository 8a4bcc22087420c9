#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/dtype.h"

namespace minfer::bench {

/// Random weights of one tensor.
struct RandomWeights {
  DType type;
  float mean = 0;   ///< of plain types; the others are centred on zero
  float deviation;  ///< standard deviation of the decoded values
  uint64_t seed;
};

/// Fills `out` with the blocks from number `first_block` on, each of them one that a quantiser could have
/// written: random integers, finite scales of the size that the deviation asks for. The same seed and block
/// number give the same bytes only for the same way of cutting a tensor into calls.
void fill_random(const RandomWeights& weights, uint64_t first_block, std::span<std::byte> out);

}  // namespace minfer::bench
