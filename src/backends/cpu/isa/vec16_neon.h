#pragma once
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

/// Sixteen f32 lanes in four registers. The same interface as vec16_avx512.h, which comments it; everything
/// is forced inline and private to this namespace, so no other file can end up with these instructions.
namespace minfer::cpu::neon {

#define MINFER_LANES static inline __attribute__((always_inline))

struct Vec16 {
  float32x4_t v[4];  ///< lanes 4i .. 4i+3

  // Of 32 registers, dots take 4 x 4 sums, 4 columns and a row; o takes sixteen, values and weights ten.
  static constexpr int dot_columns = 4;
  static constexpr int weigh_columns = 2;
  static constexpr int weigh_chunks = 2;
  static constexpr int score_vectors = 1;

  using Part = float32x4_t;
  static constexpr int parts = 4;
  MINFER_LANES Part part(Vec16 a, int p) { return a.v[p]; }
  MINFER_LANES void set_part(Vec16& a, int p, Part value) { a.v[p] = value; }
  MINFER_LANES Part load_part(const float* p) { return vld1q_f32(p); }
  MINFER_LANES void store_part(float* p, Part a) { vst1q_f32(p, a); }
  MINFER_LANES Part fma_part(Part a, Part b, Part c) { return vfmaq_f32(c, a, b); }
  MINFER_LANES void keep(Part& a) { __asm__("" : "+w"(a)); }

