#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// How far one position turns a pair, as a part of a full turn: (high + low / 2^32) / 2^32. Whole turns are
/// left out.
struct RopeFrequency {
  uint32_t high, low;
};

/// Rows of n_heads heads of head_dim values.
struct RopeArgs {
  int32_t head_dim, n_heads, tokens;
  int32_t interleaved;  ///< pairs (2i, 2i+1); 0: (i, i + head_dim/2)
};
