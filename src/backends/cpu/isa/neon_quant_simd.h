#pragma once
#include <arm_neon.h>

#include <cstring>

#include "backends/cpu/isa/quant_matmul.h"

/// The vectors that quant_formats.h and quant_matmul.h are written in, for NEON with dot products: four rows.
namespace minfer::cpu::neon {

struct Simd {
  using Bytes = uint8x16_t;
  using Words = int32x4_t;
  using Floats = float32x4_t;
  static constexpr int rows = 4;
  static constexpr int signed_offset = 0;
  /// Sixteen sums and eight registers of activations.
  static constexpr int tile_tokens = 8;

  static const uint8_t* unsigned_bytes(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }
  static Bytes load_every_fourth(const std::byte* p, size_t) { return vld1q_u8(unsigned_bytes(p)); }
  /// From words of a row together to rows of a word together.
  static void transpose(Bytes* v) {
    const auto word = [&](int i) { return vreinterpretq_u32_u8(v[i]); };
    const auto pair = [](uint32x4_t x) { return vreinterpretq_u64_u32(x); };
    const uint64x2_t a = pair(vtrn1q_u32(word(0), word(1))), b = pair(vtrn2q_u32(word(0), word(1)));
    const uint64x2_t c = pair(vtrn1q_u32(word(2), word(3))), d = pair(vtrn2q_u32(word(2), word(3)));
    v[0] = vreinterpretq_u8_u64(vtrn1q_u64(a, c));
    v[1] = vreinterpretq_u8_u64(vtrn1q_u64(b, d));
    v[2] = vreinterpretq_u8_u64(vtrn2q_u64(a, c));
    v[3] = vreinterpretq_u8_u64(vtrn2q_u64(b, d));
  }
  template <class T>
  static T value_at(const std::byte* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static Words load_words(const std::byte* p, size_t s) {
    const int32_t v[4] = {value_at<int32_t>(p), value_at<int32_t>(p + s), value_at<int32_t>(p + 2 * s),
                          value_at<int32_t>(p + 3 * s)};
    return vld1q_s32(v);
  }
  static Floats load_halves(const std::byte* p, size_t s) {
    const uint16_t v[4] = {value_at<uint16_t>(p), value_at<uint16_t>(p + s), value_at<uint16_t>(p + 2 * s),
                           value_at<uint16_t>(p + 3 * s)};
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(v)));
  }
  static Floats low_half(Words v) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32(vreinterpretq_u32_s32(v))));
  }
  static Floats high_half(Words v) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vshrn_n_u32(vreinterpretq_u32_s32(v), 16)));
  }

  static Words words(Bytes v) { return vreinterpretq_s32_u8(v); }
  template <int mask>
  static Bytes bits(Bytes v) {
    return vandq_u8(v, vdupq_n_u8(mask));
  }
  /// Bits shifted up (or down, where n < 0), then masked.
  template <int n, int mask>
  static Bytes shift_bits(Bytes v) {
    if constexpr (n >= 0) return bits<mask>(vshlq_n_u8(v, n));
    if constexpr (n < 0) return bits<mask>(vshrq_n_u8(v, -n));
  }
  static Bytes low_nibbles(Bytes v) { return bits<15>(v); }
  static Bytes high_nibbles(Bytes v) { return vshrq_n_u8(v, 4); }
  static Bytes bit_or(Bytes a, Bytes b) { return vorrq_u8(a, b); }
  static Bytes from_signed(Bytes v) { return v; }
  /// Byte i of each word in all four of its bytes.
  template <int i>
  static Bytes spread_byte(Words v) {
    const uint32_t first = 0x01010101u * i;
    const uint32_t from[4] = {first, first + 0x04040404u, first + 0x08080808u, first + 0x0c0c0c0cu};
    return vqtbl1q_u8(vreinterpretq_u8_s32(v), vreinterpretq_u8_u32(vld1q_u32(from)));
  }
  /// 16 in each byte that has its bit of `bit_of_byte` set.
  static Bytes sixteen_where(Bytes v, uint32_t bit_of_byte) {
    return bits<16>(vtstq_u8(v, vreinterpretq_u8_u32(vdupq_n_u32(bit_of_byte))));
  }
  template <int i>
  static Words byte(Words v) {
    return vandq_s32(vreinterpretq_s32_u32(shift_down<8 * i>(vreinterpretq_u32_s32(v))), vdupq_n_s32(255));
  }
  template <int i>
  static Words signed_byte(Words v) {
    return vshrq_n_s32(vshlq_n_s32(v, 24 - 8 * i), 24);
  }

  static Floats broadcast(float v) { return vdupq_n_f32(v); }
  static Floats load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, Floats v) { vst1q_f32(p, v); }
  static Floats to_floats(Words v) { return vcvtq_f32_s32(v); }
  static Floats as_floats(Words bits) { return vreinterpretq_f32_s32(bits); }
  static Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  static Floats fma(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
  static Floats negate(Floats v) { return vnegq_f32(v); }

  /// sum = the exact dots of words [begin, end) of a block with tokens [first, first + tokens), as the bits
  /// of dot_origin plus the dot; a second half's are integers as they are. Both sides are signed here: the
  /// offset comes off the quants themselves.
  template <class F, int first, int begin, int end, int tokens, int n, class Block>
  [[gnu::always_inline]] static void dots(Words (&sum)[tokens], const Block& block, const TokenBlock<n>& x,
                                          const TokenSums<F::offset, n>&) {
    for (auto& word : sum) word = vdupq_n_s32(begin == 0 ? dot_origin_bits : 0);
    quant::static_for<(end - begin) / 4>(
        [&](auto half) { add_products<F, first, begin + 4 * half>(sum, block, x); });
  }

 private:
  /// A shift by zero is no instruction.
  template <int n>
  static uint32x4_t shift_down(uint32x4_t v) {
    if constexpr (n == 0) return v;
    if constexpr (n > 0) return vshrq_n_u32(v, n);
  }

  /// Adds words [begin, begin + 4) of each row times the tokens' bytes.
  template <class F, int first, int begin, int tokens, int n, class Block>
  [[gnu::always_inline]] static void add_products(Words (&sum)[tokens], const Block& block,
                                                  const TokenBlock<n>& x) {
    int8x16_t a[tokens];
    for (int t = 0; t < tokens; ++t) a[t] = vld1q_s8(x.q[first + t] + 4 * begin);
    quant::static_for<4>([&](auto i) {
      const int8x16_t q = vsubq_s8(vreinterpretq_s8_u8(block.q[begin + i]), vdupq_n_s8(F::offset));
      quant::static_for<tokens>([&](auto t) { sum[t] = vdotq_laneq_s32(sum[t], q, a[t], i); });
    });
  }
};

}  // namespace minfer::cpu::neon
