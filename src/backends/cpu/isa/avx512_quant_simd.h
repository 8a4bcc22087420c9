#pragma once
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own avx512fintrin.h starts undefined vectors from themselves and warns about it where it is
// inlined.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstring>

#include "backends/cpu/isa/quant_matmul.h"

/// The vectors that quant_formats.h and quant_matmul.h are written in, for AVX-512 with VNNI: sixteen rows.
namespace minfer::cpu::avx512 {

struct Simd {
  using Bytes = __m512i;
  using Words = __m512i;
  using Floats = __m512;
  static constexpr int rows = 16;
  /// vpdpbusd takes unsigned weights: signed ones are shifted up by 128, and the sum of the activations down.
  static constexpr int signed_offset = 128;
  /// Sixteen sums stay in registers. Four activations come broadcast from memory with the product that takes
  /// them, so a product is one instruction and a word of weights is loaded once a tile.
  static constexpr int tile_tokens = 8;

  static __m128i load_16_bytes(const std::byte* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  /// Bytes 0..15 of p, p + step, p + 2 step and p + 3 step.
  static Bytes load_every_fourth(const std::byte* p, size_t step) {
    __m512i v = _mm512_castsi128_si512(load_16_bytes(p));
    v = _mm512_inserti32x4(v, load_16_bytes(p + step), 1);
    v = _mm512_inserti32x4(v, load_16_bytes(p + 2 * step), 2);
    return _mm512_inserti32x4(v, load_16_bytes(p + 3 * step), 3);
  }
  /// Four words of four rows in each quarter: from words of a row together to rows of a word together.
  static void transpose(Bytes* v) {
    const __m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
    const __m512i c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi64(a, c);
    v[1] = _mm512_unpackhi_epi64(a, c);
    v[2] = _mm512_unpacklo_epi64(b, d);
    v[3] = _mm512_unpackhi_epi64(b, d);
  }
  static int word_at(const std::byte* p) {
    int w;
    std::memcpy(&w, p, sizeof w);
    return w;
  }
  static __m128i four_words(const std::byte* p, size_t s) {
    return _mm_setr_epi32(word_at(p), word_at(p + s), word_at(p + 2 * s), word_at(p + 3 * s));
  }
  static Words load_words(const std::byte* p, size_t stride) {
    __m512i v = _mm512_castsi128_si512(four_words(p, stride));
    v = _mm512_inserti32x4(v, four_words(p + 4 * stride, stride), 1);
    v = _mm512_inserti32x4(v, four_words(p + 8 * stride, stride), 2);
    return _mm512_inserti32x4(v, four_words(p + 12 * stride, stride), 3);
  }
  static __m128i eight_halves(const std::byte* p, size_t stride) {
    __m128i v = _mm_setzero_si128();
    quant::static_for<8>([&](auto i) {
      int16_t half;
      std::memcpy(&half, p + i * stride, sizeof half);
      v = _mm_insert_epi16(v, half, i);
    });
    return v;
  }
  static Floats load_halves(const std::byte* p, size_t stride) {
    return _mm512_cvtph_ps(_mm256_set_m128i(eight_halves(p + 8 * stride, stride), eight_halves(p, stride)));
  }
  static Floats low_half(Words v) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)); }
  static Floats high_half(Words v) { return low_half(_mm512_srli_epi32(v, 16)); }

  static Words words(Bytes v) { return v; }
  template <int mask>
  static Bytes bits(Bytes v) {
    return _mm512_and_si512(v, _mm512_set1_epi8(mask));
  }
  /// Bits shifted up (or down, where n < 0) that arrive inside `mask`, which no bit of a neighbour byte does.
  template <int n, int mask>
  static Bytes shift_bits(Bytes v) {
    if constexpr (n >= 0) return bits<mask>(_mm512_slli_epi16(v, n));
    if constexpr (n < 0) return bits<mask>(_mm512_srli_epi16(v, -n));
  }
  static Bytes low_nibbles(Bytes v) { return bits<15>(v); }
  static Bytes high_nibbles(Bytes v) { return shift_bits<-4, 15>(v); }
  static Bytes bit_or(Bytes a, Bytes b) { return _mm512_or_si512(a, b); }
  static Bytes from_signed(Bytes v) { return _mm512_xor_si512(v, _mm512_set1_epi8(-128)); }
  /// Byte i of each word in all four of its bytes.
  template <int i>
  static Bytes spread_byte(Words v) {
    return _mm512_shuffle_epi8(
        v, _mm512_add_epi8(_mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0), _mm512_set1_epi8(i)));
  }
  /// 16 in each byte that has its bit of `bit_of_byte` set.
  static Bytes sixteen_where(Bytes v, uint32_t bit_of_byte) {
    return _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(v, _mm512_set1_epi32(int(bit_of_byte))),
                                 _mm512_set1_epi8(16));
  }
  template <int i>
  static Words byte(Words v) {
    return _mm512_and_si512(_mm512_srli_epi32(v, 8 * i), _mm512_set1_epi32(255));
  }
  template <int i>
  static Words signed_byte(Words v) {
    return _mm512_srai_epi32(_mm512_slli_epi32(v, 24 - 8 * i), 24);
  }

  static Floats broadcast(float v) { return _mm512_set1_ps(v); }
  static Floats load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Floats v) { _mm512_storeu_ps(p, v); }
  static Floats to_floats(Words v) { return _mm512_cvtepi32_ps(v); }
  static Floats as_floats(Words bits) { return _mm512_castsi512_ps(bits); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats negate(Floats v) { return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f)); }

  /// sum + the dots of each word of w and the four activations at q. g++ 12 would broadcast them in an
  /// instruction of its own.
  [[gnu::always_inline]] static Words add_product(Words sum, Bytes w, const int8_t* q) {
    struct Four {
      int8_t q[4];
    };
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(w), "m"(*reinterpret_cast<const Four*>(q)));
    return sum;
  }

  /// sum = the exact dots of words [begin, end) of a block with tokens [first, first + tokens), as the bits
  /// of dot_origin plus the dot; a second half's are integers as they are.
  template <class F, int first, int begin, int end, int tokens, int n, class Block>
  [[gnu::always_inline]] static void dots(Words (&sum)[tokens], const Block& block, const TokenBlock<n>& x,
                                          const TokenSums<F::offset, n>& sums) {
    quant::static_for<tokens>([&](auto t) { sum[t] = _mm512_set1_epi32(dot_seed<begin>(sums, first + t)); });
    quant::static_for<end - begin>([&](auto i) {
      const Bytes w = block.q[begin + i];
      quant::static_for<tokens>(
          [&](auto t) { sum[t] = add_product(sum[t], w, x.q[first + t] + 4 * (begin + i)); });
    });
  }
};

}  // namespace minfer::cpu::avx512
