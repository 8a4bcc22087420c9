// Of the GEMM kernels; read by kernels and host.
#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// y [tokens][rows] = x [tokens][cols] times the rows of W, each `row_bytes` long.
struct GemmArgs {
  int32_t cols;
  int32_t rows;
  int32_t tokens;
  uint32_t row_bytes;
};

/// The tile of a threadgroup and its memory. Every 8x8 block of operands is 64 elements in a row, so that a
/// matrix load reads neighbours; the padding (+ 4, + 8) lets the 32 lanes of a simdgroup, which write columns
/// of several blocks at once, meet different banks.
///   weights      [parity of the column block 2][row block 8][half of the step 2][row 8][column 8]
///   activations  [column block 4][token block 4][column 8][token 8]
///   results      [token 32][row 64], over the operands
enum GemmTile {
  gemm_rows = 64,
  gemm_tokens = 32,
  gemm_step = 32,  ///< columns at once
  gemm_threads = 128,
  gemm_weight_parity = gemm_rows * gemm_step / 2 + 4,
  gemm_x_block = gemm_tokens * 8 + 8,
  gemm_weight_elements = 2 * gemm_weight_parity,
  gemm_operand_elements = gemm_weight_elements + 4 * gemm_x_block,
  gemm_result_stride = gemm_rows + 4,
  gemm_result_elements = gemm_tokens * gemm_result_stride,
};
