#include "backends/cpu/isa/neon_quant.h"

#include <arm_neon.h>

#include <bit>
#include <cstring>
#include <limits>

#include "backends/cpu/isa/quant_blocks.h"
#include "base/fp16.h"

namespace minfer::cpu::neon {
namespace {

constexpr uint32_t infinity_bits = 0x7f800000u;

/// Four values as quants; NaN gives 0, which is what the conversion does with it.
int16x4_t quantise(float32x4_t x, float inverse) {
  const float32x4_t scaled = vmulq_n_f32(x, inverse);
  const float32x4_t clamped = vmaxq_f32(vminq_f32(scaled, vdupq_n_f32(127.0f)), vdupq_n_f32(-127.0f));
  return vmovn_s32(vcvtnq_s32_f32(clamped));
}

struct Quantised {
  int8x16_t q[2];  ///< 32 quants
  float d;         ///< amax / 127; NaN if a value is not finite
};

/// One block, with the rules of the scalar reference.
Quantised quantise_block(const float* x) {
  float32x4_t v[8];
  uint32x4_t largest = vdupq_n_u32(0);
  for (int i = 0; i < 8; ++i) {
    v[i] = vld1q_f32(x + 4 * i);
    largest = vmaxq_u32(largest, vandq_u32(vreinterpretq_u32_f32(v[i]), vdupq_n_u32(0x7fffffffu)));
  }
  const uint32_t bits = vmaxvq_u32(largest);
  if (bits >= infinity_bits) {
    return {{vdupq_n_s8(0), vdupq_n_s8(0)}, std::numeric_limits<float>::quiet_NaN()};
  }
  const float amax = std::bit_cast<float>(bits);
  const float inverse = amax == 0.0f ? 0.0f : 127.0f / amax;
  int8x8_t eight[4];
  for (int i = 0; i < 4; ++i) {
    eight[i] = vmovn_s16(vcombine_s16(quantise(v[2 * i], inverse), quantise(v[2 * i + 1], inverse)));
  }
  return {{vcombine_s8(eight[0], eight[1]), vcombine_s8(eight[2], eight[3])}, amax / 127.0f};
}

}  // namespace

void quantise_q8(const Q8Rows& to, const float* x, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b) {
    const Quantised block = quantise_block(x + 32 * b);
    for (int half = 0; half < 2; ++half) {
      vst1q_s8(to.q + 32 * b + 16 * half, block.q[half]);
      to.sum[2 * b + half] = vaddlvq_s8(block.q[half]);
    }
    to.d[b] = block.d;
  }
}

void store_q8_0(std::byte* dst, const float* x, int64_t n) {
  using L = layout::Q8_0;
  for (int64_t b = 0; b < n / 32; ++b, dst += L::bytes) {
    const Quantised block = quantise_block(x + 32 * b);
    const uint16_t half = f32_to_f16(block.d);
    std::memcpy(dst + L::d, &half, sizeof half);
    std::memcpy(dst + L::quants, block.q, sizeof block.q);
  }
}

void load_q8_0(float* dst, const std::byte* src, int64_t n) {
  using L = layout::Q8_0;
  for (int64_t b = 0; b < n / 32; ++b, src += L::bytes) {
    uint16_t half;
    std::memcpy(&half, src + L::d, sizeof half);
    const float d = f16_to_f32(half);
    for (int i = 0; i < 32; i += 8) {
      int8x8_t q;
      std::memcpy(&q, src + L::quants + i, sizeof q);
      const int16x8_t wide = vmovl_s8(q);
      vst1q_f32(dst + 32 * b + i, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide))), d));
      vst1q_f32(dst + 32 * b + i + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_high_s16(wide)), d));
    }
  }
}

}  // namespace minfer::cpu::neon
