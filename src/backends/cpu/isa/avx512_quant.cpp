#include "backends/cpu/isa/avx512_quant.h"

#include "backends/cpu/isa/avx512_quant_simd.h"

#include <bit>
#include <limits>

namespace minfer::cpu::avx512 {
namespace {

constexpr uint32_t infinity_bits = 0x7f800000u;

/// Sixteen values as quants; NaN gives 0.
__m128i quantise(__m512 x, __m512 inverse) {
  const __m512 scaled = _mm512_mul_ps(x, inverse);
  const __mmask16 number = _mm512_cmp_ps_mask(scaled, scaled, _CMP_ORD_Q);
  const __m512 clamped =
      _mm512_max_ps(_mm512_min_ps(scaled, _mm512_set1_ps(127.0f)), _mm512_set1_ps(-127.0f));
  return _mm512_cvtepi32_epi8(_mm512_maskz_cvtps_epi32(number, clamped));
}

struct Quantised {
  __m256i q;  ///< 32 quants
  float d;    ///< amax / 127; NaN if a value is not finite
};

/// One block, with the rules of the scalar reference.
Quantised quantise_block(const float* x) {
  const __m512 v0 = _mm512_loadu_ps(x), v1 = _mm512_loadu_ps(x + 16);
  const __m512i magnitude_bits = _mm512_set1_epi32(0x7fffffff);
  const __m512i largest = _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(v0), magnitude_bits),
                                           _mm512_and_si512(_mm512_castps_si512(v1), magnitude_bits));
  const uint32_t bits = uint32_t(_mm512_reduce_max_epi32(largest));
  if (bits >= infinity_bits) return {_mm256_setzero_si256(), std::numeric_limits<float>::quiet_NaN()};
  const float amax = std::bit_cast<float>(bits);
  const __m512 inverse = _mm512_set1_ps(amax == 0.0f ? 0.0f : 127.0f / amax);
  return {_mm256_set_m128i(quantise(v1, inverse), quantise(v0, inverse)), amax / 127.0f};
}

int32_t sum_bytes(__m128i q) {
  __m128i sum = _mm_dpbusd_epi32(_mm_setzero_si128(), _mm_set1_epi8(1), q);
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

void quantise_one(const Q8Rows& to, int64_t b, const float* x) {
  const Quantised block = quantise_block(x);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.q + 32 * b), block.q);
  to.d[b] = block.d;
  to.sum[2 * b] = sum_bytes(_mm256_castsi256_si128(block.q));
  to.sum[2 * b + 1] = sum_bytes(_mm256_extracti128_si256(block.q, 1));
}

__m128i largest_of_quarters(__m512i v) {
  const __m256i half = _mm256_max_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  return _mm_max_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
__m128i sum_of_quarters(__m512i v) {
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/// The largest magnitude's bits in each of four blocks: x[2i] and x[2i + 1] are block i.
__m128i largest_bits(const __m512 (&x)[8]) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i m[4];
  for (int i = 0; i < 4; ++i) {
    m[i] = _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(x[2 * i]), magnitude),
                            _mm512_and_si512(_mm512_castps_si512(x[2 * i + 1]), magnitude));
  }
  // Each step halves the lanes that a block still has.
  const __m512i ab = _mm512_max_epi32(_mm512_unpacklo_epi32(m[0], m[1]), _mm512_unpackhi_epi32(m[0], m[1]));
  const __m512i cd = _mm512_max_epi32(_mm512_unpacklo_epi32(m[2], m[3]), _mm512_unpackhi_epi32(m[2], m[3]));
  return largest_of_quarters(_mm512_max_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)));
}

/// Writes blocks b and b + 1, whose quants are the words of v.
void store_two(const Q8Rows& to, int64_t b, const __m512i (&v)[4]) {
  // Packing works within quarters: each has four quants of either half of either block.
  const __m512i mixed = _mm512_packs_epi16(_mm512_packs_epi32(v[0], v[1]), _mm512_packs_epi32(v[2], v[3]));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(to.q + 32 * b, _mm512_permutexvar_epi32(order, mixed));
  const __m512i fours = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), mixed);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to.sum + 2 * b), sum_of_quarters(fours));
}

/// Four blocks at once, so that their steps overlap. False, with nothing written, if one has a value that is
/// not finite or only values so small that their inverse overflows: these need more care.
bool quantise_four(const Q8Rows& to, int64_t b, const float* x) {
  __m512 v[8];
  for (int i = 0; i < 8; ++i) v[i] = _mm512_loadu_ps(x + 16 * i);
  const __m128i bits = largest_bits(v);
  const __m128 amax = _mm_castsi128_ps(bits), most = _mm_set1_ps(127.0f);
  const __mmask8 zero = _mm_cmpeq_epi32_mask(bits, _mm_setzero_si128());
  const __m128 inverse = _mm_maskz_div_ps(__mmask8(~zero), most, amax);
  const __m128i overflown = _mm_set1_epi32(int(infinity_bits));
  if (_mm_cmpge_epi32_mask(bits, overflown) | _mm_cmpge_epi32_mask(_mm_castps_si128(inverse), overflown)) {
    return false;
  }
  alignas(16) float inverses[4];
  _mm_store_ps(inverses, inverse);
  __m512i words[2][4];
  for (int i = 0; i < 8; ++i) {
    words[i / 4][i % 4] = _mm512_cvtps_epi32(_mm512_mul_ps(v[i], _mm512_set1_ps(inverses[i / 2])));
  }
  store_two(to, b, words[0]);
  store_two(to, b + 2, words[1]);
  _mm_storeu_ps(to.d + b, _mm_div_ps(amax, most));
  return true;
}

}  // namespace

void quantise_q8(const Q8Rows& to, const float* x, int64_t n) {
  int64_t b = 0;
  for (; b + 4 <= n / 32; b += 4) {
    if (quantise_four(to, b, x + 32 * b)) continue;
    for (int64_t i = b; i < b + 4; ++i) quantise_one(to, i, x + 32 * i);
  }
  for (; b < n / 32; ++b) quantise_one(to, b, x + 32 * b);
}

void store_q8_0(std::byte* dst, const float* x, int64_t n) {
  using L = layout::Q8_0;
  for (int64_t b = 0; b < n / 32; ++b, dst += L::bytes) {
    const Quantised block = quantise_block(x + 32 * b);
    const uint16_t half = uint16_t(_cvtss_sh(block.d, _MM_FROUND_TO_NEAREST_INT));
    std::memcpy(dst + L::d, &half, sizeof half);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + L::quants), block.q);
  }
}

void load_q8_0(float* dst, const std::byte* src, int64_t n) {
  using L = layout::Q8_0;
  for (int64_t b = 0; b < n / 32; ++b, src += L::bytes) {
    uint16_t half;
    std::memcpy(&half, src + L::d, sizeof half);
    const __m512 d = _mm512_set1_ps(_cvtsh_ss(half));
    for (int i = 0; i < 32; i += 16) {
      const __m512i q = _mm512_cvtepi8_epi32(Simd::load_16_bytes(src + L::quants + i));
      _mm512_storeu_ps(dst + 32 * b + i, _mm512_mul_ps(d, _mm512_cvtepi32_ps(q)));
    }
  }
}

}  // namespace minfer::cpu::avx512
