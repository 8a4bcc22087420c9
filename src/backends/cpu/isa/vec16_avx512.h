#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

/// Sixteen f32 lanes in one zmm register. The same interface as vec16_avx2.h and vec16_neon.h; everything is
/// forced inline and private to this namespace, so no other file can end up with these instructions.
namespace minfer::cpu::avx512 {

#define MINFER_LANES static inline __attribute__((always_inline))

struct Vec16 {
  __m512 v;

  static constexpr int dot_columns = 4;    ///< columns of a tile of dots, beside four rows
  static constexpr int weigh_columns = 4;  ///< queries whose o is in registers together,
  static constexpr int weigh_chunks = 4;   ///< and vectors of each
  static constexpr int score_vectors = 3;  ///< times sixteen queries of a tile of scores, beside four keys

  /// The registers that sixteen lanes take, for loops that go through them one by one.
  using Part = __m512;
  static constexpr int parts = 1;
  MINFER_LANES Part part(Vec16 a, int) { return a.v; }
  MINFER_LANES void set_part(Vec16& a, int, Part p) { a.v = p; }
  MINFER_LANES Part load_part(const float* p) { return _mm512_loadu_ps(p); }
  MINFER_LANES void store_part(float* p, Part a) { _mm512_storeu_ps(p, a); }
  MINFER_LANES Part fma_part(Part a, Part b, Part c) { return _mm512_fmadd_ps(a, b, c); }
  /// Holds a loaded value in a register: the compiler would load it anew for each use.
  MINFER_LANES void keep(Part& a) { __asm__("" : "+v"(a)); }

