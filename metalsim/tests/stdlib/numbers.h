// Half and bfloat on the host, in plain arithmetic: values as doubles, rounding by the C library's nearbyint.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace metalsim::test {

/// A binary format by its parameters: digits of the significand, least exponent, largest finite value.
struct Format {
  int digits;
  int least_exponent;
  double largest;
};
inline constexpr Format half_format{11, -14, 65504.0};
inline constexpr Format bfloat_format{8, -126, 0x1.fep127};
inline constexpr Format float_format{24, -126, 0x1.fffffep127};

/// Distance of neighbours of the format at x.
inline double ulp(double x, const Format& format) {
  const int exponent =
      x == 0 || !std::isfinite(x) ? format.least_exponent : std::max(std::ilogb(x), format.least_exponent);
  return std::ldexp(1.0, exponent - (format.digits - 1));
}

/// The nearest value of the format, ties to even; infinity beyond its range.
inline double rounded(double x, const Format& format) {
  if (!std::isfinite(x) || x == 0) return x;
  const double step = ulp(x, format);
  const double r = std::nearbyint(x / step) * step;
  return std::fabs(r) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : r;
}

/// The value of 16 bits in the format.
inline double value_of(uint16_t bits, const Format& format) {
  const int fraction_bits = format.digits - 1, exponent_bits = 15 - fraction_bits;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, format.least_exponent - fraction_bits);
  return sign *
         std::ldexp(fraction + (1 << fraction_bits), format.least_exponent - fraction_bits + exponent - 1);
}

/// The bits of the value of a narrow format that is nearest to x, in its range of normal values.
inline uint16_t bits_of(double x, const Format& format) {
  const double value = rounded(x, format);
  const int fraction_bits = format.digits - 1;
  if (std::fabs(value) < std::ldexp(1.0, format.least_exponent)) return x < 0 ? 0x8000 : 0;
  const int exponent = std::ilogb(value);
  const auto significand = uint16_t(std::fabs(std::ldexp(value, fraction_bits - exponent)));
  const auto biased = uint16_t(exponent - format.least_exponent + 1);
  return uint16_t((value < 0 ? 0x8000 : 0) | biased << fraction_bits | (significand - (1 << fraction_bits)));
}

template <class To, class From>
To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &value, sizeof(to));
  return to;
}

/// A number that is the same on every run, for seeds and values.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  double between(double low, double high) { return low + (high - low) * double(bits() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace metalsim::test
