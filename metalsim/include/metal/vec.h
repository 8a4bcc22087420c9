// vec<T, N> and packed_vec<T, N>: Metal's vectors of two, three and four components.
//
// They are structures and not clang's built-in vectors, which refuse Metal's constructors `float4(a, b, c,
// d)` and `float4(v.xy, 0, 1)`. Loops over the components compile to vector instructions all the same.
#pragma once

#include <initializer_list>

#include "scalar.h"
#include "swizzles.h"

namespace metal {
template <class T, int N>
struct vec;
template <class T, int N>
struct packed_vec;
}  // namespace metal

namespace metalsim::lib {

/// How many components a constructor argument brings.
template <class A>
struct Width : std::integral_constant<int, 1> {};
template <class T, int N>
struct Width<metal::vec<T, N>> : std::integral_constant<int, N> {};
template <class T, int N>
struct Width<metal::packed_vec<T, N>> : std::integral_constant<int, N> {};

/// Enabled for constructors that join several arguments, one of them a vector, to exactly N components.
template <int N, class... A>
using if_joins =
    std::enable_if_t<(sizeof...(A) > 1) && (sizeof...(A) < N) && (Width<A>::value + ... + 0) == N, int>;

template <class T, class A>
MSL_FN constexpr void append(T* out, int& at, const A& scalar) {
  out[at++] = convert<T>(scalar);
}
template <class T, class U, int N>
MSL_FN constexpr void append(T* out, int& at, const metal::vec<U, N>& v) {
  for (int i = 0; i < N; ++i) out[at++] = convert<T>(v.d[i]);
}
template <class T, class U, int N>
MSL_FN constexpr void append(T* out, int& at, const metal::packed_vec<U, N>& v) {
  for (int i = 0; i < N; ++i) out[at++] = convert<T>(v.d[i]);
}

}  // namespace metalsim::lib

// Operators common to all sizes. As friends they apply to scalars too, which convert to vectors (v * 2.0f).
// Integer operands narrower than int keep their type: uchar4 + uchar4 is a uchar4, each component wrapping.
#define MSL_VECTOR_BINARY(op)                                    \
  MSL_FN friend vec operator op(const vec& a, const vec& b) {    \
    vec r;                                                       \
    for (int i = 0; i < size; ++i) r.d[i] = T(a.d[i] op b.d[i]); \
    return r;                                                    \
  }                                                              \
  MSL_FN vec& operator op##=(const vec& b) {                     \
    for (int i = 0; i < size; ++i) d[i] = T(d[i] op b.d[i]);     \
    return *this;                                                \
  }
#define MSL_VECTOR_COMPARE(op)                                            \
  MSL_FN friend vec<bool, size> operator op(const vec& a, const vec& b) { \
    vec<bool, size> r;                                                    \
    for (int i = 0; i < size; ++i) r.d[i] = a.d[i] op b.d[i];             \
    return r;                                                             \
  }
#define MSL_VECTOR_UNARY(op)                              \
  MSL_FN friend vec operator op(const vec& a) {           \
    vec r;                                                \
    for (int i = 0; i < size; ++i) r.d[i] = T(op a.d[i]); \
    return r;                                             \
  }

// The checked build copies in functions of its own: only in a call does the compiler test that the vector
// lies at a multiple of its size.
#if defined(METALSIM_CHECKED)
#define MSL_VECTOR_COPY                               \
  MSL_FN vec(const vec& other) {                      \
    for (int i = 0; i < size; ++i) d[i] = other.d[i]; \
  }                                                   \
  MSL_FN vec& operator=(const vec& other) {           \
    for (int i = 0; i < size; ++i) d[i] = other.d[i]; \
    return *this;                                     \
  }
#else
#define MSL_VECTOR_COPY      \
  vec(const vec&) = default; \
  vec& operator=(const vec&) = default;
#endif

