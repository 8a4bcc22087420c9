// The skeleton of every matrix-vector kernel; a weight type adds only its block's dot product.
//
// A simdgroup computes `rows` rows. Its lanes walk along the rows, `lanes` of them sharing a block; what a
// lane takes of a block is decoded once and multiplied with every token. At the end the lanes' sums are
// added up.
//
// The result for a token does not depend on how many come with it: blocks go to lanes by their index alone, a
// lane adds up its blocks in order, and every sum of products is a chain of fma, which fast-math has no
// licence to reorder.
//
// Every loop over rows or tokens is unrolled in full: an array that a loop counter indexes would lie in
// memory instead of registers.
//
// A Format is a structure with
//   elements, lanes             values of a block, lanes that share it
//   rows, simdgroups            rows of a simdgroup, simdgroups of a threadgroup
//   Weights, decode(block, part)     what a lane holds of one row's block: its share `part` of `lanes`
//   Inputs, inputs(x, part)          the same of a token's activations, x at the block's first
//   add(weights, inputs, sum)        sum + their dot product
#pragma once
#include <metal_stdlib>
#include "blocks.h"
#include "matvec_args.h"
using namespace metal;

constant int batch_tokens [[function_constant(0)]];  // that a batch kernel takes at once
constant bool with_bias [[function_constant(1)]];

// s + q[0] * x[0] + q[1] * x[1] + ..., one rounding a term, in this order.
inline float chain(float4 q, float4 x, float s) {
  s = fma(q.x, x.x, s);
  s = fma(q.y, x.y, s);
  s = fma(q.z, x.z, s);
  return fma(q.w, x.w, s);
}

// Rows of one weight that belong to a simdgroup. Rows past the weight's last repeat it and are not stored.
template <short ROWS>
struct Rows {
  device const uchar* at[ROWS];
  int first, end;  // in the weight
  int first_in_y;  // where the weight's row 0 goes

  bool none() const thread { return first >= end; }
};

// The weight that threadgroup `group` works on, and ROWS of the group's GROUP_ROWS rows.
template <short ROWS, short GROUP_ROWS>
inline Rows<ROWS> rows_of(constant MatvecArgs& args, device const uchar* weight_a,
                          device const uchar* weight_b, device const uchar* weight_c, uint group,
                          short row_in_group) {
  const short i = group >= args.first_group[2] ? 2 : group >= args.first_group[1] ? 1 : 0;
  device const uchar* weight = i == 0 ? weight_a : i == 1 ? weight_b : weight_c;
  Rows<ROWS> rows;
  rows.first = int(group - args.first_group[i]) * GROUP_ROWS + row_in_group;
  rows.end = args.rows[i];
  rows.first_in_y = args.first_row[i];
#pragma unroll
  for (short r = 0; r < ROWS; r++) {
    rows.at[r] = weight + ulong(min(rows.first + r, rows.end - 1)) * args.row_bytes;
  }
  return rows;
}

// What one lane has added up so far.
template <short ROWS, short TOKENS>
struct Sums {
  float at[ROWS][TOKENS];

  void clear() thread {
#pragma unroll
    for (short r = 0; r < ROWS; r++) {
#pragma unroll
      for (short t = 0; t < TOKENS; t++) at[r][t] = 0.0f;
    }
  }
};

// The tokens of one pass: `count` of them from `first`, fewer where they end.
struct Tokens {
  int first;
  short count;

  // Those past the last repeat it and are not stored.
  device const float* row(device const float* x, constant MatvecArgs& args, short t) const thread {
    return x + ulong(min(first + t, args.tokens - 1)) * args.cols;
  }
};

// Lane `worker` of `workers` that walk along the same rows.
template <class Format, short TOKENS>
inline void accumulate(thread Sums<Format::rows, TOKENS>& sums, constant MatvecArgs& args,
                       thread const Rows<Format::rows>& rows, device const float* x,
                       thread const Tokens& tokens, short worker, short workers) {
  typedef typename Format::Block Block;
  const short part = worker % Format::lanes;
  const int blocks = args.cols / Format::elements;
  for (int b = worker / Format::lanes; b < blocks; b += workers / Format::lanes) {
    typename Format::Weights weights[Format::rows];
#pragma unroll
    for (short r = 0; r < Format::rows; r++) {
      weights[r] = Format::decode(((device const Block*)rows.at[r])[b], part);
    }
#pragma unroll
    for (short t = 0; t < TOKENS; t++) {
      if (t >= tokens.count) continue;
      device const float* at = tokens.row(x, args, t) + b * Format::elements;
      const typename Format::Inputs inputs = Format::inputs(at, part);
#pragma unroll
      for (short r = 0; r < Format::rows; r++) sums.at[r][t] = Format::add(weights[r], inputs, sums.at[r][t]);
    }
  }
}

// `total` is the same in all lanes.
template <short ROWS>
inline void store(constant MatvecArgs& args, thread const Rows<ROWS>& rows, device float* y,
                  device const float* bias, float total, short r, int token, ushort lane) {
  if (lane != 0 || rows.first + r >= rows.end || token >= args.tokens) return;
  const int row = rows.first_in_y + rows.first + r;
  if (with_bias) total += bias[row];
  y[ulong(token) * args.y_stride + row] = total;
}

template <short ROWS, short TOKENS>
inline void add_up_lanes(constant MatvecArgs& args, thread const Sums<ROWS, TOKENS>& sums,
                         thread const Rows<ROWS>& rows, thread const Tokens& tokens, device float* y,
                         device const float* bias, ushort lane) {
#pragma unroll
  for (short t = 0; t < TOKENS; t++) {
    if (t >= tokens.count) continue;
#pragma unroll
    for (short r = 0; r < ROWS; r++) {
      store(args, rows, y, bias, simd_sum(sums.at[r][t]), r, tokens.first + t, lane);
    }
  }
}

// Each simdgroup has rows of its own.
template <class Format, short TOKENS>
kernel void matvec(constant MatvecArgs& args [[buffer(0)]],
                   device float* y [[buffer(1)]],
                   device const float* x [[buffer(2)]],
                   device const float* bias [[buffer(3), function_constant(with_bias)]],
                   device const uchar* weight_a [[buffer(4)]],
                   device const uchar* weight_b [[buffer(5)]],
                   device const uchar* weight_c [[buffer(6)]],
                   uint group [[threadgroup_position_in_grid]],
                   ushort lane [[thread_index_in_simdgroup]],
                   ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const Rows<Format::rows> rows = rows_of<Format::rows, Format::rows * Format::simdgroups>(
      args, weight_a, weight_b, weight_c, group, simdgroup * Format::rows);
  if (rows.none()) return;  // the whole simdgroup
  Tokens tokens = {0, short(TOKENS == 1 ? 1 : batch_tokens)};
  for (; tokens.first < args.tokens; tokens.first += tokens.count) {
    Sums<Format::rows, TOKENS> sums;
    sums.clear();
    accumulate<Format, TOKENS>(sums, args, rows, x, tokens, lane, 32);
    add_up_lanes(args, sums, rows, tokens, y, bias, lane);
  }
}
