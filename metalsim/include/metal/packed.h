// packed_float3 and its kin: components side by side, aligned like one component. They convert to and from
// vec; arithmetic on them yields vec.
#pragma once

#include "vec.h"

#define MSL_PACKED_BINARY(op)                                                                       \
  MSL_FN friend vector operator op(const packed_vec& a, const packed_vec& b) {                      \
    return vector(a) op vector(b);                                                                  \
  }                                                                                                 \
  MSL_FN friend vector operator op(const packed_vec& a, const vector& b) { return vector(a) op b; } \
  MSL_FN friend vector operator op(const vector& a, const packed_vec& b) { return a op vector(b); } \
  MSL_FN friend vector operator op(const packed_vec& a, T b) { return vector(a) op b; }             \
  MSL_FN friend vector operator op(T a, const packed_vec& b) { return a op vector(b); }             \
  MSL_FN packed_vec& operator op##=(const vector& b) { return *this = vector(*this) op b; }

#define MSL_PACKED_MEMBERS(N)                                                      \
  using metalsim_element = T;                                                      \
  using vector = vec<T, N>;                                                        \
  static constexpr int size = N;                                                   \
  packed_vec() = default;                                                          \
  packed_vec(const packed_vec&) = default;                                         \
  packed_vec& operator=(const packed_vec&) = default;                              \
  MSL_FN constexpr packed_vec(std::initializer_list<T> values) : d{} {             \
    int i = 0;                                                                     \
    for (T value : values)                                                         \
      if (i < N) d[i++] = value;                                                   \
  }                                                                                \
  MSL_FN constexpr packed_vec(const vector& v) : d{} {                             \
    for (int i = 0; i < N; ++i) d[i] = v.d[i];                                     \
  }                                                                                \
  MSL_FN constexpr explicit packed_vec(T scalar) : d{} {                           \
    for (int i = 0; i < N; ++i) d[i] = scalar;                                     \
  }                                                                                \
  template <class... A, std::enable_if_t<(sizeof...(A) > 1), int> = 0,             \
            class = decltype(vector(std::declval<const A&>()...))>                 \
  MSL_FN constexpr packed_vec(const A&... parts) : packed_vec(vector(parts...)) {} \
  template <class U>                                                               \
  MSL_FN constexpr explicit packed_vec(const vec<U, N>& v) : d{} {                 \
    for (int i = 0; i < N; ++i) d[i] = metalsim::lib::convert<T>(v.d[i]);          \
  }                                                                                \
  MSL_FN constexpr operator vector() const {                                       \
    vector v(T(0));                                                                \
    for (int i = 0; i < N; ++i) v.d[i] = d[i];                                     \
    return v;                                                                      \
  }                                                                                \
  template <class U, std::enable_if_t<!std::is_same_v<U, T>, int> = 0>             \
  MSL_FN constexpr explicit operator vec<U, N>() const {                           \
    return vec<U, N>(vector(*this));                                               \
  }                                                                                \
  MSL_FN constexpr T& operator[](int i) { return d[i]; }                           \
  MSL_FN constexpr const T& operator[](int i) const { return d[i]; }               \
  MSL_PACKED_BINARY(+) MSL_PACKED_BINARY(-) MSL_PACKED_BINARY(*) MSL_PACKED_BINARY(/)

namespace metal {

template <class T>
struct packed_vec<T, 2> {
  union {
    T d[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
  };
  MSL_PACKED_MEMBERS(2)
  MSL_SWIZZLES2(x, y) MSL_SWIZZLES2(r, g)
};

template <class T>
struct packed_vec<T, 3> {
  union {
    T d[3];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
  };
  MSL_PACKED_MEMBERS(3)
  MSL_SWIZZLES3(x, y, z) MSL_SWIZZLES3(r, g, b)
};

template <class T>
struct packed_vec<T, 4> {
  union {
    T d[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
  };
  MSL_PACKED_MEMBERS(4)
  MSL_SWIZZLES4(x, y, z, w) MSL_SWIZZLES4(r, g, b, a)
};

}  // namespace metal

#undef MSL_PACKED_BINARY
#undef MSL_PACKED_MEMBERS
