// Metal's integer functions. Each is defined on the mathematical value of its operands; what does not fit the
// type wraps, or saturates where the name says so.
#pragma once

#include "common.h"

namespace metalsim::lib {

template <class T>
inline constexpr int bits = int(sizeof(T)) * 8;
template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// A type that holds every product and sum of two values of T.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 8), std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>;

template <class T>
MSL_FN T saturated(Wide<T> value) {
  const Wide<T> low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return T(value < low ? low : value > high ? high : value);
}

}  // namespace metalsim::lib

#define MSL_INTEGER1(name, expression)             \
  template <class T, metalsim::lib::if_int<T> = 0> \
  MSL_FN T name(T x) {                             \
    using namespace metalsim::lib;                 \
    return T(expression);                          \
  }                                                \
  MSL_LIFT1(name)
#define MSL_INTEGER2(name, expression)             \
  template <class T, metalsim::lib::if_int<T> = 0> \
  MSL_FN T name(T x, T y) {                        \
    using namespace metalsim::lib;                 \
    return T(expression);                          \
  }                                                \
  MSL_LIFT2(name)
#define MSL_INTEGER3(name, expression)             \
  template <class T, metalsim::lib::if_int<T> = 0> \
  MSL_FN T name(T x, T y, T z) {                   \
    using namespace metalsim::lib;                 \
    return T(expression);                          \
  }                                                \
  MSL_LIFT3(name)

namespace metal {

MSL_INTEGER1(popcount, __builtin_popcountll(Unsigned<T>(x)))
MSL_INTEGER1(clz, x == 0 ? bits<T> : __builtin_clzll(Unsigned<T>(x)) - (64 - bits<T>))
MSL_INTEGER1(ctz, x == 0 ? bits<T> : __builtin_ctzll(Unsigned<T>(x)))
MSL_INTEGER1(reverse_bits, __builtin_bitreverse64(Unsigned<T>(x)) >> (64 - bits<T>))

// The sum and difference of signed values are formed unsigned, where wrapping is defined.
MSL_INTEGER2(absdiff, x < y ? Unsigned<T>(y) - Unsigned<T>(x) : Unsigned<T>(x) - Unsigned<T>(y))
MSL_INTEGER2(addsat, saturated<T>(Wide<T>(x) + Wide<T>(y)))
MSL_INTEGER2(hadd, (Wide<T>(x) + Wide<T>(y)) >> 1)
MSL_INTEGER2(rhadd, (Wide<T>(x) + Wide<T>(y) + 1) >> 1)
MSL_INTEGER2(mulhi, (Wide<T>(x) * Wide<T>(y)) >> bits<T>)
MSL_INTEGER2(rotate, (Unsigned<T>(x) << (Unsigned<T>(y) % bits<T>)) |
                         (Unsigned<T>(x) >> ((bits<T> - Unsigned<T>(y) % bits<T>) % bits<T>)))
MSL_INTEGER3(madhi, Unsigned<T>((Wide<T>(x) * Wide<T>(y)) >> bits<T>) + Unsigned<T>(z))

/// x - y, saturated. Unsigned differences below zero are zero.
template <class T, metalsim::lib::if_int<T> = 0>
MSL_FN T subsat(T x, T y) {
  using namespace metalsim::lib;
  if constexpr (std::is_unsigned_v<T>)
    return x < y ? T(0) : T(x - y);
  else
    return saturated<T>(Wide<T>(x) - Wide<T>(y));
}
MSL_LIFT2(subsat)

/// x * y + z, saturated.
template <class T, metalsim::lib::if_int<T> = 0>
MSL_FN T madsat(T x, T y, T z) {
  using namespace metalsim::lib;
  return saturated<T>(Wide<T>(x) * Wide<T>(y) + Wide<T>(z));
}
MSL_LIFT3(madsat)

/// Products of 24-bit values in 32 bits; operands outside 24 bits have no defined result on a GPU.
template <class T, std::enable_if_t<std::is_same_v<T, int> || std::is_same_v<T, uint>, int> = 0>
MSL_FN T mul24(T x, T y) {
  return T(uint(x) * uint(y));
}
template <class T, std::enable_if_t<std::is_same_v<T, int> || std::is_same_v<T, uint>, int> = 0>
MSL_FN T mad24(T x, T y, T z) {
  return T(uint(x) * uint(y) + uint(z));
}
MSL_LIFT2(mul24)
MSL_LIFT3(mad24)

/// `count` bits of x from bit `offset`, sign-extended for signed types. offset + count may be the type's
/// width at most; more has no defined result.
template <class T, metalsim::lib::if_int<T> = 0>
MSL_FN T extract_bits(T x, uint offset, uint count) {
  using namespace metalsim::lib;
  if (count == 0) return T(0);
  const Unsigned<T> to_the_top = Unsigned<T>(Unsigned<T>(x) << (bits<T> - offset - count));
  return T(T(to_the_top) >> (bits<T> - count));
}
/// x with `count` bits from bit `offset` replaced by the lowest bits of `insert`.
template <class T, metalsim::lib::if_int<T> = 0>
MSL_FN T insert_bits(T x, T insert, uint offset, uint count) {
  using namespace metalsim::lib;
  if (count == 0) return x;
  const Unsigned<T> mask =
      Unsigned<T>(Unsigned<T>(Unsigned<T>(~Unsigned<T>(0)) >> (bits<T> - count)) << offset);
  return T((Unsigned<T>(x) & Unsigned<T>(~mask)) | (Unsigned<T>(Unsigned<T>(insert) << offset) & mask));
}
template <class T, int N>
MSL_FN vec<T, N> extract_bits(const vec<T, N>& x, uint offset, uint count) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.d[i] = extract_bits(x.d[i], offset, count);
  return r;
}
template <class T, int N>
MSL_FN vec<T, N> insert_bits(const vec<T, N>& x, const vec<T, N>& insert, uint offset, uint count) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.d[i] = insert_bits(x.d[i], insert.d[i], offset, count);
  return r;
}

}  // namespace metal

#undef MSL_INTEGER1
#undef MSL_INTEGER2
#undef MSL_INTEGER3
