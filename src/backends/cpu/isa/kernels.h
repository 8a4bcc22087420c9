#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "quant/dtype.h"

/// The CPU's kernels, one table per instruction set. Every table computes the same bits: each kernel's
/// sequence of roundings is fixed here and written out in isa/scalar.cpp, so results depend neither on the
/// processor, nor on the number of threads, nor on how many tokens share a call.
///
/// fma(a, b, c) below is one rounding; everything else rounds each operation. sum16(f) means: sixteen lanes,
/// lane l accumulates elements l, l+16, l+32, ... in order (a ragged tail fills the first lanes), then lanes
/// are added as i + (i+8), i + (i+4), i + (i+2), i + (i+1).
namespace minfer::cpu {

/// Tokens quantised for integer dots, one row after the other: Q8_0's quants, with each block's scale kept in
/// f32 (amax / 127, not rounded to half) and the sums of its first and last sixteen quants.
struct Q8Rows {
  int8_t* q;     ///< [rows][cols]
  float* d;      ///< [rows][cols / 32]
  int32_t* sum;  ///< [rows][cols / 32][2]

  Q8Rows from(int64_t block) const { return {q + block * 32, d + block, sum + block * 2}; }
};

/// The same in the form that products read, see isa/quant_tokens.h.
struct Q8Tokens;

/// The visible part of a tile of keys and values for one call: `rows` rows of one KV head.
struct KvTile {
  DType type;          ///< f32, f16 or q8_0, whose rows begin at a block's start
  const std::byte* k;  ///< row j at k + j*stride
  const std::byte* v;
  size_t stride;     ///< in bytes
  int64_t rows;      ///< at most attn_tile_rows
  size_t ahead = 0;  ///< so many bytes after each row lies one that is wanted soon: it is fetched early
};
inline constexpr int64_t attn_tile_rows =
    32;  ///< online softmax advances by this many rows, aligned to row 0
/// A fresh softmax state begins every so many rows, and states are then merged: these are the units that
/// decoding shares out, so they are small enough to be many.
inline constexpr int64_t attn_chunk_rows = 256;
/// More queries than these are better laid out for attend_wide, and their tiles widened to f32 once.
inline constexpr int64_t attn_narrow_queries = 8;

struct KernelTable {
  std::string_view isa;  ///< "scalar", "avx2", "avx512", "neon"
  bool (*runs_here)();

  /// Quantises n values, n % 32 == 0.
  void (*quantise_q8)(const Q8Rows& to, const float* x, int64_t n);
  /// Byte-identical to minfer::quantise_row_q8_0.
  void (*store_q8_0)(std::byte* dst, const float* x, int64_t n);
  void (*store_f16)(uint16_t* dst, const float* x, int64_t n);
  void (*load_f16)(float* dst, const uint16_t* src, int64_t n);
  void (*load_q8_0)(float* dst, const std::byte* src, int64_t n);  ///< whole blocks

  /// y[t*y_stride + r] = row r of w times token t of x, for r < rows: integer dots.
  /// Per row and token, over blocks b of 32 in order, starting from acc = 0, with isum the exact integer dot:
  ///   q4_0 q5_0 q8_0   acc = fma(dw*isum, da, acc)                        (quants minus their offset)
  ///   q4_1 q5_1        acc = fma(dw*isum, da, acc); acc = fma(mw, da*asum, acc)
  ///   q4_k q5_k        acc = fma((dw*scale)*isum, da, acc); acc = fma(-(dminw*min), da*asum, acc)
  ///   q6_k             acc = fma(fma(dw*scale1, isum1, (dw*scale0)*isum0), da, acc)   (two halves of 16)
  /// where a product in parentheses or joined by * is rounded once; dw*scale and dminw*min are exact. A scale
  /// that is not finite gives NaN (see dot_origin).
  /// `scratch` has matmul_scratch_bytes(cols) bytes, 64-byte aligned, of this thread alone.
  using MatMulQ = void (*)(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                           const Q8Tokens& x, std::byte* scratch);
  MatMulQ matmul_q4_0, matmul_q4_1, matmul_q5_0, matmul_q5_1, matmul_q8_0, matmul_q4_k, matmul_q5_k,
      matmul_q6_k;

