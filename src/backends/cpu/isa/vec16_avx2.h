#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

/// Sixteen f32 lanes in two ymm registers. The same interface as vec16_avx512.h, which comments it;
/// everything is forced inline and private to this namespace, so no other file can end up with these
/// instructions.
namespace minfer::cpu::avx2 {

#define MINFER_LANES static inline __attribute__((always_inline))

struct Vec16 {
  __m256 low, high;  ///< lanes 0..7, 8..15

  // Of sixteen registers, dots take 3 x 4 sums, 3 columns and a row; o takes eight, values and weights six.
  static constexpr int dot_columns = 3;
  static constexpr int weigh_columns = 2;
  static constexpr int weigh_chunks = 2;
  static constexpr int score_vectors = 1;

  using Part = __m256;
  static constexpr int parts = 2;
  MINFER_LANES Part part(Vec16 a, int p) { return p == 0 ? a.low : a.high; }
  MINFER_LANES void set_part(Vec16& a, int p, Part value) { (p == 0 ? a.low : a.high) = value; }
  MINFER_LANES Part load_part(const float* p) { return _mm256_loadu_ps(p); }
  MINFER_LANES void store_part(float* p, Part a) { _mm256_storeu_ps(p, a); }
  MINFER_LANES Part fma_part(Part a, Part b, Part c) { return _mm256_fmadd_ps(a, b, c); }
  MINFER_LANES void keep(Part& a) { __asm__("" : "+x"(a)); }

