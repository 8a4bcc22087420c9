// Matrix product for many tokens: y[t, r] = sum_c W[r, c] x[t, c].
//
// A threadgroup of four simdgroups makes a tile of 64 rows x 32 tokens; each simdgroup has 32 x 16 of it in
// eight 8x8 accumulators. Columns pass by in steps of 32: weights are dequantised and activations copied into
// threadgroup memory, then multiplied. The sum of a result takes the columns in one order, wherever in a tile
// it lies, so that a token's bits do not depend on the tokens beside it.
//
// Tiles at the edge read the last row or token again, and do not store what comes of it.
#include <metal_stdlib>
#include "dequantise.h"
#include "gemm_args.h"
using namespace metal;

// What one thread brings for a step: a part of a row's 32 columns, and the eight columns of a run of a token.
struct Operands {
  Part weights;
  float4 x[2];
};

// A quad of activations. Rows of whole groups lie at multiples of 16 bytes, others at multiples of four.
template <bool whole>
inline float4 load_quad(device const float* x) {
  return whole ? *(device const float4*)x : float4(*(device const packed_float4*)x);
}

// block_values: 32 or 256 for quantised types, 1 for the others, whose rows may end inside a step.
template <typename Block, short block_values>
inline Operands load(device const uchar* row, device const float* x, int step, int cols,
                     ushort thread_index) {
  constexpr bool whole = block_values > 1;
  constexpr short steps = block_values > gemm_step ? block_values / gemm_step : 1;
  const int block_index = step / steps;
  device const Block* block = (device const Block*)row + block_index;
  const StepColumns columns = step_columns(block, step % steps);
  const short part = thread_index % 2, run = thread_index % 4 / 2;
  const int x_column = block_index * steps * gemm_step + columns.first + run * columns.gap + part * 8;
  Operands operands;
  if (whole || (step + 1) * gemm_step <= cols) {
    operands.weights = dequantise(block, step % steps, part);
    operands.x[0] = load_quad<whole>(x + x_column);
    operands.x[1] = load_quad<whole>(x + x_column + 4);
  } else {
    operands.weights = dequantise_end(block, part, cols - step * gemm_step);
    for (short i = 0; i < 8; ++i) operands.x[i / 4][i % 4] = x_column + i < cols ? x[x_column + i] : 0.0f;
  }
  return operands;
}

template <typename Stage>
inline void stage(Operands operands, float x_scale, threadgroup Stage* weights, threadgroup Stage* x,
                  ushort thread_index) {
  const short row = thread_index / 2, token = thread_index / 4;
  weights += thread_index % 2 * gemm_weight_parity + row / 8 * 128 + row % 8 * 8;
  for (short i = 0; i < 4; ++i) {
    *(threadgroup vec<Stage, 4>*)(weights + i / 2 * 64 + i % 2 * 4) =
        vec<Stage, 4>(operands.weights.quads[i]);
  }
  x += thread_index % 4 * gemm_x_block + token / 8 * 64 + token % 8;
  for (short i = 0; i < 8; ++i) x[i * 8] = Stage(operands.x[i / 4][i % 4] * x_scale);
}

// Adds a step's products to the simdgroup's 32 rows x 16 tokens. sums[4 t + r]: row block r, token block t.
template <typename Stage>
inline void multiply(thread simdgroup_float8x8* sums, threadgroup const Stage* weights,
                     threadgroup const Stage* x, ushort simdgroup) {
  simdgroup_matrix<Stage, 8, 8> w_blocks[4], x_blocks[2];
  weights += simdgroup % 2 * 4 * 128;
  x += simdgroup / 2 * 2 * 64;
#pragma unroll
  for (short k = 0; k < 4; ++k) {
#pragma unroll
    for (short r = 0; r < 4; ++r) {
      simdgroup_load(w_blocks[r], weights + k % 2 * gemm_weight_parity + r * 128 + k / 2 * 64, 8);
    }
    simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
    for (short t = 0; t < 2; ++t) simdgroup_load(x_blocks[t], x + k * gemm_x_block + t * 64, 8);
    simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
    for (short i = 0; i < 8; ++i)
      simdgroup_multiply_accumulate(sums[i], w_blocks[i % 4], x_blocks[i / 4], sums[i]);
  }
}

