#pragma once
#include <immintrin.h>

#include <cstring>

#include "backends/cpu/isa/quant_matmul.h"

/// The vectors that quant_formats.h and quant_matmul.h are written in, for AVX2: eight rows.
namespace minfer::cpu::avx2 {

struct Simd {
  using Bytes = __m256i;
  using Words = __m256i;
  using Floats = __m256;
  static constexpr int rows = 8;
  static constexpr int signed_offset = 0;
  /// Four sums of floats and four of integers, or eight where weights come in nibbles, in sixteen registers.
  static constexpr int tile_tokens = 4;

  static __m128i load_16_bytes(const std::byte* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  /// Bytes 0..15 of p and of p + step.
  static Bytes load_every_fourth(const std::byte* p, size_t step) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_16_bytes(p)), load_16_bytes(p + step), 1);
  }
  /// Four words of four rows in each half: from words of a row together to rows of a word together.
  static void transpose(Bytes* v) {
    const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
    const __m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_unpacklo_epi64(a, c);
    v[1] = _mm256_unpackhi_epi64(a, c);
    v[2] = _mm256_unpacklo_epi64(b, d);
    v[3] = _mm256_unpackhi_epi64(b, d);
  }
  static int word_at(const std::byte* p) {
    int w;
    std::memcpy(&w, p, sizeof w);
    return w;
  }
  static Words load_words(const std::byte* p, size_t s) {
    return _mm256_setr_epi32(word_at(p), word_at(p + s), word_at(p + 2 * s), word_at(p + 3 * s),
                             word_at(p + 4 * s), word_at(p + 5 * s), word_at(p + 6 * s), word_at(p + 7 * s));
  }
  static Floats load_halves(const std::byte* p, size_t stride) {
    __m128i v = _mm_setzero_si128();
    quant::static_for<8>([&](auto i) {
      int16_t half;
      std::memcpy(&half, p + i * stride, sizeof half);
      v = _mm_insert_epi16(v, half, i);
    });
    return _mm256_cvtph_ps(v);
  }
  static Floats low_half(Words v) { return high_half(_mm256_slli_epi32(v, 16)); }
  static Floats high_half(Words v) {
    const __m256i h = _mm256_srli_epi32(v, 16);
    return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1)));
  }

  static Words words(Bytes v) { return v; }
  template <int mask>
  static Bytes bits(Bytes v) {
    return _mm256_and_si256(v, _mm256_set1_epi8(mask));
  }
  /// Bits shifted up (or down, where n < 0) that arrive inside `mask`, which no bit of a neighbour byte does.
  template <int n, int mask>
  static Bytes shift_bits(Bytes v) {
    if constexpr (n >= 0) return bits<mask>(_mm256_slli_epi16(v, n));
    if constexpr (n < 0) return bits<mask>(_mm256_srli_epi16(v, -n));
  }
  static Bytes low_nibbles(Bytes v) { return bits<15>(v); }
  static Bytes high_nibbles(Bytes v) { return shift_bits<-4, 15>(v); }
  static Bytes bit_or(Bytes a, Bytes b) { return _mm256_or_si256(a, b); }
  static Bytes from_signed(Bytes v) { return v; }
  /// Byte i of each word in all four of its bytes.
  template <int i>
  static Bytes spread_byte(Words v) {
    return _mm256_shuffle_epi8(v, _mm256_add_epi8(_mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0,
                                                                    0x04040404, 0x08080808, 0x0c0c0c0c),
                                                  _mm256_set1_epi8(i)));
  }
  /// 16 in each byte that has its bit of `bit_of_byte` set.
  static Bytes sixteen_where(Bytes v, uint32_t bit_of_byte) {
    const __m256i bit = _mm256_set1_epi32(int(bit_of_byte));
    return bits<16>(_mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit));
  }
  template <int i>
  static Words byte(Words v) {
    return _mm256_and_si256(_mm256_srli_epi32(v, 8 * i), _mm256_set1_epi32(255));
  }
  template <int i>
  static Words signed_byte(Words v) {
    return _mm256_srai_epi32(_mm256_slli_epi32(v, 24 - 8 * i), 24);
  }

  static Floats broadcast(float v) { return _mm256_set1_ps(v); }
  static Floats load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Floats v) { _mm256_storeu_ps(p, v); }
  static Floats to_floats(Words v) { return _mm256_cvtepi32_ps(v); }
  static Floats as_floats(Words bits) { return _mm256_castsi256_ps(bits); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats negate(Floats v) { return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f)); }

  static Words four_activations(const int8_t* q) {
    int v;
    std::memcpy(&v, q, sizeof v);
    return _mm256_set1_epi32(v);
  }

  /// A block of eight-bit weights in a panel: each weight plus 128, in nibbles.
  struct NibbleBlock {
    Bytes low[8], high[8];
    Floats scale, origin;
  };
  static NibbleBlock in_nibbles(const quant::Block<Simd, quant::Kind::plain>& block) {
    NibbleBlock to;
    quant::static_for<8>([&](auto i) {
      const Bytes shifted = _mm256_xor_si256(block.q[i], _mm256_set1_epi8(-128));
      to.low[i] = low_nibbles(shifted);
      to.high[i] = high_nibbles(shifted);
    });
    to.scale = block.scale;
    to.origin = block.origin;
    return to;
  }

  /// sum = the exact dots of words [begin, end) of a block with tokens [first, first + tokens), as the bits
  /// of dot_origin plus the dot; a second half's are integers as they are.
  template <class F, int first, int begin, int end, int tokens, int offset, int n, class AnyBlock>
  [[gnu::always_inline]] static void dots(Words (&sum)[tokens], const AnyBlock& block, const TokenBlock<n>& x,
                                          const TokenSums<offset, n>& sums) {
    if constexpr (std::is_same_v<AnyBlock, NibbleBlock>) {
      sum_nibbles<first>(sum, block, x);
    } else {
      sum_products<F, first, begin, end>(sum, block, x);
    }
    quant::static_for<tokens>([&](auto t) {
      sum[t] = _mm256_add_epi32(sum[t], _mm256_set1_epi32(dot_seed<begin>(sums, first + t)));
    });
  }

 private:
  /// Products of a word that 16-bit sums can hold: each is at most 2 * largest * 127.
  template <int largest>
  static constexpr int exact_words = 32767 / (2 * largest * 127);

  /// sum += products, or = for the first. g++ 12 regroups the sums of a tile as trees, whose branches are
  /// more than there are registers: what it may not look into it leaves in order.
  template <bool is_first>
  [[gnu::always_inline]] static void add_pairs(Words& sum, Words products) {
    sum = is_first ? products : _mm256_add_epi16(sum, products);
    asm volatile("" : "+x"(sum));
  }

  /// Sums words [begin, end) of each row times the tokens' bytes.
  template <class F, int first, int begin, int end, int tokens, int n, class Block>
  [[gnu::always_inline]] static void sum_products(Words (&isum)[tokens], const Block& block,
                                                  const TokenBlock<n>& x) {
    constexpr int most = exact_words<F::largest>;
    constexpr int run = most < end - begin ? (most >= 4 ? 4 : most) : end - begin;
    quant::static_for<(end - begin) / run>([&](auto part) {
      Words pairs[tokens];
      quant::static_for<run>([&](auto i) {
        constexpr int word = begin + part * run + i;
        quant::static_for<tokens>([&](auto t) {
          const __m256i a = four_activations(x.q[first + t] + 4 * word);
          const __m256i product = multiply_pairs<F>(block.q[word], a);
          if constexpr (run > 4 && tokens > 1) {
            add_pairs<i == 0>(pairs[t], product);
          } else {
            pairs[t] = i == 0 ? product : _mm256_add_epi16(pairs[t], product);
          }
        });
      });
      quant::static_for<tokens>([&](auto t) {
        const __m256i sum = _mm256_madd_epi16(pairs[t], _mm256_set1_epi16(1));
        isum[t] = part == 0 ? sum : _mm256_add_epi32(isum[t], sum);
      });
    });
  }

  /// The same for eight-bit weights in nibbles. Their bytes' products fill sixteen bits, so that each would
  /// need a step of its own to 32 bits, after one that moves the weights' signs to the activations: three
  /// instructions of the two multiplying ports and an addition for a word and token. As nibbles the eight
  /// words of a block share a sum, and there are two products and two additions, which have a third port.
  template <int first, int tokens, int n>
  [[gnu::always_inline]] static void sum_nibbles(Words (&sum)[tokens], const NibbleBlock& block,
                                                 const TokenBlock<n>& x) {
    static_assert(exact_words<15> >= 8);
    Words low[tokens], high[tokens];
    quant::static_for<8>([&](auto i) {
      quant::static_for<tokens>([&](auto t) {
        const __m256i a = four_activations(x.q[first + t] + 4 * i);
        add_pairs<i == 0>(low[t], _mm256_maddubs_epi16(block.low[i], a));
        add_pairs<i == 0>(high[t], _mm256_maddubs_epi16(block.high[i], a));
      });
    });
    quant::static_for<tokens>([&](auto t) {
      const __m256i sixteens = _mm256_madd_epi16(high[t], _mm256_set1_epi16(16));
      const __m256i ones = _mm256_madd_epi16(low[t], _mm256_set1_epi16(1));
      sum[t] = _mm256_add_epi32(sixteens, ones);
    });
  }

  /// vpmaddubsw takes unsigned weights: signed ones give their sign to the activations, which are never -128.
  template <class F>
  [[gnu::always_inline]] static __m256i multiply_pairs(__m256i q, __m256i a) {
    if constexpr (F::largest == 128) return _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(a, q));
    return _mm256_maddubs_epi16(q, a);
  }
};

}  // namespace minfer::cpu::avx2

namespace minfer::cpu::quant {

template <>
struct PanelForm<avx2::Simd, Q8_0<avx2::Simd>> {
  using Block = avx2::Simd::NibbleBlock;
  static constexpr int offset = 128;
  [[gnu::always_inline]] static Block from(const quant::Block<avx2::Simd, Kind::plain>& block) {
    return avx2::Simd::in_nibbles(block);
  }
};

}  // namespace minfer::cpu::quant
