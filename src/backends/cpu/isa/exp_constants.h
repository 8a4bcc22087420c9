#pragma once

/// The numbers of exp_f32, shared by the plain loop and the vectors so that both round alike.
///
///   n = round(x / ln 2), by adding and subtracting 1.5 * 2^23 inside an fma
///   r = x - n * ln 2, in two fma steps (ln 2 = ln2_high + ln2_low), so |r| <= 0.3467
///   e^r = 1 + r + r^2 * (c2 + c3 r + c4 r^2 + c5 r^3 + c6 r^4), Horner's rule, one fma a step
///   e^x = (e^r * 2^(n1)) * 2^(n - n1): the first product is exact, so a subnormal result rounds once
///
/// c2..c6 interpolate (e^r - 1 - r) / r^2 at the five Chebyshev nodes of |r| <= ln2 / 2: the polynomial is
/// within 0.2 * 2^-24 of e^r, so the error of the result is that of the rounded steps.
namespace minfer::cpu::exp_constants {

inline constexpr float round_magic = 0x1.8p23f;
inline constexpr float log2_e = 0x1.715476p+0f;
inline constexpr float ln2_high = 0x1.62e430p-1f;
inline constexpr float ln2_low = -0x1.05c610p-29f;
inline constexpr float c2 = 0x1p-1f;
inline constexpr float c3 = 0x1.5554dcp-3f;
inline constexpr float c4 = 0x1.55551ap-5f;
inline constexpr float c5 = 0x1.120ba2p-7f;
inline constexpr float c6 = 0x1.6d113cp-10f;
inline constexpr float overflow_above = 89.0f;     ///< e^x is infinite
inline constexpr float underflow_below = -104.0f;  ///< e^x is below half the smallest subnormal

}  // namespace minfer::cpu::exp_constants