  struct F16 {
    MINFER_LANES Part load_part(const uint16_t* p) {
      return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
  };
  struct BF16 {
    MINFER_LANES Part load_part(const uint16_t* p) {
      const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
  };
  /// Quants i.. of a block of 32 times its scale: exact.
  struct Q8 {
    MINFER_LANES Part load_part(const std::byte* block, int64_t i) {
      uint16_t d;
      __builtin_memcpy(&d, block, sizeof d);
      const __m128i q = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + sizeof d + i));
      return _mm512_mul_ps(_mm512_cvtph_ps(_mm256_set1_epi16(int16_t(d))),
                           _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q)));
    }
  };

  MINFER_LANES Vec16 splat(float x) { return {_mm512_set1_ps(x)}; }
  MINFER_LANES Vec16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  MINFER_LANES void store(float* p, Vec16 a) { _mm512_storeu_ps(p, a.v); }

  /// The first n (1..15) lanes; the others are zero, and their memory is not touched.
  MINFER_LANES Vec16 load_first(const float* p, int n) { return {_mm512_maskz_loadu_ps(first(n), p)}; }
  MINFER_LANES void store_first(float* p, Vec16 a, int n) { _mm512_mask_storeu_ps(p, first(n), a.v); }
  /// a in the first n (0..16) lanes, b in the others.
  MINFER_LANES Vec16 select_first(Vec16 a, Vec16 b, int n) {
    return {_mm512_mask_mov_ps(b.v, first(n), a.v)};
  }

  MINFER_LANES Vec16 add(Vec16 a, Vec16 b) { return {_mm512_add_ps(a.v, b.v)}; }
  MINFER_LANES Vec16 sub(Vec16 a, Vec16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
  MINFER_LANES Vec16 mul(Vec16 a, Vec16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
  MINFER_LANES Vec16 div(Vec16 a, Vec16 b) { return {_mm512_div_ps(a.v, b.v)}; }
  MINFER_LANES Vec16 fma(Vec16 a, Vec16 b, Vec16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  MINFER_LANES Vec16 negate(Vec16 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }

  /// The second of two equal values; NaN if either is NaN.
  MINFER_LANES Vec16 max(Vec16 a, Vec16 b) {
    const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
    return {_mm512_mask_mov_ps(_mm512_max_ps(a.v, b.v), nan, a.v)};
  }
  /// b where x > bound (x < bound), else a.
  MINFER_LANES Vec16 replace_above(Vec16 a, Vec16 x, float bound, Vec16 b) {
    return {_mm512_mask_mov_ps(a.v, _mm512_cmp_ps_mask(x.v, _mm512_set1_ps(bound), _CMP_GT_OQ), b.v)};
  }
  MINFER_LANES Vec16 replace_below(Vec16 a, Vec16 x, float bound, Vec16 b) {
    return {_mm512_mask_mov_ps(a.v, _mm512_cmp_ps_mask(x.v, _mm512_set1_ps(bound), _CMP_LT_OQ), b.v)};
  }
  /// a * 2^n for whole n, rounded once.
  MINFER_LANES Vec16 scale_pow2(Vec16 a, Vec16 n) { return {_mm512_scalef_ps(a.v, n.v)}; }

  MINFER_LANES void store_f16(uint16_t* p, Vec16 a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  /// 32 interleaved floats (a0 b0 a1 b1 ...) as a and b, and back.
  MINFER_LANES void load_pairs(const float* p, Vec16& a, Vec16& b) {
    const __m512 low = _mm512_loadu_ps(p), high = _mm512_loadu_ps(p + 16);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    a.v = _mm512_permutex2var_ps(low, even, high);
    b.v = _mm512_permutex2var_ps(low, odd, high);
  }
  MINFER_LANES void store_pairs(float* p, Vec16 a, Vec16 b) {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(a.v, low, b.v));
    _mm512_storeu_ps(p + 16, _mm512_permutex2var_ps(a.v, high, b.v));
  }

  /// The lanes added as i + (i+8), i + (i+4), i + (i+2), i + (i+1).
  MINFER_LANES float sum(Vec16 a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

  /// The lanes' maximum in the same order.
  MINFER_LANES float max_lanes(Vec16 a) {
    a = max(a, {_mm512_shuffle_f32x4(a.v, a.v, 0x4e)});
    a = max(a, {_mm512_shuffle_f32x4(a.v, a.v, 0xb1)});
    a = max(a, {_mm512_permute_ps(a.v, 0x4e)});
    return _mm512_cvtss_f32(max(a, {_mm512_permute_ps(a.v, 0xb1)}).v);
  }

  /// out[c * stride + i] = sum(a[4 * c + i]) for i < 4, c < columns: up to sixteen sums in one transposing
  /// tree, each in the order of sum().
  template <int columns>
  MINFER_LANES void sums(const Vec16* a, float* out, int64_t stride) {
    if constexpr (columns == 1) {
      _mm_storeu_ps(out, four_sums(eight_sums(a[0], a[1]), eight_sums(a[2], a[3])));
    } else {
      // Quarter i of column c has what is left of sum 4 * c + i after its first two steps.
      const __m512 c0 = quarters(a), c1 = quarters(a + 4);
      const __m512 c2 = columns > 2 ? quarters(a + 8) : c0, c3 = columns > 3 ? quarters(a + 12) : c1;
      const __m512 c01 = _mm512_add_ps(_mm512_shuffle_ps(c0, c1, 0x44), _mm512_shuffle_ps(c0, c1, 0xee));
      const __m512 c23 =
          columns == 2 ? c01
                       : _mm512_add_ps(_mm512_shuffle_ps(c2, c3, 0x44), _mm512_shuffle_ps(c2, c3, 0xee));
      const __m512 by_row =
          _mm512_add_ps(_mm512_shuffle_ps(c01, c23, 0x88), _mm512_shuffle_ps(c01, c23, 0xdd));
      const __m512i transpose = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      const __m512 by_column = _mm512_permutexvar_ps(transpose, by_row);
      _mm_storeu_ps(out, _mm512_castps512_ps128(by_column));
      _mm_storeu_ps(out + stride, _mm512_extractf32x4_ps(by_column, 1));
      if constexpr (columns > 2) _mm_storeu_ps(out + 2 * stride, _mm512_extractf32x4_ps(by_column, 2));
      if constexpr (columns > 3) _mm_storeu_ps(out + 3 * stride, _mm512_extractf32x4_ps(by_column, 3));
    }
  }

 private:
  MINFER_LANES __mmask16 first(int n) { return __mmask16((1u << n) - 1u); }

  /// Step 8 of two sums: a's eight partial sums in the low half, b's in the high half.
  MINFER_LANES __m512 halves(Vec16 a, Vec16 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a.v, b.v, 0x44), _mm512_shuffle_f32x4(a.v, b.v, 0xee));
  }
  /// Steps 8 and 4 of four sums: four partial sums of each in its quarter.
  MINFER_LANES __m512 quarters(const Vec16* a) {
    const __m512 ab = halves(a[0], a[1]), cd = halves(a[2], a[3]);
    return _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
  }
  /// Steps 8 and 4 of two sums: a's four partial sums in the low half, b's in the high half.
  MINFER_LANES __m256 eight_sums(Vec16 a, Vec16 b) {
    const __m512 eight = halves(a, b);
    const __m256 low = _mm512_castps512_ps256(eight), high = _mm512_extractf32x8_ps(eight, 1);
    return _mm256_add_ps(_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31));
  }
  /// Steps 2 and 1 of four sums.
  MINFER_LANES __m128 four_sums(__m256 ab, __m256 cd) {
    const __m256 two = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    const __m256 one = _mm256_add_ps(_mm256_shuffle_ps(two, two, 0x88), _mm256_shuffle_ps(two, two, 0xdd));
    return _mm_unpacklo_ps(_mm256_castps256_ps128(one), _mm256_extractf128_ps(one, 1));
  }
};

#undef MINFER_LANES

}  // namespace minfer::cpu::avx512
