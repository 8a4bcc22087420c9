#include "backends/cpu/isa/avx2_quant.h"

#include <immintrin.h>

#include <bit>
#include <cstring>
#include <limits>

#include "backends/cpu/isa/quant_blocks.h"

namespace minfer::cpu::avx2 {
namespace {

constexpr uint32_t infinity_bits = 0x7f800000u;

int largest_word(__m256i v) {
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
  return _mm_cvtsi128_si32(m);
}

/// Eight values as quants in words; NaN gives 0.
__m256i quantise(__m256 x, __m256 inverse) {
  const __m256 scaled = _mm256_mul_ps(x, inverse);
  const __m256 clamped =
      _mm256_max_ps(_mm256_min_ps(scaled, _mm256_set1_ps(127.0f)), _mm256_set1_ps(-127.0f));
  const __m256 number = _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q);
  return _mm256_cvtps_epi32(_mm256_and_ps(clamped, number));
}

struct Quantised {
  __m256i q;  ///< 32 quants
  float d;    ///< amax / 127; NaN if a value is not finite
};

/// One block, with the rules of the scalar reference.
Quantised quantise_block(const float* x) {
  __m256 v[4];
  __m256i largest = _mm256_setzero_si256();
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm256_loadu_ps(x + 8 * i);
    const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(v[i]), _mm256_set1_epi32(0x7fffffff));
    largest = _mm256_max_epi32(largest, magnitude);
  }
  const uint32_t bits = uint32_t(largest_word(largest));
  if (bits >= infinity_bits) return {_mm256_setzero_si256(), std::numeric_limits<float>::quiet_NaN()};
  const float amax = std::bit_cast<float>(bits);
  const __m256 inverse = _mm256_set1_ps(amax == 0.0f ? 0.0f : 127.0f / amax);
  const __m256i low = _mm256_packs_epi32(quantise(v[0], inverse), quantise(v[1], inverse));
  const __m256i high = _mm256_packs_epi32(quantise(v[2], inverse), quantise(v[3], inverse));
  // The packs work within halves: put the eight groups of four quants back in order.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return {_mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order), amax / 127.0f};
}

int32_t sum_bytes(__m128i q) {
  __m128i sum = _mm_madd_epi16(_mm_maddubs_epi16(_mm_set1_epi8(1), q), _mm_set1_epi16(1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

}  // namespace

void quantise_q8(const Q8Rows& to, const float* x, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b) {
    const Quantised block = quantise_block(x + 32 * b);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.q + 32 * b), block.q);
    to.d[b] = block.d;
    to.sum[2 * b] = sum_bytes(_mm256_castsi256_si128(block.q));
    to.sum[2 * b + 1] = sum_bytes(_mm256_extracti128_si256(block.q, 1));
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
    const __m256 d = _mm256_set1_ps(_cvtsh_ss(half));
    for (int i = 0; i < 32; i += 8) {
      const __m128i q = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(src + L::quants + i));
      _mm256_storeu_ps(dst + 32 * b + i, _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q))));
    }
  }
}

}  // namespace minfer::cpu::avx2
