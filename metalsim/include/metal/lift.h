// Lifting: a function of scalars, applied to each component of vectors. `max(v, 0.0f)` and `mix(a, b, 0.5f)`
// work as in Metal: where one argument is a vector, the others may be anything that converts to it.
#pragma once

#include "types.h"

namespace metalsim::lib {

template <class A>
struct VectorOf {
  using type = void;
};
template <class T, int N>
struct VectorOf<metal::vec<T, N>> {
  using type = metal::vec<T, N>;
};
template <class T, int N>
struct VectorOf<metal::packed_vec<T, N>> {
  using type = metal::vec<T, N>;
};

/// The vector type of the first argument that is a vector; void if none is.
template <class... A>
struct FirstVector {
  using type = void;
};
template <class A, class... Rest>
struct FirstVector<A, Rest...> {
  using own = typename VectorOf<A>::type;
  using type = std::conditional_t<std::is_void_v<own>, typename FirstVector<Rest...>::type, own>;
};

template <class V, class... A>
struct AllConvert : std::bool_constant<(std::is_convertible_v<A, V> && ...)> {};
template <class... A>
struct AllConvert<void, A...> : std::false_type {};

/// The type in which a lifted function computes; no type (so no overload) unless one argument is a vector and
/// all others convert to it.
template <class... A>
using lifted = std::enable_if_t<AllConvert<typename FirstVector<A...>::type, A...>::value,
                                typename FirstVector<A...>::type>;

/// The same for floating-point vectors only.
template <class... A>
using lifted_float =
    std::enable_if_t<metal::is_floating_point_v<typename lifted<A...>::metalsim_element>, lifted<A...>>;

/// A vector like V with another component type.
template <class V, class T>
using with_element = metal::vec<T, V::size>;

}  // namespace metalsim::lib

/// The lifted form of the scalar function `name` of one, two or three arguments.
#define MSL_LIFT1(name)                                      \
  template <class A, class V = metalsim::lib::lifted<A>>     \
  MSL_FN V name(const A& a) {                                \
    const V x(a);                                            \
    V r;                                                     \
    for (int i = 0; i < V::size; ++i) r.d[i] = name(x.d[i]); \
    return r;                                                \
  }
#define MSL_LIFT2(name)                                              \
  template <class A, class B, class V = metalsim::lib::lifted<A, B>> \
  MSL_FN V name(const A& a, const B& b) {                            \
    const V x(a), y(b);                                              \
    V r;                                                             \
    for (int i = 0; i < V::size; ++i) r.d[i] = name(x.d[i], y.d[i]); \
    return r;                                                        \
  }
#define MSL_LIFT3(name)                                                          \
  template <class A, class B, class C, class V = metalsim::lib::lifted<A, B, C>> \
  MSL_FN V name(const A& a, const B& b, const C& c) {                            \
    const V x(a), y(b), z(c);                                                    \
    V r;                                                                         \
    for (int i = 0; i < V::size; ++i) r.d[i] = name(x.d[i], y.d[i], z.d[i]);     \
    return r;                                                                    \
  }
/// One argument, and a result of another component type (isnan: bool, ilogb: int).
#define MSL_LIFT1_TO(name, Element)                                 \
  template <class A, class V = metalsim::lib::lifted<A>>            \
  MSL_FN metalsim::lib::with_element<V, Element> name(const A& a) { \
    const V x(a);                                                   \
    metalsim::lib::with_element<V, Element> r;                      \
    for (int i = 0; i < V::size; ++i) r.d[i] = name(x.d[i]);        \
    return r;                                                       \
  }
