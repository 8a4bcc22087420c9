// Shared by the kernels and by host code: quantised blocks and argument structures.
#pragma once

#ifdef __METAL__
#define METAL_HALF half
#else
#include <cstdint>
#define METAL_HALF uint16_t
#endif

/// 32 values of 4 bits: value i is d * (q - 8), q the low nibble of qs[i] for i < 16, else the high one of qs[i - 16].
struct block_q4_0 {
  METAL_HALF d;
  unsigned char qs[16];
};

/// 32 values of 8 bits: value i is d * qs[i].
struct block_q8_0 {
  METAL_HALF d;
  signed char qs[32];
};

/// y[M] = W[M, K] x[K]
struct mv_args {
  int K, M;
};

/// C[N, M] = B[N, K] A[M, K]^T
struct mm_args {
  int K, M, N;
};

/// ld_kv: elements from one position of K or V to the next.
struct fa_args {
  int n_kv, n_head, n_head_kv, ld_kv;
  float scale;
};
