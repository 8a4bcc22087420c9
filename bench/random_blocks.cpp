#include "random_blocks.h"

#include <cmath>
#include <cstring>

#include "base/fp16.h"
#include "base/random.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace minfer::bench {
namespace {

using quant::Half;

Half half(float value) {
  const uint16_t bits = f32_to_f16(value);
  return {uint8_t(bits & 0xFF), uint8_t(bits >> 8)};
}

/// Near enough to a normal distribution: four uniform numbers, whose sum has a standard deviation of
/// 1/sqrt 3.
float normal(Random& random) {
  const uint64_t bits = random.next();
  const auto part = [bits](int i) { return float(bits >> (16 * i) & 0xFFFF); };
  return ((part(0) + part(1) + part(2) + part(3)) / 65535.0f - 2) * 1.7320508f;
}

template <class Block>
void put(Block block, std::byte* out) {
  std::memcpy(out, &block, sizeof block);
}

// The integers of a block are uniform random bits. Each function below sets the scales of one block so that
// its values have the deviation 1 * `size`; the numbers are the deviation of the integers, and of their
// products with random sub-block scales.
constexpr float deviation_16 = 4.61f, deviation_32 = 9.23f;  ///< of 0..15 and 0..31

void scale_q4_0(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ4_0>(out);
  block.d = half(size / deviation_16);
  put(block, out);
}
void scale_q4_1(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ4_1>(out);
  block.d = half(std::fabs(size) / deviation_16);
  block.m = half(-7.5f * std::fabs(size) / deviation_16);
  put(block, out);
}
void scale_q5_0(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ5_0>(out);
  block.d = half(size / deviation_32);
  put(block, out);
}
void scale_q5_1(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ5_1>(out);
  block.d = half(std::fabs(size) / deviation_32);
  block.m = half(-15.5f * std::fabs(size) / deviation_32);
  put(block, out);
}
void scale_q8_0(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ8_0>(out);
  block.d = half(size / 73.6f);
  for (auto& q : block.qs)
    if (q == -128) q = -127;  // no quantiser writes it
  put(block, out);
}
/// Scales and minima are random 6-bit integers too: q * scale - 7.5 * min for q in 0..15 has the deviation
/// 258.
void scale_q4_k(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ4_K>(out);
  block.d = half(std::fabs(size) / 258);
  block.dmin = half(7.5f * std::fabs(size) / 258);
  put(block, out);
}
/// The same for q in 0..31: q * scale - 15.5 * min, 526.
void scale_q5_k(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ5_K>(out);
  block.d = half(std::fabs(size) / 526);
  block.dmin = half(15.5f * std::fabs(size) / 526);
  put(block, out);
}
/// Signed 8-bit scales times -32..31: 1365.
void scale_q6_k(std::byte* out, float size) {
  auto block = quant::load_block<quant::BlockQ6_K>(out);
  block.d = half(size / 1365);
  put(block, out);
}

using ScaleBlock = void (*)(std::byte* out, float size);
ScaleBlock scale_of(DType type) {
  switch (type) {
    case DType::q4_0:
      return scale_q4_0;
    case DType::q4_1:
      return scale_q4_1;
    case DType::q5_0:
      return scale_q5_0;
    case DType::q5_1:
      return scale_q5_1;
    case DType::q8_0:
      return scale_q8_0;
    case DType::q4_k:
      return scale_q4_k;
    case DType::q5_k:
      return scale_q5_k;
    case DType::q6_k:
      return scale_q6_k;
    default:
      return nullptr;
  }
}

void put_plain(DType type, float value, std::byte* out) {
  if (type == DType::f32) return put(value, out);
  if (type == DType::f16) return put(f32_to_f16(value), out);
  put(f32_to_bf16(value), out);
}

}  // namespace

void fill_random(const RandomWeights& weights, uint64_t first_block, std::span<std::byte> out) {
  Random random(weights.seed * 0x9e3779b97f4a7c15u + first_block);
  const size_t block = size_t(info(weights.type).block_bytes);
  const ScaleBlock scale = scale_of(weights.type);
  if (scale == nullptr) {
    for (size_t at = 0; at < out.size(); at += block)
      put_plain(weights.type, weights.mean + weights.deviation * normal(random), out.data() + at);
    return;
  }
  size_t at = 0;
  for (; at + 8 <= out.size(); at += 8) put(random.next(), out.data() + at);
  for (; at < out.size(); ++at) out[at] = std::byte(random.next() & 0xFF);
  for (at = 0; at < out.size(); at += block) {
    // Scales differ by a factor of up to two, and half of those that may be negative are: -8 then is the
    // largest integer, so that a tensor has no bias.
    const float size = weights.deviation * float(0.65 + 0.65 * random.uniform());
    scale(out.data() + at, random.next() % 2 == 0 ? size : -size);
  }
}

}  // namespace minfer::bench
