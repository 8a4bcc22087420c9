// Every swizzle of Metal's vectors (v.xy, v.wzyx, v.rgb ...) as a property: reading v.zx calls get_zx(),
// assigning to it calls put_zx(). A swizzle is therefore an ordinary vector value (it deduces template
// arguments, unlike a proxy object), and nothing is instantiated for those that a kernel does not use: all
// 680 names cost 0.2 s a file.
#pragma once

// One property of 2, 3 or 4 components. Assigning to a swizzle that names a component twice is refused.
#define MSL_PROPERTY2(a, b)                                                                 \
  __declspec(property(get = get_##a##b, put = put_##a##b)) vec<T, 2> a##b;                  \
  MSL_FN constexpr vec<T, 2> get_##a##b() const { return vec<T, 2>(a, b); }                 \
  template <class U = T>                                                                    \
  MSL_FN void put_##a##b(vec<U, 2> v) {                                                     \
    static_assert(msl_distinct(#a #b), "a component appears twice in an assigned swizzle"); \
    a = v.d[0];                                                                             \
    b = v.d[1];                                                                             \
  }
#define MSL_PROPERTY3(a, b, c)                                                                 \
  __declspec(property(get = get_##a##b##c, put = put_##a##b##c)) vec<T, 3> a##b##c;            \
  MSL_FN constexpr vec<T, 3> get_##a##b##c() const { return vec<T, 3>(a, b, c); }              \
  template <class U = T>                                                                       \
  MSL_FN void put_##a##b##c(vec<U, 3> v) {                                                     \
    static_assert(msl_distinct(#a #b #c), "a component appears twice in an assigned swizzle"); \
    a = v.d[0];                                                                                \
    b = v.d[1];                                                                                \
    c = v.d[2];                                                                                \
  }
#define MSL_PROPERTY4(a, b, c, e)                                                                 \
  __declspec(property(get = get_##a##b##c##e, put = put_##a##b##c##e)) vec<T, 4> a##b##c##e;      \
  MSL_FN constexpr vec<T, 4> get_##a##b##c##e() const { return vec<T, 4>(a, b, c, e); }           \
  template <class U = T>                                                                          \
  MSL_FN void put_##a##b##c##e(vec<U, 4> v) {                                                     \
    static_assert(msl_distinct(#a #b #c #e), "a component appears twice in an assigned swizzle"); \
    a = v.d[0];                                                                                   \
    b = v.d[1];                                                                                   \
    c = v.d[2];                                                                                   \
    e = v.d[3];                                                                                   \
  }

// MSL_DEPTHk_n(M, the n names, prefix): M(prefix, ...) with every choice of k more names. A macro cannot
// expand inside itself, so each depth is a macro of its own.
#define MSL_DEPTH1_2(M, p, q, ...) M(__VA_ARGS__, p) M(__VA_ARGS__, q)
#define MSL_DEPTH2_2(M, p, q, ...) MSL_DEPTH1_2(M, p, q, __VA_ARGS__, p) MSL_DEPTH1_2(M, p, q, __VA_ARGS__, q)
#define MSL_DEPTH3_2(M, p, q, ...) MSL_DEPTH2_2(M, p, q, __VA_ARGS__, p) MSL_DEPTH2_2(M, p, q, __VA_ARGS__, q)
#define MSL_STARTING2(first, p, q)         \
  MSL_DEPTH1_2(MSL_PROPERTY2, p, q, first) \
  MSL_DEPTH2_2(MSL_PROPERTY3, p, q, first) \
  MSL_DEPTH3_2(MSL_PROPERTY4, p, q, first)

#define MSL_DEPTH1_3(M, p, q, r, ...) M(__VA_ARGS__, p) M(__VA_ARGS__, q) M(__VA_ARGS__, r)
#define MSL_DEPTH2_3(M, p, q, r, ...)      \
  MSL_DEPTH1_3(M, p, q, r, __VA_ARGS__, p) \
  MSL_DEPTH1_3(M, p, q, r, __VA_ARGS__, q) \
  MSL_DEPTH1_3(M, p, q, r, __VA_ARGS__, r)
#define MSL_DEPTH3_3(M, p, q, r, ...)      \
  MSL_DEPTH2_3(M, p, q, r, __VA_ARGS__, p) \
  MSL_DEPTH2_3(M, p, q, r, __VA_ARGS__, q) \
  MSL_DEPTH2_3(M, p, q, r, __VA_ARGS__, r)
#define MSL_STARTING3(first, p, q, r)         \
  MSL_DEPTH1_3(MSL_PROPERTY2, p, q, r, first) \
  MSL_DEPTH2_3(MSL_PROPERTY3, p, q, r, first) \
  MSL_DEPTH3_3(MSL_PROPERTY4, p, q, r, first)

#define MSL_DEPTH1_4(M, p, q, r, s, ...) \
  M(__VA_ARGS__, p) M(__VA_ARGS__, q) M(__VA_ARGS__, r) M(__VA_ARGS__, s)
#define MSL_DEPTH2_4(M, p, q, r, s, ...)      \
  MSL_DEPTH1_4(M, p, q, r, s, __VA_ARGS__, p) \
  MSL_DEPTH1_4(M, p, q, r, s, __VA_ARGS__, q) \
  MSL_DEPTH1_4(M, p, q, r, s, __VA_ARGS__, r) \
  MSL_DEPTH1_4(M, p, q, r, s, __VA_ARGS__, s)
#define MSL_DEPTH3_4(M, p, q, r, s, ...)      \
  MSL_DEPTH2_4(M, p, q, r, s, __VA_ARGS__, p) \
  MSL_DEPTH2_4(M, p, q, r, s, __VA_ARGS__, q) \
  MSL_DEPTH2_4(M, p, q, r, s, __VA_ARGS__, r) \
  MSL_DEPTH2_4(M, p, q, r, s, __VA_ARGS__, s)
#define MSL_STARTING4(first, p, q, r, s)         \
  MSL_DEPTH1_4(MSL_PROPERTY2, p, q, r, s, first) \
  MSL_DEPTH2_4(MSL_PROPERTY3, p, q, r, s, first) \
  MSL_DEPTH3_4(MSL_PROPERTY4, p, q, r, s, first)

/// All swizzles of a vector of 2, 3 or 4 components with these names.
#define MSL_SWIZZLES2(p, q) MSL_STARTING2(p, p, q) MSL_STARTING2(q, p, q)
#define MSL_SWIZZLES3(p, q, r) MSL_STARTING3(p, p, q, r) MSL_STARTING3(q, p, q, r) MSL_STARTING3(r, p, q, r)
#define MSL_SWIZZLES4(p, q, r, s) \
  MSL_STARTING4(p, p, q, r, s)    \
  MSL_STARTING4(q, p, q, r, s)    \
  MSL_STARTING4(r, p, q, r, s)    \
  MSL_STARTING4(s, p, q, r, s)

namespace metal {
/// Whether no character of a swizzle's name appears twice.
constexpr bool msl_distinct(const char* names) {
  for (const char* a = names; *a; ++a)
    for (const char* b = a + 1; *b; ++b)
      if (*a == *b) return false;
  return true;
}
}  // namespace metal