  struct F16 {
    MINFER_LANES Part load_part(const uint16_t* p) {
      return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
  };
  struct BF16 {
    MINFER_LANES Part load_part(const uint16_t* p) {
      const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    }
  };
  struct Q8 {
    MINFER_LANES Part load_part(const std::byte* block, int64_t i) {
      uint16_t d;
      __builtin_memcpy(&d, block, sizeof d);
      const __m128i q = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(block + sizeof d + i));
      return _mm256_mul_ps(_mm256_cvtph_ps(_mm_set1_epi16(int16_t(d))),
                           _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q)));
    }
  };

  MINFER_LANES Vec16 splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  MINFER_LANES Vec16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  MINFER_LANES void store(float* p, Vec16 a) {
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
  }

  MINFER_LANES Vec16 load_first(const float* p, int n) {
    return {_mm256_maskload_ps(p, first(n)),
            n > 8 ? _mm256_maskload_ps(p + 8, first(n - 8)) : _mm256_setzero_ps()};
  }
  MINFER_LANES void store_first(float* p, Vec16 a, int n) {
    _mm256_maskstore_ps(p, first(n), a.low);
    if (n > 8) _mm256_maskstore_ps(p + 8, first(n - 8), a.high);
  }
  MINFER_LANES Vec16 select_first(Vec16 a, Vec16 b, int n) {
    return {_mm256_blendv_ps(b.low, a.low, _mm256_castsi256_ps(first(n))),
            _mm256_blendv_ps(b.high, a.high, _mm256_castsi256_ps(first(n - 8)))};
  }

  MINFER_LANES Vec16 add(Vec16 a, Vec16 b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
  }
  MINFER_LANES Vec16 sub(Vec16 a, Vec16 b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
  }
  MINFER_LANES Vec16 mul(Vec16 a, Vec16 b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
  }
  MINFER_LANES Vec16 div(Vec16 a, Vec16 b) {
    return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
  }
  MINFER_LANES Vec16 fma(Vec16 a, Vec16 b, Vec16 c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
  }
  MINFER_LANES Vec16 negate(Vec16 a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_xor_ps(a.low, sign), _mm256_xor_ps(a.high, sign)};
  }

  MINFER_LANES Vec16 max(Vec16 a, Vec16 b) { return {max8(a.low, b.low), max8(a.high, b.high)}; }
  MINFER_LANES Vec16 replace_above(Vec16 a, Vec16 x, float bound, Vec16 b) {
    const __m256 limit = _mm256_set1_ps(bound);
    return {_mm256_blendv_ps(a.low, b.low, _mm256_cmp_ps(x.low, limit, _CMP_GT_OQ)),
            _mm256_blendv_ps(a.high, b.high, _mm256_cmp_ps(x.high, limit, _CMP_GT_OQ))};
  }
  MINFER_LANES Vec16 replace_below(Vec16 a, Vec16 x, float bound, Vec16 b) {
    const __m256 limit = _mm256_set1_ps(bound);
    return {_mm256_blendv_ps(a.low, b.low, _mm256_cmp_ps(x.low, limit, _CMP_LT_OQ)),
            _mm256_blendv_ps(a.high, b.high, _mm256_cmp_ps(x.high, limit, _CMP_LT_OQ))};
  }
  MINFER_LANES Vec16 scale_pow2(Vec16 a, Vec16 n) {
    return {scale_pow2_8(a.low, n.low), scale_pow2_8(a.high, n.high)};
  }

  MINFER_LANES void store_f16(uint16_t* p, Vec16 a) {
    auto* out = reinterpret_cast<__m128i*>(p);
    _mm_storeu_si128(out, _mm256_cvtps_ph(a.low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(out + 1, _mm256_cvtps_ph(a.high, _MM_FROUND_TO_NEAREST_INT));
  }
  MINFER_LANES void load_pairs(const float* p, Vec16& a, Vec16& b) {
    split_pairs(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8), a.low, b.low);
    split_pairs(_mm256_loadu_ps(p + 16), _mm256_loadu_ps(p + 24), a.high, b.high);
  }
  MINFER_LANES void store_pairs(float* p, Vec16 a, Vec16 b) {
    join_pairs(p, a.low, b.low);
    join_pairs(p + 16, a.high, b.high);
  }

  MINFER_LANES float sum(Vec16 a) {
    const __m256 eight = _mm256_add_ps(a.low, a.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  MINFER_LANES float max_lanes(Vec16 a) {
    __m256 m = max8(a.low, a.high);
    m = max8(m, _mm256_permute2f128_ps(m, m, 0x01));
    m = max8(m, _mm256_permute_ps(m, 0x4e));
    return _mm256_cvtss_f32(max8(m, _mm256_permute_ps(m, 0xb1)));
  }
  template <int columns>
  MINFER_LANES void sums(const Vec16* a, float* out, int64_t stride) {
    for (int c = 0; c < columns; ++c) sum4(a + 4 * c, out + c * stride);
  }

 private:
  MINFER_LANES void sum4(const Vec16* a, float* out) {
    const __m256 ab = four_each(_mm256_add_ps(a[0].low, a[0].high), _mm256_add_ps(a[1].low, a[1].high));
    const __m256 cd = four_each(_mm256_add_ps(a[2].low, a[2].high), _mm256_add_ps(a[3].low, a[3].high));
    const __m256 two = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    const __m256 one = _mm256_add_ps(_mm256_shuffle_ps(two, two, 0x88), _mm256_shuffle_ps(two, two, 0xdd));
    _mm_storeu_ps(out, _mm_unpacklo_ps(_mm256_castps256_ps128(one), _mm256_extractf128_ps(one, 1)));
  }
  /// All bits of the first n of eight lanes; n may be negative or above 8.
  MINFER_LANES __m256i first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  MINFER_LANES __m256 max8(__m256 a, __m256 b) {
    return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  }
  /// a * 2^n in two factors: the first product is exact, so the result rounds once.
  MINFER_LANES __m256 scale_pow2_8(__m256 a, __m256 n) {
    const __m256i whole = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(a, pow2(half)), pow2(_mm256_sub_epi32(whole, half)));
  }
  MINFER_LANES __m256 pow2(__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
  }
  /// a0 b0 .. a3 b3 | a4 b4 .. a7 b7 as a0..a7 and b0..b7.
  MINFER_LANES void split_pairs(__m256 first_half, __m256 second_half, __m256& a, __m256& b) {
    const __m256 left = _mm256_permute2f128_ps(first_half, second_half, 0x20);
    const __m256 right = _mm256_permute2f128_ps(first_half, second_half, 0x31);
    a = _mm256_shuffle_ps(left, right, 0x88);
    b = _mm256_shuffle_ps(left, right, 0xdd);
  }
  MINFER_LANES void join_pairs(float* p, __m256 a, __m256 b) {
    const __m256 left = _mm256_unpacklo_ps(a, b), right = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(left, right, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(left, right, 0x31));
  }
  /// Step 4 of two sums: a's four partial sums in the low half, b's in the high half.
  MINFER_LANES __m256 four_each(__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
};

#undef MINFER_LANES

}  // namespace minfer::cpu::avx2