  /// The same with f32 activations (x[t*x_stride]): sum16 of fma(w, x, lane), w widened to f32. Any cols.
  using MatMulF = void (*)(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                           const float* x, int64_t x_stride, int64_t cols, int64_t tokens);
  MatMulF matmul_f32, matmul_f16, matmul_bf16;

  /// s = sum16 of fma(x, x, lane); y = (x * (1/sqrt(s/n + eps))) * w. y may be x.
  void (*rms_norm_f32)(float* y, const float* x, const float* w, int64_t n, float eps);
  void (*add_f32)(float* y, const float* a, const float* b, int64_t n);  ///< y may be a or b, here and below
  void (*mul_f32)(float* y, const float* a, const float* b, int64_t n);
  void (*scale_f32)(float* y, const float* x, float factor, int64_t n);
  void (*silu_f32)(float* y, const float* x, int64_t n);                        ///< x / (1 + exp_f32(-x))
  void (*swiglu_f32)(float* y, const float* gate, const float* up, int64_t n);  ///< silu(gate) * up
  void (*softmax_f32)(float* y, const float* x, int64_t n);  ///< max, exp_f32(x - max), sum16, times 1/sum
  /// Rotates n_heads heads of head_dim: (a, b) -> (a*cos - b*sin, a*sin + b*cos), each as fma(a, cos,
  /// -(b*sin)) and fma(a, sin, b*cos). cos, sin: [head_dim/2]. interleaved: pairs (2i, 2i+1), else (i, i +
  /// head_dim/2). In place.
  void (*rope_f32)(float* x, const float* cos, const float* sin, int64_t n_heads, int64_t head_dim,
                   bool interleaved);

  /// One tile of online softmax for n_q queries that share a KV head. Query i sees tile rows [0, visible[i]).
  /// Keys and values are widened to f32, exactly, as they are used.
  ///   score_j = sum16(fma(q, k_j)) * scale;  m' = max(m, max_j score_j);  c = exp_f32(m - m')  (0 if m is
  ///   -inf) p_j = exp_f32(score_j - m');  s = s*c + sum16(p);  o = o*c, then o = fma(p_j, v_j, o) for j in
  ///   order
  /// visible[i] == 0 leaves query i's state untouched. m starts at -inf, s and o at 0.
  void (*attend)(const float* q, int64_t q_stride, int64_t n_q, const KvTile& tile, int64_t head_dim,
                 float scale, const int32_t* visible, float* m, float* s, float* o, int64_t o_stride);
  /// Lays n queries out as this table's attend_wide reads them: each sixteen take 16 times head_dim rounded
  /// up to 16 floats, and a call of attend_wide may begin at any sixteen.
  void (*lay_queries)(float* laid, const float* q, int64_t q_stride, int64_t n, int64_t head_dim);
  /// attend for queries that are laid out and a tile of f32: the same bits, faster from about nine queries
  /// on.
  void (*attend_wide)(const float* laid, int64_t n_q, const KvTile& tile, int64_t head_dim, float scale,
                      const int32_t* visible, float* m, float* s, float* o, int64_t o_stride);
  /// Merges chunk state (m2, s2, o2) into (m, s, o), later chunk second: M = max; a = exp_f32(m-M), b =
  /// exp_f32(m2-M); s = fma(s2, b, s*a); o = fma(o2, b, o*a). A state whose m is -inf is skipped.
  void (*attend_merge_f32)(float* m, float* s, float* o, float m2, float s2, const float* o2,
                           int64_t head_dim);
};

/// The kernel of a quantised type.
KernelTable::MatMulQ matmul_q(const KernelTable& table, DType type);
KernelTable::MatMulF matmul_f(const KernelTable& table, DType type);
size_t matmul_scratch_bytes(int64_t cols);

/// exp for the kernels above: the same operations in every table, at most 2 ulp from e^x; 0 below -104, inf
/// above 89.
float exp_f32(float x);

/// Tables this build has, fastest first.
std::vector<const KernelTable*> built_tables();
/// The table in force, chosen once: the fastest that runs here, or the one MINFER_ISA names. Throws
/// Error{unsupported} if MINFER_ISA names a table that this build lacks or this processor cannot run: a
/// pinned run never falls back.
const KernelTable& kernels();

}  // namespace minfer::cpu
