// Geometric functions, matrices and conversions between packed integers and normalised floats.
#pragma once

#include "integer.h"

namespace metal {

template <class A, class B, class V = metalsim::lib::lifted<A, B>>
MSL_FN typename V::metalsim_element dot(const A& a, const B& b) {
  using T = typename V::metalsim_element;
  const V x(a), y(b);
  T sum = T(x.d[0] * y.d[0]);
  for (int i = 1; i < V::size; ++i) sum = T(sum + x.d[i] * y.d[i]);
  return sum;
}
template <class A, class V = metalsim::lib::lifted_float<A>>
MSL_FN typename V::metalsim_element length_squared(const A& v) {
  return dot(v, v);
}
template <class A, class V = metalsim::lib::lifted_float<A>>
MSL_FN typename V::metalsim_element length(const A& v) {
  return sqrt(dot(v, v));
}
template <class A, class B, class V = metalsim::lib::lifted_float<A, B>>
MSL_FN typename V::metalsim_element distance_squared(const A& a, const B& b) {
  const V difference = V(a) - V(b);
  return dot(difference, difference);
}
template <class A, class B, class V = metalsim::lib::lifted_float<A, B>>
MSL_FN typename V::metalsim_element distance(const A& a, const B& b) {
  return sqrt(distance_squared(a, b));
}
template <class A, class V = metalsim::lib::lifted_float<A>>
MSL_FN V normalize(const A& v) {
  return V(v) * rsqrt(dot(v, v));
}
template <class A, class B, class V = metalsim::lib::lifted_float<A, B>>
MSL_FN V cross(const A& a, const B& b) {
  static_assert(V::size == 3, "cross: vectors of three components");
  const V x(a), y(b);
  return V(x.d[1] * y.d[2] - x.d[2] * y.d[1], x.d[2] * y.d[0] - x.d[0] * y.d[2],
           x.d[0] * y.d[1] - x.d[1] * y.d[0]);
}
template <class T, int N>
MSL_FN vec<T, N> faceforward(const vec<T, N>& n, const vec<T, N>& incident, const vec<T, N>& reference) {
  return dot(reference, incident) < T(0) ? n : -n;
}
template <class T, int N>
MSL_FN vec<T, N> reflect(const vec<T, N>& incident, const vec<T, N>& n) {
  return incident - n * T(T(2) * dot(n, incident));
}
template <class T, int N>
MSL_FN vec<T, N> refract(const vec<T, N>& incident, const vec<T, N>& n, T eta) {
  const T cosine = dot(n, incident);
  const T k = T(T(1) - eta * eta * (T(1) - cosine * cosine));
  return k < T(0) ? vec<T, N>(T(0)) : incident * eta - n * T(eta * cosine + sqrt(k));
}

/// Columns of vectors, as in Metal: m[c][r].
template <class T, int Columns, int Rows>
struct matrix {
  using column = vec<T, Rows>;
  column columns[Columns];

  matrix() = default;
  /// `diagonal` on the diagonal, zero elsewhere.
  MSL_FN explicit matrix(T diagonal) {
    for (int c = 0; c < Columns; ++c)
      for (int r = 0; r < Rows; ++r) columns[c].d[r] = c == r ? diagonal : T(0);
  }
  template <class... C,
            std::enable_if_t<sizeof...(C) == Columns && (std::is_convertible_v<C, column> && ...) &&
                                 !(std::is_arithmetic_v<C> || ...),
                             int> = 0>
  MSL_FN matrix(const C&... values) : columns{column(values)...} {}
  /// All elements, column by column.
  template <class... E,
            std::enable_if_t<sizeof...(E) == Columns * Rows && (is_arithmetic_v<E> && ...), int> = 0>
  MSL_FN matrix(E... elements) {
    const T values[] = {T(elements)...};
    for (int i = 0; i < Columns * Rows; ++i) columns[i / Rows].d[i % Rows] = values[i];
  }
  template <class U>
  MSL_FN explicit matrix(const matrix<U, Columns, Rows>& other) {
    for (int c = 0; c < Columns; ++c) columns[c] = column(other.columns[c]);
  }
  MSL_FN column& operator[](int c) { return columns[c]; }
  MSL_FN const column& operator[](int c) const { return columns[c]; }

