/// Kernel parameters from their attributes: `argument<T, encode(Attribute::buffer, 2)>()` is parameter `T x
/// [[buffer(2)]]` of the thread in hand. Types come from the kernel's own signature, so a wrong pair fails to
/// compile.
#pragma once
#include <cstdint>
#include <type_traits>

#include "abi_state.h"

namespace metalsim {

/// The attributes of MSL kernel parameters, by their names there.
enum class Attribute : int {
  buffer,
  threadgroup,
  thread_position_in_grid,
  thread_position_in_threadgroup,
  threadgroup_position_in_grid,
  threads_per_threadgroup,
  dispatch_threads_per_threadgroup,
  threadgroups_per_grid,
  threads_per_grid,
  grid_size,
  grid_origin,
  // scalars from here on
  thread_index_in_simdgroup,
  simdgroup_index_in_threadgroup,
  thread_index_in_threadgroup,
  threads_per_simdgroup,
  thread_execution_width,
  simdgroups_per_threadgroup,
  dispatch_simdgroups_per_threadgroup,
  thread_index_in_quadgroup,
  quadgroup_index_in_threadgroup,
  quadgroups_per_threadgroup,
  dispatch_quadgroups_per_threadgroup,
};

/// An attribute and its index in one number, for template arguments. `conditional`: the parameter also has
/// [[function_constant(name)]], which may switch it off, so that the host may leave it unbound.
constexpr int encode(Attribute attribute, int index = 0, bool conditional = false) {
  return int(attribute) * 4096 + (conditional ? 2048 : 0) + (index >= 0 && index < 2048 ? index : 2047);
}
constexpr Attribute attribute_of(int code) { return Attribute(code / 4096); }
constexpr bool is_conditional(int code) { return code / 2048 % 2 == 1; }
constexpr int index_of(int code) { return code % 2048; }

/// The place of one thread, apart from the fibers, so that kernels without rendezvous can run as a plain
/// loop.
struct ThreadPlace {
  const Threadgroup* group;
  uint32_t index;
  uint32_t position[3];
};

namespace detail {

/// Makes a position of what the kernel declares: an integer, or a vector of two or three.
template <class T, class = void>
struct Position {
  using Element = std::remove_reference_t<decltype(T().x)>;
  METALSIM_UNCHECKED static inline T from(const uint32_t* v) {
    if constexpr (sizeof(T) == 2 * sizeof(Element)) {
      return T(Element(v[0]), Element(v[1]));
    } else {
      return T(Element(v[0]), Element(v[1]), Element(v[2]));
    }
  }
};
template <class T>
struct Position<T, std::enable_if_t<std::is_integral_v<T>>> {
  METALSIM_UNCHECKED static inline T from(const uint32_t* v) { return T(v[0]); }
};

template <Attribute attribute>
METALSIM_UNCHECKED inline uint32_t position_component(const ThreadPlace& place, int axis) {
  const Threadgroup& group = *place.group;
  const Dispatch& dispatch = *group.dispatch;
  switch (attribute) {
    case Attribute::thread_position_in_grid:
      return group.position[axis] * dispatch.threads_per_group[axis] + place.position[axis];
    case Attribute::thread_position_in_threadgroup:
      return place.position[axis];
    case Attribute::threadgroup_position_in_grid:
      return group.position[axis];
    case Attribute::threads_per_threadgroup:
      return group.size[axis];
    case Attribute::dispatch_threads_per_threadgroup:
      return dispatch.threads_per_group[axis];
    case Attribute::threadgroups_per_grid:
      return dispatch.groups[axis];
    case Attribute::threads_per_grid:
    case Attribute::grid_size:
      return dispatch.threads[axis] ? dispatch.threads[axis]
                                    : dispatch.groups[axis] * dispatch.threads_per_group[axis];
    default:
      return 0;  // grid_origin
  }
}

constexpr uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

template <Attribute attribute>
METALSIM_UNCHECKED inline uint32_t scalar_value(const ThreadPlace& place) {
  const Threadgroup& group = *place.group;
  const uint32_t* whole = group.dispatch->threads_per_group;
  switch (attribute) {
    case Attribute::thread_index_in_simdgroup:
      return place.index % simd_width;
    case Attribute::simdgroup_index_in_threadgroup:
      return place.index / simd_width;
    case Attribute::thread_index_in_threadgroup:
      return place.index;
    case Attribute::threads_per_simdgroup:
    case Attribute::thread_execution_width:
      return simd_width;
    case Attribute::simdgroups_per_threadgroup:
      return divide_up(group.count, simd_width);
    case Attribute::dispatch_simdgroups_per_threadgroup:
      return divide_up(whole[0] * whole[1] * whole[2], simd_width);
    case Attribute::thread_index_in_quadgroup:
      return place.index % 4;
    case Attribute::quadgroup_index_in_threadgroup:
      return place.index / 4;
    case Attribute::quadgroups_per_threadgroup:
      return divide_up(group.count, 4);
    default:
      return divide_up(whole[0] * whole[1] * whole[2], 4);  // dispatch_quadgroups_per_threadgroup
  }
}

}  // namespace detail

/// The parameter of type `P` with the attribute `code`. A buffer that the host left unbound is a null
/// pointer: only parameters that a function constant disables may be (the device refuses all others).
template <class P, int code>
METALSIM_UNCHECKED inline P argument(const ThreadPlace& place) {
  constexpr Attribute attribute = attribute_of(code);
  constexpr int index = index_of(code);
  constexpr bool memory = attribute == Attribute::buffer || attribute == Attribute::threadgroup;
  using Value = std::remove_cv_t<std::remove_reference_t<P>>;
  if constexpr (std::is_pointer_v<Value> || std::is_reference_v<P>) {
    static_assert(memory, "a pointer or reference parameter needs [[buffer(n)]] or [[threadgroup(n)]]");
    static_assert(index < int(max_buffers), "[[buffer(n)]] and [[threadgroup(n)]]: n is 0 to 30");
    const Threadgroup& group = *place.group;
    unsigned char* data = attribute == Attribute::buffer ? group.dispatch->buffers[index].data
                                                         : group.memory + group.argument_offset[index];
    if constexpr (std::is_pointer_v<Value>) {
      return (Value)data;
    } else {
      return *(std::remove_reference_t<P>*)data;
    }
  } else {
    static_assert(!memory,
                  "a value parameter cannot be [[buffer(n)]] or [[threadgroup(n)]]; take `constant T&`");
    if constexpr (attribute < Attribute::thread_index_in_simdgroup) {
      const uint32_t value[3] = {detail::position_component<attribute>(place, 0),
                                 detail::position_component<attribute>(place, 1),
                                 detail::position_component<attribute>(place, 2)};
      return detail::Position<Value>::from(value);
    } else {
      static_assert(std::is_integral_v<Value>, "this attribute needs an integer parameter");
      return Value(detail::scalar_value<attribute>(place));
    }
  }
}

}  // namespace metalsim
