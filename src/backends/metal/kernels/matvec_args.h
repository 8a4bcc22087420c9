// Of the matrix-vector kernels; read by kernels and host.
#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// Rows of a simdgroup, simdgroups of a threadgroup, and what a dispatch can take. More rows need the
/// activations less often, more accumulators leave fewer registers.
enum MatvecShape {
  matvec_32_rows = 4,  ///< Q4_0, Q4_1, Q5_0, Q5_1
  matvec_32_simdgroups = 2,
  matvec_q8_rows = 2,  ///< Q8_0: its simdgroups share the same rows
  matvec_q8_simdgroups = 4,
  matvec_k_rows = 2,  ///< Q4_K, Q5_K, Q6_K
  matvec_k_simdgroups = 2,
  matvec_float_rows = 4,  ///< F32, F16, BF16
  matvec_float_simdgroups = 2,
  matvec_most_tokens = 8,   ///< that a batch kernel takes at once
  matvec_most_weights = 3,  ///< whose rows may follow one another in one dispatch
};

/// y[t, first_row[i] + r] = sum_c weight_i[r, c] * x[t, c]
struct MatvecArgs {
  int32_t cols;
  int32_t tokens;
  int32_t y_stride;    ///< values from one token's y to the next
  uint32_t row_bytes;  ///< of a weight
  // By weight. One that is not there begins after the last threadgroup.
  uint32_t first_group[matvec_most_weights];  ///< the first threadgroup that works on it
  int32_t rows[matvec_most_weights];
  int32_t first_row[matvec_most_weights];  ///< where its rows begin in y
};
