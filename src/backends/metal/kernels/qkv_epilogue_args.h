#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// What follows the q, k and v matmuls of one token; a threadgroup takes neighbouring heads of one of the
/// three.
struct QkvEpilogueArgs {
  int32_t head_dim, n_heads, n_kv_heads;
  int32_t heads_a_threadgroup;  ///< whole blocks of 32 values where rows are packed
  int32_t interleaved;          ///< rope's pairs
  int32_t biases;               ///< bits: 1 q, 2 k, 4 v
  int32_t norms;                ///< q and k are normalised head by head
  uint32_t row_bytes;
  float eps;
};
