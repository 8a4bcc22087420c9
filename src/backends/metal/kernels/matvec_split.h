// The skeleton of matvec.h with one difference: all simdgroups of a threadgroup share the same rows, each
// taking every n-th piece of them. For types of many bytes a value: more of a row is in flight at once.
#pragma once
#include "matvec.h"

template <class Format, short TOKENS>
kernel void matvec_split(constant MatvecArgs& args [[buffer(0)]],
                         device float* y [[buffer(1)]],
                         device const float* x [[buffer(2)]],
                         device const float* bias [[buffer(3), function_constant(with_bias)]],
                         device const uchar* weight_a [[buffer(4)]],
                         device const uchar* weight_b [[buffer(5)]],
                         device const uchar* weight_c [[buffer(6)]],
                         uint group [[threadgroup_position_in_grid]],
                         ushort lane [[thread_index_in_simdgroup]],
                         ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[Format::rows * TOKENS][Format::simdgroups];
  const Rows<Format::rows> rows =
      rows_of<Format::rows, Format::rows>(args, weight_a, weight_b, weight_c, group, 0);
  Tokens tokens = {0, short(TOKENS == 1 ? 1 : batch_tokens)};
  for (; tokens.first < args.tokens; tokens.first += tokens.count) {
    Sums<Format::rows, TOKENS> sums;
    sums.clear();
    accumulate<Format, TOKENS>(sums, args, rows, x, tokens, simdgroup * 32 + lane, Format::simdgroups * 32);
#pragma unroll
    for (short t = 0; t < TOKENS; t++) {
      if (t >= tokens.count) continue;
#pragma unroll
      for (short r = 0; r < Format::rows; r++) {
        const float part = simd_sum(sums.at[r][t]);
        if (lane == 0) parts[t * Format::rows + r][simdgroup] = part;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // The simdgroups' sums, one (row, token) by one simdgroup.
    for (short i = simdgroup; i < Format::rows * tokens.count; i += Format::simdgroups) {
      const float total = simd_sum(lane < Format::simdgroups ? parts[i][lane] : 0.0f);
      store(args, rows, y, bias, total, i % Format::rows, tokens.first + i / Format::rows, lane);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // before the next tokens' sums overwrite these
  }
}
