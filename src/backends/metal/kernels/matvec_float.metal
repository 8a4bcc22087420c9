// Matrix-vector products of F32, F16 and BF16, whose values are widened in registers. Rows of any width: the
// lanes take four values at a time, and what remains one by one.
#include "matvec.h"

// Blocks of four values. The three types differ in `Block`, `Value` and how they are widened; a kernel that
// branched on the type would have the registers of all.
template <class Type>
struct MatvecFloat {
  enum : short { elements = 4, lanes = 1, rows = matvec_float_rows, simdgroups = matvec_float_simdgroups };
  typedef typename Type::Block Block;
  typedef float4 Weights;
  typedef float4 Inputs;

  static Weights decode(device const Block& block, short) { return Type::widen(block); }
  static Inputs inputs(device const float* x, short) { return float4(*(device const packed_float4*)x); }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) { return chain(w, in, sum); }
};

struct F32 {
  typedef packed_float4 Block;
  typedef float Value;
  static float4 widen(device const Block& block) { return float4(block); }
  static float widen(Value value) { return value; }
};
struct F16 {
  typedef packed_half4 Block;
  typedef half Value;
  static float4 widen(device const Block& block) { return float4(half4(block)); }
  static float widen(Value value) { return float(value); }
};
// The upper half of a float's bits: exact, NaNs included.
struct BF16 {
  typedef packed_ushort4 Block;
  typedef ushort Value;
  static float4 widen(device const Block& block) {
    return as_type<float4>(uint4(ushort4(block)) << uint4(16));
  }
  static float widen(Value value) { return as_type<float>(uint(value) << 16); }
};

// The up to three values after the last four.
template <class Type, short ROWS, short TOKENS>
inline void accumulate_rest(thread Sums<ROWS, TOKENS>& sums, constant MatvecArgs& args,
                            thread const Rows<ROWS>& rows, device const float* x,
                            thread const Tokens& tokens, ushort lane) {
  const int c = args.cols / 4 * 4 + lane;
  if (c >= args.cols) return;
#pragma unroll
  for (short t = 0; t < TOKENS; t++) {
    if (t >= tokens.count) continue;
    const float input = tokens.row(x, args, t)[c];
#pragma unroll
    for (short r = 0; r < ROWS; r++) {
      const float weight = Type::widen(((device const typename Type::Value*)rows.at[r])[c]);
      sums.at[r][t] = fma(weight, input, sums.at[r][t]);
    }
  }
}

template <class Type, short TOKENS>
kernel void matvec_float(constant MatvecArgs& args [[buffer(0)]],
                         device float* y [[buffer(1)]],
                         device const float* x [[buffer(2)]],
                         device const float* bias [[buffer(3), function_constant(with_bias)]],
                         device const uchar* weight_a [[buffer(4)]],
                         device const uchar* weight_b [[buffer(5)]],
                         device const uchar* weight_c [[buffer(6)]],
                         uint group [[threadgroup_position_in_grid]],
                         ushort lane [[thread_index_in_simdgroup]],
                         ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  typedef MatvecFloat<Type> Format;
  const Rows<Format::rows> rows = rows_of<Format::rows, Format::rows * Format::simdgroups>(
      args, weight_a, weight_b, weight_c, group, simdgroup * Format::rows);
  if (rows.none()) return;  // the whole simdgroup
  Tokens tokens = {0, short(TOKENS == 1 ? 1 : batch_tokens)};
  for (; tokens.first < args.tokens; tokens.first += tokens.count) {
    Sums<Format::rows, TOKENS> sums;
    sums.clear();
    accumulate<Format, TOKENS>(sums, args, rows, x, tokens, lane, 32);
    accumulate_rest<Type>(sums, args, rows, x, tokens, lane);
    add_up_lanes(args, sums, rows, tokens, y, bias, lane);
  }
}

template [[host_name("matvec_f32_f32")]] kernel decltype(matvec_float<F32, 1>) matvec_float<F32, 1>;
template [[host_name("matvec_batch_f32_f32")]] kernel decltype(matvec_float<F32, matvec_most_tokens>)
    matvec_float<F32, matvec_most_tokens>;
template [[host_name("matvec_f16_f32")]] kernel decltype(matvec_float<F16, 1>) matvec_float<F16, 1>;
template [[host_name("matvec_batch_f16_f32")]] kernel decltype(matvec_float<F16, matvec_most_tokens>)
    matvec_float<F16, matvec_most_tokens>;
template [[host_name("matvec_bf16_f32")]] kernel decltype(matvec_float<BF16, 1>) matvec_float<BF16, 1>;
template [[host_name("matvec_batch_bf16_f32")]] kernel decltype(matvec_float<BF16, matvec_most_tokens>)
    matvec_float<BF16, matvec_most_tokens>;