inline float inverse_of_power(float power_of_two) {
  return as_type<float>(0x7F000000u - as_type<uint>(power_of_two));
}

// Writes a tile by way of threadgroup memory: runs of 64 rows, and only what exists. scales: may be null.
inline void store_tile(thread simdgroup_float8x8* sums, constant GemmArgs& args, device float* y,
                       int first_row, int first_token, device const float* scales, threadgroup float* results,
                       ushort thread_index, ushort simdgroup) {
#pragma unroll
  for (short i = 0; i < 8; ++i) {
    const short row = simdgroup % 2 * 32 + i % 4 * 8, token = simdgroup / 2 * 16 + i / 4 * 8;
    simdgroup_store(sums[i], results + token * gemm_result_stride + row, gemm_result_stride, ulong2(0, 0),
                    true);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const short row = thread_index % gemm_rows;
  if (first_row + row >= args.rows) return;
  for (short t = thread_index / gemm_rows; t < gemm_tokens; t += gemm_threads / gemm_rows) {
    const int token = first_token + t;
    if (token >= args.tokens) return;
    const float scale = scales ? inverse_of_power(scales[token]) : 1.0f;
    y[ulong(token) * args.rows + first_row + row] = results[t * gemm_result_stride + row] * scale;
  }
}

// scales: of each token's activations before they are rounded to half (row_scales_f32); null: they stay f32.
template <typename Block, short block_values, typename Stage>
inline void gemm_tile(constant GemmArgs& args, device float* y, device const uchar* weight,
                      device const float* x, device const float* scales, threadgroup uchar* memory,
                      uint2 tile, ushort thread_index, ushort simdgroup) {
  threadgroup Stage* weights = (threadgroup Stage*)memory;
  threadgroup Stage* activations = weights + gemm_weight_elements;
  const int first_row = tile.y * gemm_rows, first_token = tile.x * gemm_tokens;
  const int row = min(first_row + thread_index / 2, args.rows - 1);
  const int token = min(first_token + thread_index / 4, args.tokens - 1);
  weight += ulong(row) * args.row_bytes;
  x += ulong(token) * args.cols;
  const float scale = scales ? scales[token] : 1.0f;

  simdgroup_float8x8 sums[8];
  for (short i = 0; i < 8; ++i) sums[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (int step = 0; step * gemm_step < args.cols; ++step) {
    const Operands operands = load<Block, block_values>(weight, x, step, args.cols, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the last step's operands are used up
    stage(operands, scale, weights, activations, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply(sums, (threadgroup const Stage*)weights, (threadgroup const Stage*)activations, simdgroup);
  }

  const bool full = first_row + gemm_rows <= args.rows && first_token + gemm_tokens <= args.tokens;
  if (full && !scales) {
    y += ulong(first_token + simdgroup / 2 * 16) * args.rows + first_row + simdgroup % 2 * 32;
    for (short i = 0; i < 8; ++i) {
      simdgroup_store(sums[i], y + ulong(i / 4 * 8) * args.rows + i % 4 * 8, args.rows, ulong2(0, 0), true);
    }
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // results take the operands' place
    store_tile(sums, args, y, first_row, first_token, scales, (threadgroup float*)memory, thread_index,
               simdgroup);
  }
}

template <typename Block, short block_values>
kernel void gemm(constant GemmArgs& args [[buffer(0)]],
                 device float* y [[buffer(1)]],
                 device const uchar* weight [[buffer(2)]],
                 device const float* x [[buffer(3)]],
                 threadgroup uchar* memory [[threadgroup(0)]],
                 uint2 tile [[threadgroup_position_in_grid]],
                 ushort thread_index [[thread_index_in_threadgroup]],
                 ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  gemm_tile<Block, block_values, float>(args, y, weight, x, nullptr, memory, tile, thread_index, simdgroup);
}
typedef decltype(gemm<BlockQ4_0, 32>) Gemm;
template [[host_name("gemm_f32_f32")]] kernel Gemm gemm<PlainGroup<float>, 1>;
template [[host_name("gemm_f16_f32")]] kernel Gemm gemm<PlainGroup<half>, 1>;
template [[host_name("gemm_bf16_f32")]] kernel Gemm gemm<PlainGroup<ushort>, 1>;
template [[host_name("gemm_q4_0_f32")]] kernel Gemm gemm<BlockQ4_0, 32>;
template [[host_name("gemm_q4_1_f32")]] kernel Gemm gemm<BlockQ4_1, 32>;
template [[host_name("gemm_q5_0_f32")]] kernel Gemm gemm<BlockQ5_0, 32>;
template [[host_name("gemm_q5_1_f32")]] kernel Gemm gemm<BlockQ5_1, 32>;
template [[host_name("gemm_q8_0_f32")]] kernel Gemm gemm<BlockQ8_0, 32>;
template [[host_name("gemm_q4_k_f32")]] kernel Gemm gemm<BlockQ4_K, 256>;
template [[host_name("gemm_q5_k_f32")]] kernel Gemm gemm<BlockQ5_K, 256>;
template [[host_name("gemm_q6_k_f32")]] kernel Gemm gemm<BlockQ6_K, 256>;

// The same with operands rounded to half: half the threadgroup memory. F32 and BF16 weights may exceed a
// half's range, and stay with the kernels above.
template <typename Block, short block_values>
kernel void gemm_half(constant GemmArgs& args [[buffer(0)]],
                      device float* y [[buffer(1)]],
                      device const uchar* weight [[buffer(2)]],
                      device const float* x [[buffer(3)]],
                      device const float* scales [[buffer(4)]],
                      threadgroup uchar* memory [[threadgroup(0)]],
                      uint2 tile [[threadgroup_position_in_grid]],
                      ushort thread_index [[thread_index_in_threadgroup]],
                      ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  gemm_tile<Block, block_values, half>(args, y, weight, x, scales, memory, tile, thread_index, simdgroup);
}
typedef decltype(gemm_half<BlockQ4_0, 32>) GemmHalf;
template [[host_name("gemm_f16_f16")]] kernel GemmHalf gemm_half<PlainGroup<half>, 1>;
template [[host_name("gemm_q4_0_f16")]] kernel GemmHalf gemm_half<BlockQ4_0, 32>;
template [[host_name("gemm_q4_1_f16")]] kernel GemmHalf gemm_half<BlockQ4_1, 32>;
template [[host_name("gemm_q5_0_f16")]] kernel GemmHalf gemm_half<BlockQ5_0, 32>;
template [[host_name("gemm_q5_1_f16")]] kernel GemmHalf gemm_half<BlockQ5_1, 32>;
template [[host_name("gemm_q8_0_f16")]] kernel GemmHalf gemm_half<BlockQ8_0, 32>;
template [[host_name("gemm_q4_k_f16")]] kernel GemmHalf gemm_half<BlockQ4_K, 256>;
template [[host_name("gemm_q5_k_f16")]] kernel GemmHalf gemm_half<BlockQ5_K, 256>;
template [[host_name("gemm_q6_k_f16")]] kernel GemmHalf gemm_half<BlockQ6_K, 256>;

// For each token the power of two that brings its largest activation to between 2^14 and 2^15: none overflows
// a half, and those down to 2^-28 of the largest keep all of a half's bits. An infinity or NaN stays what it
// is. One simdgroup a token; on the bits, because fast math promises nothing for numbers that are none.
kernel void row_scales_f32(constant GemmArgs& args [[buffer(0)]],
                           device float* scales [[buffer(1)]],
                           device const float* x [[buffer(2)]],
                           uint token [[threadgroup_position_in_grid]],
                           ushort lane [[thread_index_in_simdgroup]]) {
  x += ulong(token) * args.cols;
  uint largest = 0;
  for (int i = lane; i < args.cols; i += 32) largest = max(largest, as_type<uint>(x[i]) & 0x7FFFFFFFu);
  const uint exponent = simd_max(largest) >> 23;
  const uint scale = min(127u + 127u + 14u - exponent, 252u);  // neither it nor its inverse is subnormal
  if (lane == 0) scales[token] = as_type<float>(scale << 23);
}