  struct F16 {
    MINFER_LANES Part load_part(const uint16_t* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
  };
  struct BF16 {
    MINFER_LANES Part load_part(const uint16_t* p) {
      return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
    }
  };
  struct Q8 {
    MINFER_LANES Part load_part(const std::byte* block, int64_t i) {
      uint16_t d;
      __builtin_memcpy(&d, block, sizeof d);
      uint32_t four;
      __builtin_memcpy(&four, block + sizeof d + i, sizeof four);
      const int16x8_t q = vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)));
      return vmulq_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(d))),
                       vcvtq_f32_s32(vmovl_s16(vget_low_s16(q))));
    }
  };

  MINFER_LANES Vec16 splat(float x) {
    const float32x4_t s = vdupq_n_f32(x);
    return {{s, s, s, s}};
  }
  MINFER_LANES Vec16 load(const float* p) {
    return {{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
  }
  MINFER_LANES void store(float* p, Vec16 a) {
    for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, a.v[i]);
  }

  MINFER_LANES Vec16 load_first(const float* p, int n) {
    float lane[16] = {};
    for (int i = 0; i < n; ++i) lane[i] = p[i];
    return load(lane);
  }
  MINFER_LANES void store_first(float* p, Vec16 a, int n) {
    float lane[16];
    store(lane, a);
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }
  MINFER_LANES Vec16 select_first(Vec16 a, Vec16 b, int n) {
    const int32_t zero_to_three[4] = {0, 1, 2, 3};
    const int32x4_t place = vld1q_s32(zero_to_three);
    Vec16 r;
    for (int i = 0; i < 4; ++i) r.v[i] = vbslq_f32(vcltq_s32(place, vdupq_n_s32(n - 4 * i)), a.v[i], b.v[i]);
    return r;
  }

  MINFER_LANES Vec16 add(Vec16 a, Vec16 b) {
    return each(a, b, [](float32x4_t x, float32x4_t y) { return vaddq_f32(x, y); });
  }
  MINFER_LANES Vec16 sub(Vec16 a, Vec16 b) {
    return each(a, b, [](float32x4_t x, float32x4_t y) { return vsubq_f32(x, y); });
  }
  MINFER_LANES Vec16 mul(Vec16 a, Vec16 b) {
    return each(a, b, [](float32x4_t x, float32x4_t y) { return vmulq_f32(x, y); });
  }
  MINFER_LANES Vec16 div(Vec16 a, Vec16 b) {
    return each(a, b, [](float32x4_t x, float32x4_t y) { return vdivq_f32(x, y); });
  }
  MINFER_LANES Vec16 fma(Vec16 a, Vec16 b, Vec16 c) {
    Vec16 r;
    for (int i = 0; i < 4; ++i) r.v[i] = vfmaq_f32(c.v[i], a.v[i], b.v[i]);
    return r;
  }
  MINFER_LANES Vec16 negate(Vec16 a) {
    return each(a, a, [](float32x4_t x, float32x4_t) { return vnegq_f32(x); });
  }

  MINFER_LANES Vec16 max(Vec16 a, Vec16 b) {
    return each(a, b, [](float32x4_t x, float32x4_t y) { return max4(x, y); });
  }
  MINFER_LANES Vec16 replace_above(Vec16 a, Vec16 x, float bound, Vec16 b) {
    Vec16 r;
    for (int i = 0; i < 4; ++i) r.v[i] = vbslq_f32(vcgtq_f32(x.v[i], vdupq_n_f32(bound)), b.v[i], a.v[i]);
    return r;
  }
  MINFER_LANES Vec16 replace_below(Vec16 a, Vec16 x, float bound, Vec16 b) {
    Vec16 r;
    for (int i = 0; i < 4; ++i) r.v[i] = vbslq_f32(vcltq_f32(x.v[i], vdupq_n_f32(bound)), b.v[i], a.v[i]);
    return r;
  }
  /// Two factors: the first product is exact, so the result rounds once.
  MINFER_LANES Vec16 scale_pow2(Vec16 a, Vec16 n) {
    return each(a, n, [](float32x4_t x, float32x4_t power) {
      const int32x4_t whole = vcvtq_s32_f32(power);
      const int32x4_t half = vshrq_n_s32(whole, 1);
      return vmulq_f32(vmulq_f32(x, pow2(half)), pow2(vsubq_s32(whole, half)));
    });
  }

  MINFER_LANES void store_f16(uint16_t* p, Vec16 a) {
    for (int i = 0; i < 4; ++i) vst1_u16(p + 4 * i, vreinterpret_u16_f16(vcvt_f16_f32(a.v[i])));
  }
  MINFER_LANES void load_pairs(const float* p, Vec16& a, Vec16& b) {
    for (int i = 0; i < 4; ++i) {
      const float32x4x2_t pairs = vld2q_f32(p + 8 * i);
      a.v[i] = pairs.val[0];
      b.v[i] = pairs.val[1];
    }
  }
  MINFER_LANES void store_pairs(float* p, Vec16 a, Vec16 b) {
    for (int i = 0; i < 4; ++i) vst2q_f32(p + 8 * i, float32x4x2_t{{a.v[i], b.v[i]}});
  }

  MINFER_LANES float sum(Vec16 a) {
    const float32x4_t four = four_lanes(a);
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(vpadd_f32(two, two), 0);
  }
  MINFER_LANES float max_lanes(Vec16 a) {
    float32x4_t m = max4(max4(a.v[0], a.v[2]), max4(a.v[1], a.v[3]));
    m = max4(m, vextq_f32(m, m, 2));
    return vgetq_lane_f32(max4(m, vextq_f32(m, m, 1)), 0);
  }
  template <int columns>
  MINFER_LANES void sums(const Vec16* a, float* out, int64_t stride) {
    for (int c = 0; c < columns; ++c) sum4(a + 4 * c, out + c * stride);
  }

 private:
  MINFER_LANES void sum4(const Vec16* a, float* out) {
    vst1q_f32(out, vpaddq_f32(two_each(a[0], a[1]), two_each(a[2], a[3])));
  }
  template <class F>
  MINFER_LANES Vec16 each(Vec16 a, Vec16 b, F f) {
    return {{f(a.v[0], b.v[0]), f(a.v[1], b.v[1]), f(a.v[2], b.v[2]), f(a.v[3], b.v[3])}};
  }
  /// Not vmaxq: of two zeros it takes the positive one, not the second.
  MINFER_LANES float32x4_t max4(float32x4_t a, float32x4_t b) {
    const uint32x4_t a_is_nan = vmvnq_u32(vceqq_f32(a, a));
    return vbslq_f32(vorrq_u32(vcgtq_f32(a, b), a_is_nan), a, b);
  }
  MINFER_LANES float32x4_t pow2(int32x4_t e) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(e, vdupq_n_s32(127)), 23));
  }
  /// Steps 8 and 4 of a sum.
  MINFER_LANES float32x4_t four_lanes(Vec16 a) {
    return vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
  }
  /// Steps 8, 4 and 2 of two sums: a's two partial sums, then b's.
  MINFER_LANES float32x4_t two_each(Vec16 a, Vec16 b) {
    const float64x2_t x = vreinterpretq_f64_f32(four_lanes(a)), y = vreinterpretq_f64_f32(four_lanes(b));
    return vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(x, y)), vreinterpretq_f32_f64(vzip2q_f64(x, y)));
  }
};

#undef MINFER_LANES

}  // namespace minfer::cpu::neon