#define MSL_VECTOR_MEMBERS(N)                                                                               \
  using metalsim_element = T;                                                                               \
  static constexpr int size = N;                                                                            \
  vec() = default;                                                                                          \
  MSL_VECTOR_COPY                                                                                           \
  /* braces with fewer values than components leave the rest zero */                                        \
  MSL_FN constexpr vec(std::initializer_list<T> values) : d{} {                                             \
    int i = 0;                                                                                              \
    for (T value : values)                                                                                  \
      if (i < N) d[i++] = value;                                                                            \
  }                                                                                                         \
  template <class U>                                                                                        \
  MSL_FN constexpr explicit vec(const vec<U, N>& other) : d{} {                                             \
    for (int i = 0; i < N; ++i) d[i] = metalsim::lib::convert<T>(other.d[i]);                               \
  }                                                                                                         \
  template <class... A, metalsim::lib::if_joins<N, A...> = 0>                                               \
  MSL_FN constexpr vec(const A&... parts) : d{} {                                                           \
    int at = 0;                                                                                             \
    (metalsim::lib::append(d, at, parts), ...);                                                             \
  }                                                                                                         \
  template <class I, metalsim::lib::if_int<I> = 0>                                                          \
  MSL_FN constexpr T& operator[](I i) {                                                                     \
    return d[i];                                                                                            \
  }                                                                                                         \
  template <class I, metalsim::lib::if_int<I> = 0>                                                          \
  MSL_FN constexpr const T& operator[](I i) const {                                                         \
    return d[i];                                                                                            \
  }                                                                                                         \
  MSL_VECTOR_BINARY(+)                                                                                      \
  MSL_VECTOR_BINARY(-)                                                                                      \
  MSL_VECTOR_BINARY(*)                                                                                      \
  MSL_VECTOR_BINARY(/)                                                                                      \
  MSL_VECTOR_BINARY(%) MSL_VECTOR_BINARY(&) MSL_VECTOR_BINARY(|) MSL_VECTOR_BINARY(^) MSL_VECTOR_BINARY(<<) \
      MSL_VECTOR_BINARY(>>) MSL_VECTOR_COMPARE(<) MSL_VECTOR_COMPARE(>) MSL_VECTOR_COMPARE(<=)              \
          MSL_VECTOR_COMPARE(>=) MSL_VECTOR_COMPARE(==) MSL_VECTOR_COMPARE(!=) MSL_VECTOR_UNARY(-)          \
              MSL_VECTOR_UNARY(~) MSL_FN friend vec                                                         \
              operator+(const vec& a) {                                                                     \
    return a;                                                                                               \
  }                                                                                                         \
  MSL_FN friend vec<bool, N> operator!(const vec& a) {                                                      \
    vec<bool, N> r;                                                                                         \
    for (int i = 0; i < N; ++i) r.d[i] = !a.d[i];                                                           \
    return r;                                                                                               \
  }                                                                                                         \
  MSL_FN friend vec<bool, N> operator&&(const vec& a, const vec& b) {                                       \
    vec<bool, N> r;                                                                                         \
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] && b.d[i];                                                  \
    return r;                                                                                               \
  }                                                                                                         \
  MSL_FN friend vec<bool, N> operator||(const vec& a, const vec& b) {                                       \
    vec<bool, N> r;                                                                                         \
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] || b.d[i];                                                  \
    return r;                                                                                               \
  }                                                                                                         \
  MSL_FN vec& operator++() { return *this += vec(T(1)); }                                                   \
  MSL_FN vec& operator--() { return *this -= vec(T(1)); }                                                   \
  MSL_FN vec operator++(int) {                                                                              \
    const vec old = *this;                                                                                  \
    ++*this;                                                                                                \
    return old;                                                                                             \
  }                                                                                                         \
  MSL_FN vec operator--(int) {                                                                              \
    const vec old = *this;                                                                                  \
    --*this;                                                                                                \
    return old;                                                                                             \
  }

namespace metal {

template <class T>
struct alignas(2 * sizeof(T)) vec<T, 2> {
  union {
    T d[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
  };
  MSL_VECTOR_MEMBERS(2)
  MSL_FN constexpr vec(T scalar) : d{scalar, scalar} {}
  MSL_FN constexpr vec(T a, T b) : d{a, b} {}
  MSL_SWIZZLES2(x, y) MSL_SWIZZLES2(r, g)
};

/// As large as a four-component vector and aligned like one.
template <class T>
struct alignas(4 * sizeof(T)) vec<T, 3> {
  union {
    T d[3];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
  };
  MSL_VECTOR_MEMBERS(3)
  MSL_FN constexpr vec(T scalar) : d{scalar, scalar, scalar} {}
  MSL_FN constexpr vec(T p, T q, T s) : d{p, q, s} {}
  MSL_SWIZZLES3(x, y, z) MSL_SWIZZLES3(r, g, b)
};

template <class T>
struct alignas(4 * sizeof(T)) vec<T, 4> {
  union {
    T d[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
  };
  MSL_VECTOR_MEMBERS(4)
  MSL_FN constexpr vec(T scalar) : d{scalar, scalar, scalar, scalar} {}
  MSL_FN constexpr vec(T p, T q, T s, T t) : d{p, q, s, t} {}
  MSL_SWIZZLES4(x, y, z, w) MSL_SWIZZLES4(r, g, b, a)
};

}  // namespace metal

#undef MSL_VECTOR_BINARY
#undef MSL_VECTOR_COMPARE
#undef MSL_VECTOR_UNARY
#undef MSL_VECTOR_MEMBERS