  MSL_FN friend matrix operator+(const matrix& a, const matrix& b) {
    matrix r;
    for (int c = 0; c < Columns; ++c) r.columns[c] = a.columns[c] + b.columns[c];
    return r;
  }
  MSL_FN friend matrix operator-(const matrix& a, const matrix& b) {
    matrix r;
    for (int c = 0; c < Columns; ++c) r.columns[c] = a.columns[c] - b.columns[c];
    return r;
  }
  MSL_FN friend matrix operator*(const matrix& a, T scale) {
    matrix r;
    for (int c = 0; c < Columns; ++c) r.columns[c] = a.columns[c] * scale;
    return r;
  }
  MSL_FN friend matrix operator*(T scale, const matrix& a) { return a * scale; }
  MSL_FN friend column operator*(const matrix& m, const vec<T, Columns>& v) {
    column r = m.columns[0] * v.d[0];
    for (int c = 1; c < Columns; ++c) r += m.columns[c] * v.d[c];
    return r;
  }
  MSL_FN friend vec<T, Columns> operator*(const column& v, const matrix& m) {
    vec<T, Columns> r;
    for (int c = 0; c < Columns; ++c) r.d[c] = dot(v, m.columns[c]);
    return r;
  }
  MSL_FN matrix& operator+=(const matrix& b) { return *this = *this + b; }
  MSL_FN matrix& operator-=(const matrix& b) { return *this = *this - b; }
  MSL_FN matrix& operator*=(T scale) { return *this = *this * scale; }
};
template <class T, int Inner, int Rows, int Columns>
MSL_FN matrix<T, Columns, Rows> operator*(const matrix<T, Inner, Rows>& a,
                                          const matrix<T, Columns, Inner>& b) {
  matrix<T, Columns, Rows> r;
  for (int c = 0; c < Columns; ++c) r.columns[c] = a * b.columns[c];
  return r;
}
template <class T, int C, int R>
MSL_FN matrix<T, R, C> transpose(const matrix<T, C, R>& m) {
  matrix<T, R, C> t;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) t.columns[r].d[c] = m.columns[c].d[r];
  return t;
}
template <class T>
MSL_FN T determinant(const matrix<T, 2, 2>& m) {
  return T(m[0][0] * m[1][1] - m[1][0] * m[0][1]);
}
template <class T>
MSL_FN T determinant(const matrix<T, 3, 3>& m) {
  return dot(m[0], cross(m[1], m[2]));
}
template <class T>
MSL_FN T determinant(const matrix<T, 4, 4>& m) {
  T sum = T(0);
  for (int c = 0; c < 4; ++c) {
    matrix<T, 3, 3> minor;
    for (int k = 0, at = 0; k < 4; ++k)
      if (k != c) minor[at++] = vec<T, 3>(m[k][1], m[k][2], m[k][3]);
    sum = T(sum + (c % 2 ? -m[c][0] : m[c][0]) * determinant(minor));
  }
  return sum;
}

#define MSL_MATRIX_NAMES(name, T)    \
  using name##2x2 = matrix<T, 2, 2>; \
  using name##2x3 = matrix<T, 2, 3>; \
  using name##2x4 = matrix<T, 2, 4>; \
  using name##3x2 = matrix<T, 3, 2>; \
  using name##3x3 = matrix<T, 3, 3>; \
  using name##3x4 = matrix<T, 3, 4>; \
  using name##4x2 = matrix<T, 4, 2>; \
  using name##4x3 = matrix<T, 4, 3>; \
  using name##4x4 = matrix<T, 4, 4>;
MSL_MATRIX_NAMES(float, float)
MSL_MATRIX_NAMES(half, ::half)

// Normalised integers: value / (2^bits - 1), or / (2^(bits-1) - 1) clamped to -1 for signed ones.
MSL_FN float4 unpack_unorm4x8_to_float(uint x) {
  return float4(float(x & 0xff), float(x >> 8 & 0xff), float(x >> 16 & 0xff), float(x >> 24)) / 255.0f;
}
MSL_FN float4 unpack_snorm4x8_to_float(uint x) {
  const float4 v(float(int8_t(x)), float(int8_t(x >> 8)), float(int8_t(x >> 16)), float(int8_t(x >> 24)));
  return max(v / 127.0f, -1.0f);
}
MSL_FN float2 unpack_unorm2x16_to_float(uint x) {
  return float2(float(x & 0xffff), float(x >> 16)) / 65535.0f;
}
MSL_FN float2 unpack_snorm2x16_to_float(uint x) {
  return max(float2(float(int16_t(x)), float(int16_t(x >> 16))) / 32767.0f, -1.0f);
}
MSL_FN uint pack_float_to_unorm4x8(float4 v) {
  const float4 scaled = rint(saturate(v) * 255.0f);
  return uint(scaled.x) | uint(scaled.y) << 8 | uint(scaled.z) << 16 | uint(scaled.w) << 24;
}
MSL_FN uint pack_float_to_snorm4x8(float4 v) {
  const float4 scaled = rint(clamp(v, -1.0f, 1.0f) * 127.0f);
  return uint(uint8_t(int(scaled.x))) | uint(uint8_t(int(scaled.y))) << 8 |
         uint(uint8_t(int(scaled.z))) << 16 | uint(uint8_t(int(scaled.w))) << 24;
}
MSL_FN uint pack_float_to_unorm2x16(float2 v) {
  const float2 scaled = rint(saturate(v) * 65535.0f);
  return uint(scaled.x) | uint(scaled.y) << 16;
}
MSL_FN uint pack_float_to_snorm2x16(float2 v) {
  const float2 scaled = rint(clamp(v, -1.0f, 1.0f) * 32767.0f);
  return uint(uint16_t(int(scaled.x))) | uint(uint16_t(int(scaled.y))) << 16;
}

}  // namespace metal

using metal::matrix;
MSL_MATRIX_NAMES(float, float)
MSL_MATRIX_NAMES(half, ::half)
#undef MSL_MATRIX_NAMES
