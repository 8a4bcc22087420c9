// The names of Metal's vector types: float4, packed_half3 and so on, and as_type.
#pragma once

#include "packed.h"

#define MSL_VECTOR_NAMES(name, T)            \
  using name##2 = vec<T, 2>;                 \
  using name##3 = vec<T, 3>;                 \
  using name##4 = vec<T, 4>;                 \
  using packed_##name##2 = packed_vec<T, 2>; \
  using packed_##name##3 = packed_vec<T, 3>; \
  using packed_##name##4 = packed_vec<T, 4>;
#define MSL_ALL_VECTOR_NAMES         \
  MSL_VECTOR_NAMES(bool, bool)       \
  MSL_VECTOR_NAMES(char, char)       \
  MSL_VECTOR_NAMES(uchar, ::uchar)   \
  MSL_VECTOR_NAMES(short, short)     \
  MSL_VECTOR_NAMES(ushort, ::ushort) \
  MSL_VECTOR_NAMES(int, int)         \
  MSL_VECTOR_NAMES(uint, ::uint)     \
  MSL_VECTOR_NAMES(long, long)       \
  MSL_VECTOR_NAMES(ulong, ::ulong)   \
  MSL_VECTOR_NAMES(half, ::half)     \
  MSL_VECTOR_NAMES(bfloat, ::bfloat) \
  MSL_VECTOR_NAMES(float, float)

namespace metal {
MSL_ALL_VECTOR_NAMES
}  // namespace metal

// The same types under their unqualified names: some sources use float4 without `using namespace metal`.
using metal::packed_vec;
using metal::vec;
MSL_ALL_VECTOR_NAMES

#undef MSL_VECTOR_NAMES
#undef MSL_ALL_VECTOR_NAMES

/// The bits of `value` as another type of the same size.
template <class To, class From>
MSL_FN To as_type(const From& value) {
  static_assert(sizeof(To) == sizeof(From), "as_type: the types differ in size");
  To to;
  __builtin_memcpy(&to, &value, sizeof(To));
  return to;
}

namespace metal {
using ::as_type;

/// A fixed array with value semantics.
template <class T, size_t N>
struct array {
  T elements[N];
  MSL_FN constexpr T& operator[](size_t i) { return elements[i]; }
  MSL_FN constexpr const T& operator[](size_t i) const { return elements[i]; }
  MSL_FN constexpr T* data() { return elements; }
  MSL_FN constexpr const T* data() const { return elements; }
  MSL_FN static constexpr size_t size() { return N; }
  MSL_FN static constexpr bool empty() { return N == 0; }
  MSL_FN constexpr T* begin() { return elements; }
  MSL_FN constexpr T* end() { return elements + N; }
  MSL_FN constexpr const T* begin() const { return elements; }
  MSL_FN constexpr const T* end() const { return elements + N; }
};
}  // namespace metal
