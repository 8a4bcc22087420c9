// Metal's scalar types on the host compiler, and the type traits that know of half and bfloat.
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// A function of the kernel library. It is inlined and carries no debug information of its own, so that a
/// memory access inside it is reported at the line of the kernel that called it, not at a line of this
/// library.
#define MSL_FN __attribute__((always_inline, nodebug)) inline

/// A function that touches the simulator's own memory (exchange slots, thread state). The checked build keeps
/// it out of line: inlined, its loads and stores would be taken for the kernel's.
#if defined(METALSIM_CHECKED)
#define MSL_RUNTIME_FN \
  __attribute__((noinline, no_sanitize("thread", "undefined", "integer", "implicit-conversion"))) inline
/// A small part of such functions, called by them only: inlined into them.
#define MSL_RUNTIME_PART \
  __attribute__((always_inline, no_sanitize("thread", "undefined", "integer", "implicit-conversion"))) inline
#else
#define MSL_RUNTIME_FN inline
#define MSL_RUNTIME_PART MSL_FN
#endif

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using half = _Float16;  // IEEE binary16; every operation rounds once (-ffloat16-excess-precision=none)
using bfloat = __bf16;  // the upper half of a float; every operation rounds once

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::ptrdiff_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

namespace metal {

using ::bfloat;
using ::half;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::ulong;
using ::ushort;

using std::conditional;
using std::conditional_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::integral_constant;
using std::is_const;
using std::is_convertible;
using std::is_enum;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_same_v;
using std::is_void;
using std::make_signed;
using std::make_signed_t;
using std::make_unsigned;
using std::make_unsigned_t;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::true_type;
using std::underlying_type;
using std::underlying_type_t;

template <class T>
struct is_floating_point : std::bool_constant<std::is_same_v<std::remove_cv_t<T>, float> ||
                                              std::is_same_v<std::remove_cv_t<T>, ::half> ||
                                              std::is_same_v<std::remove_cv_t<T>, ::bfloat>> {};
template <class T>
inline constexpr bool is_floating_point_v = is_floating_point<T>::value;

using std::is_integral;
using std::is_integral_v;
using std::is_signed;
using std::is_unsigned;

template <class T>
struct is_arithmetic : std::bool_constant<is_integral_v<T> || is_floating_point_v<T>> {};
template <class T>
inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T>
struct is_scalar : is_arithmetic<T> {};
template <class T>
inline constexpr bool is_scalar_v = is_scalar<T>::value;

}  // namespace metal

namespace metalsim::lib {

template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool>;
template <class T>
using if_int = std::enable_if_t<is_int<T>, int>;
template <class T>
using if_float = std::enable_if_t<metal::is_floating_point_v<T>, int>;
template <class T>
using if_bfloat = std::enable_if_t<std::is_same_v<T, ::bfloat>, int>;
template <class T>
using if_arithmetic = std::enable_if_t<metal::is_arithmetic_v<T>, int>;
template <class T>
using if_scalar_number = std::enable_if_t<is_int<T> || metal::is_floating_point_v<T>, int>;

/// Converts a number between arithmetic types. Half and bfloat have no direct conversion in C++; both fit a
/// float.
template <class To, class From>
MSL_FN constexpr To convert(From value) {
  constexpr bool small_to_small = (std::is_same_v<To, ::half> && std::is_same_v<From, ::bfloat>) ||
                                  (std::is_same_v<To, ::bfloat> && std::is_same_v<From, ::half>);
  if constexpr (small_to_small)
    return To(float(value));
  else
    return To(value);
}

}  // namespace metalsim::lib
