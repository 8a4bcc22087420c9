// Metal's floating-point functions. Half and bfloat results are computed in float and rounded once.
#pragma once

#include <cfloat>
#include <limits>

#include "lift.h"

/// One, two or three floating-point arguments: the float overload is given, half and bfloat round its result.
/// (The bfloat form is a template so that a kernel may bring its own non-template overload, as some do.)
#define MSL_FLOAT1(name, expression)                        \
  MSL_FN float name(float x) { return expression; }         \
  MSL_FN half name(half x) { return half(name(float(x))); } \
  template <class T, metalsim::lib::if_bfloat<T> = 0>       \
  MSL_FN T name(T x) {                                      \
    return T(name(float(x)));                               \
  }                                                         \
  MSL_LIFT1(name)
#define MSL_FLOAT2(name, expression)                                          \
  MSL_FN float name(float x, float y) { return expression; }                  \
  MSL_FN half name(half x, half y) { return half(name(float(x), float(y))); } \
  template <class T, metalsim::lib::if_bfloat<T> = 0>                         \
  MSL_FN T name(T x, T y) {                                                   \
    return T(name(float(x), float(y)));                                       \
  }                                                                           \
  MSL_LIFT2(name)
#define MSL_FLOAT3(name, expression)                                                            \
  MSL_FN float name(float x, float y, float z) { return expression; }                           \
  MSL_FN half name(half x, half y, half z) { return half(name(float(x), float(y), float(z))); } \
  template <class T, metalsim::lib::if_bfloat<T> = 0>                                           \
  MSL_FN T name(T x, T y, T z) {                                                                \
    return T(name(float(x), float(y), float(z)));                                               \
  }                                                                                             \
  MSL_LIFT3(name)

