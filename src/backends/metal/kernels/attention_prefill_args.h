// Shared by kernels/attention_prefill.metal, attention_three_pass.metal and the code that encodes them.
#pragma once

#ifndef __METAL__
#include <cstdint>
#endif

/// Tiles of the flash kernel, and how its threadgroup memory is cut, in floats. After each row of queries and
/// scores there are eight more, which put the rows of an 8x8 matrix into different banks.
enum {
  prefill_queries = 8,
  prefill_rows = 64,
  prefill_simdgroups = 4,
  prefill_row_padding = 8,
  prefill_score_stride = prefill_rows + prefill_row_padding,
  prefill_scores = prefill_queries * prefill_score_stride,
  prefill_matrix = 64,  ///< elements of an 8x8 matrix
  /// scores twice, factors, a stage for each simdgroup, 1 / denominator for each query
  prefill_fixed_floats = 2 * prefill_scores + (1 + prefill_simdgroups) * prefill_matrix + prefill_queries,
};

/// Strides in elements. A query sees the rows 0 to its position.
struct PrefillFlashArgs {
  int32_t tokens;
  int32_t heads_per_kv_head;
  int32_t q_stride, y_stride;  ///< from token to token
  int32_t kv_stride;           ///< from row to row
  float scale;
};

/// The three passes; scores are [query][head][n_ctx].
struct ThreePassArgs {
  int32_t heads, heads_per_kv_head, head_dim;
  int32_t q_stride, y_stride, kv_stride;
  int32_t n_ctx;
  float scale;
};
