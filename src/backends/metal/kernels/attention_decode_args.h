#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// Attention over a layer's regions, a threadgroup for some query heads of one KV head.
struct DecodeAttentionArgs {
  int32_t n_heads, group;  ///< query heads, and those of one KV head
  int32_t head_dim;
  int32_t heads_a_threadgroup;
  int32_t chunks;          ///< shares of the rows; flash: steps of 32 in turn, split: ranges
  int32_t rows_a_chunk;    ///< split only
  uint32_t row_bytes;
  float scale;
};

/// Records of chunks to results.
struct CombineArgs {
  int32_t n_heads, head_dim, chunks;
};
