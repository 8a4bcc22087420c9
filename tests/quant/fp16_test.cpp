// Half and bfloat16 conversions against arithmetic in double precision.
#include "base/fp16.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace minfer;

namespace {

/// The value of a format with `exponent_bits` and `mantissa_bits`, from its definition.
double value_of(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

/// Rounds to a multiple of the format's spacing at |x|, ties to even, in doubles (exact: a float has 24
/// bits).
double rounded(float x, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), 1 - bias);
  const double spacing = std::ldexp(1.0, exponent - mantissa_bits);
  const double result = std::nearbyint(double(x) / spacing) * spacing;
  const double largest = std::ldexp(2.0 - std::ldexp(1.0, -mantissa_bits), bias);
  return std::fabs(result) > largest ? std::copysign(HUGE_VAL, double(x)) : result;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class Visit>
void for_sample_floats(Visit visit) {
  std::mt19937 random(20240501);
  for (int i = 0; i < 400000; ++i) visit(std::bit_cast<float>(uint32_t(random())));
  // Around every boundary between two halves, and around zero, overflow and the subnormals.
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    const uint32_t low = std::bit_cast<uint32_t>(float(value_of(uint16_t(h), 5, 10)));
    const float middle = float((value_of(uint16_t(h), 5, 10) + value_of(uint16_t(h + 1), 5, 10)) / 2);
    for (int step = -1; step <= 1; ++step) {
      visit(std::bit_cast<float>(low + uint32_t(step)));
      if (std::isfinite(middle))
        visit(std::bit_cast<float>(std::bit_cast<uint32_t>(middle) + uint32_t(step)));
    }
  }
  for (float x : {65504.0f, 65519.99f, 65520.0f, 65536.0f, 0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1p-126f,
                  std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
    visit(x);
    visit(-x);
  }
}

}  // namespace

TEST_CASE("all halves and bfloat16s widen exactly and come back") {
  int wrong_f16 = 0, wrong_bf16 = 0;
  for (uint32_t b = 0; b < 65536; ++b) {
    const auto bits = uint16_t(b);
    const float half = f16_to_f32(bits), brain = bf16_to_f32(bits);
    const double half_want = value_of(bits, 5, 10), brain_want = value_of(bits, 8, 7);
    // A signalling NaN comes back quiet: its top mantissa bit is set.
    const uint16_t half_back = std::isnan(half_want) ? bits | 0x200 : bits;
    const uint16_t brain_back = std::isnan(brain_want) ? bits | 0x40 : bits;
    wrong_f16 += !same(half, half_want) || f32_to_f16(half) != half_back;
    wrong_bf16 += !same(brain, brain_want) || f32_to_bf16(brain) != brain_back;
  }
  CHECK(wrong_f16 == 0);
  CHECK(wrong_bf16 == 0);
}

TEST_CASE("narrowing rounds to nearest even") {
  int wrong_f16 = 0, wrong_bf16 = 0;
  for_sample_floats([&](float x) {
    wrong_f16 += !same(value_of(f32_to_f16(x), 5, 10), rounded(x, 5, 10));
    wrong_bf16 += !same(value_of(f32_to_bf16(x), 8, 7), rounded(x, 8, 7));
  });
  CHECK(wrong_f16 == 0);
  CHECK(wrong_bf16 == 0);
  CHECK(f32_to_f16(65519.996f) == 0x7bff);
  CHECK(f32_to_f16(65520.0f) == 0x7c00);
  CHECK(f32_to_f16(0x1p-25f) == 0);  // a tie between 0 and the smallest half: to even
  CHECK(f32_to_f16(-0x1.8p-24f) == 0x8002);
}
