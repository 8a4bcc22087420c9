#include "backends/metal/ops/half_range.h"

#include <cmath>
#include <cstring>

#include "base/fp16.h"

namespace minfer::metal {
namespace {

constexpr float largest_half = 65504.0f;

/// Where a block has its scale and its minimum, both halves, and by what they are multiplied at most.
struct Scales {
  size_t scale_at;
  float most_scale;
  size_t min_at = 0;
  float most_min = 0;  ///< 0: it has none
};

Scales scales_of(DType type) {
  switch (type) {
    case DType::q4_0:
      return {0, 8};
    case DType::q4_1:
      return {0, 15, 2, 1};
    case DType::q5_0:
      return {0, 16};
    case DType::q5_1:
      return {0, 31, 2, 1};
    case DType::q8_0:
      return {0, 128};
    case DType::q4_k:
      return {0, 63 * 15, 2, 63};
    case DType::q5_k:
      return {0, 63 * 31, 2, 63};
    default:
      return {208, 128 * 32};  // Q6_K
  }
}

float half_at(const std::byte* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return std::abs(f16_to_f32(bits));
}

}  // namespace

bool may_fit_half(DType type) { return type != DType::f32 && type != DType::bf16; }

bool fits_half(const WeightRef& weight, const std::byte* data) {
  if (!is_quantised(weight.type)) return may_fit_half(weight.type);
  const Scales scales = scales_of(weight.type);
  const size_t block = size_t(info(weight.type).block_bytes);
  const std::byte* const end = data + row_bytes(weight.type, weight.cols) * size_t(weight.rows);
  for (const std::byte* at = data; at < end; at += block) {
    float most = half_at(at + scales.scale_at) * scales.most_scale;
    if (scales.most_min > 0) most += half_at(at + scales.min_at) * scales.most_min;
    if (!(most <= largest_half)) return false;  // nor does one that is no number
  }
  return true;
}

}  // namespace minfer::metal
