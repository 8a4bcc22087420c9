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

int32_t sum_bytes(__m256i q) {
  const __m256i words = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), q);
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

}  // namespace

void quantise_q8(int8_t* q, float* d, int32_t* sum, const float* x, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b) {
    const Quantised block = quantise_block(x + 32 * b);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + 32 * b), block.q);
    d[b] = block.d;
    sum[b] = sum_bytes(block.q);
  }
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