namespace metal {

inline constexpr float msl_pi = 3.14159265358979323846f;

// sin(pi x) and its kin are exact at multiples of a half, which sin(pi * x) is not. The reduction to [-1, 1]
// and the reflections are exact, so small arguments keep all their bits.
MSL_FN float msl_sinpi(float x) {
  const float turn = x - 2.0f * __builtin_rintf(0.5f * x);
  const float reduced = __builtin_fabsf(turn) <= 0.5f ? turn : __builtin_copysignf(1.0f, turn) - turn;
  return float(__builtin_sin(3.14159265358979323846 * double(reduced)));
}
MSL_FN float msl_cospi(float x) {
  const float turn = __builtin_fabsf(x - 2.0f * __builtin_rintf(0.5f * x));
  return float(__builtin_sin(3.14159265358979323846 * double(0.5f - turn)));
}

MSL_FLOAT1(acos, __builtin_acosf(x))
MSL_FLOAT1(acosh, __builtin_acoshf(x))
MSL_FLOAT1(asin, __builtin_asinf(x))
MSL_FLOAT1(asinh, __builtin_asinhf(x))
MSL_FLOAT1(atan, __builtin_atanf(x))
MSL_FLOAT1(atanh, __builtin_atanhf(x))
MSL_FLOAT1(ceil, __builtin_ceilf(x))
MSL_FLOAT1(cos, __builtin_cosf(x))
MSL_FLOAT1(cosh, __builtin_coshf(x))
MSL_FLOAT1(cospi, msl_cospi(x))
MSL_FLOAT1(exp, __builtin_expf(x))
MSL_FLOAT1(exp2, __builtin_exp2f(x))
MSL_FLOAT1(exp10, float(__builtin_exp2(3.32192809488736234787 * double(x))))
MSL_FLOAT1(fabs, __builtin_fabsf(x))
MSL_FLOAT1(floor, __builtin_floorf(x))
MSL_FLOAT1(log, __builtin_logf(x))
MSL_FLOAT1(log2, __builtin_log2f(x))
MSL_FLOAT1(log10, __builtin_log10f(x))
MSL_FLOAT1(rint, __builtin_rintf(x))
MSL_FLOAT1(round, __builtin_roundf(x))
MSL_FLOAT1(rsqrt, 1.0f / __builtin_sqrtf(x))
MSL_FLOAT1(sin, __builtin_sinf(x))
MSL_FLOAT1(sinh, __builtin_sinhf(x))
MSL_FLOAT1(sinpi, msl_sinpi(x))
MSL_FLOAT1(sqrt, __builtin_sqrtf(x))
MSL_FLOAT1(tan, __builtin_tanf(x))
MSL_FLOAT1(tanh, __builtin_tanhf(x))
MSL_FLOAT1(tanpi, msl_sinpi(x) / msl_cospi(x))
MSL_FLOAT1(trunc, __builtin_truncf(x))
MSL_FLOAT1(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
MSL_FLOAT1(sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == 0.0f ? x : 0.0f)

MSL_FLOAT2(atan2, __builtin_atan2f(x, y))
MSL_FLOAT2(copysign, __builtin_copysignf(x, y))
MSL_FLOAT2(divide, x / y)
MSL_FLOAT2(fdim, x > y ? x - y : 0.0f)
MSL_FLOAT2(fmax, __builtin_fmaxf(x, y))
MSL_FLOAT2(fmin, __builtin_fminf(x, y))
MSL_FLOAT2(fmod, __builtin_fmodf(x, y))
MSL_FLOAT2(pow, __builtin_powf(x, y))
MSL_FLOAT2(powr, __builtin_powf(x, y))
MSL_FLOAT2(step, y < x ? 0.0f : 1.0f)

// Fused: one rounding. A product of two halves and its sum with a third fit a double wherever it matters.
MSL_FN float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
MSL_FN half fma(half x, half y, half z) { return half(double(x) * double(y) + double(z)); }
template <class T, metalsim::lib::if_bfloat<T> = 0>
MSL_FN T fma(T x, T y, T z) {
  return T(fma(float(x), float(y), float(z)));
}
MSL_LIFT3(fma)
MSL_FLOAT3(fmax3, __builtin_fmaxf(__builtin_fmaxf(x, y), z))
MSL_FLOAT3(fmin3, __builtin_fminf(__builtin_fminf(x, y), z))
MSL_FLOAT3(fmedian3, __builtin_fmaxf(__builtin_fminf(x, y), __builtin_fminf(__builtin_fmaxf(x, y), z)))
MSL_FLOAT3(mix, x + (y - x) * z)

// Below one, also where x - floor(x) rounds to one.
MSL_FN float fract(float x) { return __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f); }
MSL_FN half fract(half x) {
  return half(__builtin_fminf(float(x) - __builtin_floorf(float(x)), 0x1.ffcp-1f));
}
template <class T, metalsim::lib::if_bfloat<T> = 0>
MSL_FN T fract(T x) {
  return T(__builtin_fminf(float(x) - __builtin_floorf(float(x)), 0x1.fep-1f));
}
MSL_LIFT1(fract)

MSL_FN float smoothstep(float edge0, float edge1, float x) {
  const float t = saturate((x - edge0) / (edge1 - edge0));
  return t * t * (3.0f - 2.0f * t);
}
MSL_FN half smoothstep(half edge0, half edge1, half x) {
  return half(smoothstep(float(edge0), float(edge1), float(x)));
}
template <class T, metalsim::lib::if_bfloat<T> = 0>
MSL_FN T smoothstep(T edge0, T edge1, T x) {
  return T(smoothstep(float(edge0), float(edge1), float(x)));
}
MSL_LIFT3(smoothstep)

// Functions with an integer or a second result.
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN int ilogb(T x) {
  return __builtin_ilogbf(float(x));
}
MSL_LIFT1_TO(ilogb, int)
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN T ldexp(T x, int exponent) {
  return T(__builtin_ldexpf(float(x), exponent));
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN T frexp(T x, int& exponent) {
  return T(__builtin_frexpf(float(x), &exponent));
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN T modf(T x, T& whole) {
  whole = trunc(x);
  return T(float(x) - float(whole));
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN T sincos(T x, T& cosine) {
  cosine = cos(x);
  return sin(x);
}
MSL_FN float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
// Bits of numbers that are not NaN are in order, apart from their sign.
MSL_FN half nextafter(half x, half y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  ushort bits = as_type<ushort>(x);
  if (x == 0)
    bits = as_type<ushort>(y) & 0x8000 | 1;
  else
    bits += (x < y) == (x > 0) ? 1 : -1;
  return as_type<half>(bits);
}
MSL_LIFT2(nextafter)

template <class T, int N>
MSL_FN vec<T, N> ldexp(const vec<T, N>& x, const vec<int, N>& exponent) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.d[i] = ldexp(x.d[i], exponent.d[i]);
  return r;
}
template <class T, int N>
MSL_FN vec<T, N> frexp(const vec<T, N>& x, vec<int, N>& exponent) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.d[i] = frexp(x.d[i], exponent.d[i]);
  return r;
}
template <class T, int N>
MSL_FN vec<T, N> modf(const vec<T, N>& x, vec<T, N>& whole) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.d[i] = modf(x.d[i], whole.d[i]);
  return r;
}
template <class T, int N>
MSL_FN vec<T, N> sincos(const vec<T, N>& x, vec<T, N>& cosine) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.d[i] = sincos(x.d[i], cosine.d[i]);
  return r;
}

