// Functions of any arithmetic type: min, max, clamp, abs, select, comparisons of floating-point classes.
#pragma once

#include "math.h"

namespace metal {

// With floating-point arguments a NaN gives way to the other one, as in fmin and fmax.
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T max(T x, T y) {
  if constexpr (is_floating_point_v<T>)
    return fmax(x, y);
  else
    return x < y ? y : x;
}
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T min(T x, T y) {
  if constexpr (is_floating_point_v<T>)
    return fmin(x, y);
  else
    return y < x ? y : x;
}
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T max3(T x, T y, T z) {
  return max(max(x, y), z);
}
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T min3(T x, T y, T z) {
  return min(min(x, y), z);
}
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T median3(T x, T y, T z) {
  return max(min(x, y), min(max(x, y), z));
}
template <class T, metalsim::lib::if_scalar_number<T> = 0>
MSL_FN T abs(T x) {
  if constexpr (is_floating_point_v<T>)
    return fabs(x);
  else if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < 0 ? T(0 - std::make_unsigned_t<T>(x)) : x;  // the least value stays itself, without overflow
}
MSL_LIFT2(max)
MSL_LIFT2(min)
MSL_LIFT3(clamp)
MSL_LIFT3(max3)
MSL_LIFT3(min3)
MSL_LIFT3(median3)
MSL_LIFT1(abs)

/// b where the condition holds, else a, component by component.
template <class T, metalsim::lib::if_arithmetic<T> = 0>
MSL_FN T select(T a, T b, bool condition) {
  return condition ? b : a;
}
template <class A, class B, class V = metalsim::lib::lifted<A, B>>
MSL_FN V select(const A& a, const B& b, const vec<bool, V::size>& condition) {
  const V x(a), y(b);
  V r;
  for (int i = 0; i < V::size; ++i) r.d[i] = condition.d[i] ? y.d[i] : x.d[i];
  return r;
}

template <int N>
MSL_FN bool any(const vec<bool, N>& v) {
  bool r = false;
  for (int i = 0; i < N; ++i) r |= v.d[i];
  return r;
}
template <int N>
MSL_FN bool all(const vec<bool, N>& v) {
  bool r = true;
  for (int i = 0; i < N; ++i) r &= v.d[i];
  return r;
}
MSL_FN bool any(bool v) { return v; }
MSL_FN bool all(bool v) { return v; }

// Classes of floating-point values, from the bits: fast-math must not decide them.
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool isnan(T x) {
  return (as_type<uint>(float(x)) & 0x7fffffffu) > 0x7f800000u;
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool isinf(T x) {
  return (as_type<uint>(float(x)) & 0x7fffffffu) == 0x7f800000u;
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool isfinite(T x) {
  return (as_type<uint>(float(x)) & 0x7fffffffu) < 0x7f800000u;
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool isnormal(T x) {
  const float magnitude = __builtin_fabsf(float(x));
  return isfinite(x) && magnitude >= float(numeric_limits<T>::min());
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool signbit(T x) {
  return as_type<int>(float(x)) < 0;
}
MSL_LIFT1_TO(isnan, bool)
MSL_LIFT1_TO(isinf, bool)
MSL_LIFT1_TO(isfinite, bool)
MSL_LIFT1_TO(isnormal, bool)
MSL_LIFT1_TO(signbit, bool)

template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool isunordered(T x, T y) {
  return isnan(x) || isnan(y);
}
template <class T, metalsim::lib::if_float<T> = 0>
MSL_FN bool isordered(T x, T y) {
  return !isunordered(x, y);
}
template <class T, int N>
MSL_FN vec<bool, N> isunordered(const vec<T, N>& x, const vec<T, N>& y) {
  return isnan(x) || isnan(y);
}
template <class T, int N>
MSL_FN vec<bool, N> isordered(const vec<T, N>& x, const vec<T, N>& y) {
  return !isunordered(x, y);
}

namespace fast {
using metal::abs;
using metal::clamp;
using metal::max;
using metal::min;
using metal::mix;
using metal::saturate;
}  // namespace fast
namespace precise {
using metal::abs;
using metal::clamp;
using metal::max;
using metal::min;
using metal::mix;
using metal::saturate;
}  // namespace precise

}  // namespace metal
