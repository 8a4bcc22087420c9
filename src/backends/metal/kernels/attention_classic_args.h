#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// Attention of any width, a threadgroup for a token and some query heads of one KV head.
struct ClassicAttentionArgs {
  int32_t n_heads, group;  ///< query heads, and those of one KV head
  int32_t head_dim;
  int32_t heads_a_threadgroup;
  uint32_t row_bytes;
  float scale;
};