// precise:: holds in the fast build too: the pragma takes fast-math away from these bodies, also when
// inlined.
#pragma float_control(precise, on, push)
namespace precise {
#define MSL_PRECISE1(name, expression)              \
  MSL_FN float name(float x) { return expression; } \
  MSL_LIFT1(name)
MSL_PRECISE1(acos, __builtin_acosf(x))
MSL_PRECISE1(acosh, __builtin_acoshf(x))
MSL_PRECISE1(asin, __builtin_asinf(x))
MSL_PRECISE1(asinh, __builtin_asinhf(x))
MSL_PRECISE1(atan, __builtin_atanf(x))
MSL_PRECISE1(atanh, __builtin_atanhf(x))
MSL_PRECISE1(ceil, __builtin_ceilf(x))
MSL_PRECISE1(cos, __builtin_cosf(x))
MSL_PRECISE1(cosh, __builtin_coshf(x))
MSL_PRECISE1(exp, __builtin_expf(x))
MSL_PRECISE1(exp2, __builtin_exp2f(x))
MSL_PRECISE1(exp10, float(__builtin_exp2(3.32192809488736234787 * double(x))))
MSL_PRECISE1(fabs, __builtin_fabsf(x))
MSL_PRECISE1(floor, __builtin_floorf(x))
MSL_PRECISE1(log, __builtin_logf(x))
MSL_PRECISE1(log2, __builtin_log2f(x))
MSL_PRECISE1(log10, __builtin_log10f(x))
MSL_PRECISE1(rint, __builtin_rintf(x))
MSL_PRECISE1(round, __builtin_roundf(x))
MSL_PRECISE1(rsqrt, float(1.0 / __builtin_sqrt(double(x))))
MSL_PRECISE1(sin, __builtin_sinf(x))
MSL_PRECISE1(sinh, __builtin_sinhf(x))
MSL_PRECISE1(sqrt, __builtin_sqrtf(x))
MSL_PRECISE1(tan, __builtin_tanf(x))
MSL_PRECISE1(tanh, __builtin_tanhf(x))
MSL_PRECISE1(trunc, __builtin_truncf(x))
#undef MSL_PRECISE1
#define MSL_PRECISE2(name, expression)                       \
  MSL_FN float name(float x, float y) { return expression; } \
  MSL_LIFT2(name)
MSL_PRECISE2(atan2, __builtin_atan2f(x, y))
MSL_PRECISE2(divide, x / y)
MSL_PRECISE2(fmax, __builtin_fmaxf(x, y))
MSL_PRECISE2(fmin, __builtin_fminf(x, y))
MSL_PRECISE2(fmod, __builtin_fmodf(x, y))
MSL_PRECISE2(pow, __builtin_powf(x, y))
MSL_PRECISE2(powr, __builtin_powf(x, y))
#undef MSL_PRECISE2
MSL_FN float sincos(float x, float& cosine) {
  cosine = cos(x);
  return sin(x);
}
}  // namespace precise
#pragma float_control(pop)

// fast:: trades accuracy on a GPU; here it is the ordinary function.
namespace fast {
using metal::acos;
using metal::acosh;
using metal::asin;
using metal::asinh;
using metal::atan;
using metal::atan2;
using metal::atanh;
using metal::ceil;
using metal::cos;
using metal::cosh;
using metal::divide;
using metal::exp;
using metal::exp10;
using metal::exp2;
using metal::fabs;
using metal::floor;
using metal::fmax;
using metal::fmin;
using metal::fmod;
using metal::log;
using metal::log10;
using metal::log2;
using metal::pow;
using metal::powr;
using metal::rint;
using metal::round;
using metal::rsqrt;
using metal::sin;
using metal::sincos;
using metal::sinh;
using metal::sqrt;
using metal::tan;
using metal::tanh;
using metal::trunc;
}  // namespace fast

/// numeric_limits of Metal's scalars.
template <class T>
struct numeric_limits : std::numeric_limits<T> {};
template <>
struct numeric_limits<half> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
  static constexpr int digits = 11;
  static constexpr half min() { return half(0x1p-14f); }
  static constexpr half max() { return half(65504.0f); }
  static constexpr half lowest() { return half(-65504.0f); }
  static constexpr half epsilon() { return half(0x1p-10f); }
  static constexpr half infinity() { return half(__builtin_inff()); }
  static constexpr half quiet_NaN() { return half(__builtin_nanf("")); }
  static constexpr half denorm_min() { return half(0x1p-24f); }
};
template <>
struct numeric_limits<bfloat> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
  static constexpr int digits = 8;
  static constexpr bfloat min() { return bfloat(0x1p-126f); }
  static constexpr bfloat max() { return bfloat(0x1.fep127f); }
  static constexpr bfloat lowest() { return bfloat(-0x1.fep127f); }
  static constexpr bfloat epsilon() { return bfloat(0x1p-7f); }
  static constexpr bfloat infinity() { return bfloat(__builtin_inff()); }
  static constexpr bfloat quiet_NaN() { return bfloat(__builtin_nanf("")); }
  static constexpr bfloat denorm_min() { return bfloat(0x1p-133f); }
};

}  // namespace metal

#undef MSL_FLOAT1
#undef MSL_FLOAT2
#undef MSL_FLOAT3
