// Atomic objects and functions. The order is always memory_order_relaxed, as in Metal.
#pragma once

#include "barrier.h"

namespace metal {

enum memory_order { memory_order_relaxed = 0 };
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

template <class T>
struct atomic {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, uint> || std::is_same_v<T, float> ||
                    std::is_same_v<T, bool> || std::is_same_v<T, ulong>,
                "atomic: int, uint, float, bool or ulong");
  T value;
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_bool = atomic<bool>;
using atomic_float = atomic<float>;
using atomic_ulong = atomic<ulong>;

}  // namespace metal

namespace metalsim::lib {

/// The checker and the counters hear of an atomic access before it is made.
template <class T>
MSL_RUNTIME_FN void note_atomic([[maybe_unused]] const volatile metal::atomic<T>* object,
                                [[maybe_unused]] bool writes, [[maybe_unused]] SourceLocation at) {
  ++current_group->counts.atomics;
#if defined(METALSIM_CHECKED)
  note_access(const_cast<const T*>(&object->value), sizeof(T),
              writes ? AccessKind::atomic_write : AccessKind::atomic_read, alignof(T), at);
#endif
}

template <class T>
MSL_RUNTIME_FN T load(const volatile metal::atomic<T>* object) {
  T value;
  __atomic_load(const_cast<T*>(&object->value), &value, __ATOMIC_RELAXED);
  return value;
}

/// Replaces the value by f(value); the old value is returned.
template <class T, class F>
MSL_RUNTIME_FN T modify(volatile metal::atomic<T>* object, SourceLocation at, F f) {
  note_atomic(object, true, at);
  T* const address = const_cast<T*>(&object->value);
  T old = load(object);
  T desired;
  do {
    desired = f(old);
  } while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace metalsim::lib

#define MSL_AT_ATOMIC metalsim::SourceLocation at = metalsim::SourceLocation::here()

#define MSL_ATOMIC_FETCH(name, condition, expression)                                              \
  template <class T, std::enable_if_t<(condition), int> = 0>                                       \
  MSL_RUNTIME_FN T atomic_fetch_##name##_explicit(                                                 \
      volatile atomic<T>* object, metalsim::lib::Same<T> operand, memory_order, MSL_AT_ATOMIC) {   \
    return metalsim::lib::modify(object, at,                                                       \
                                 [operand](T value) METALSIM_UNCHECKED { return T(expression); }); \
  }

namespace metalsim::lib {
template <class T>
struct SameAs {
  using type = T;
};
/// T, not deduced from this argument: `atomic_fetch_add_explicit(counter, 1, ...)` takes the object's type.
template <class T>
using Same = typename SameAs<T>::type;
/// Integers wrap: signed overflow is formed unsigned.
template <class T>
METALSIM_UNCHECKED inline T wrapping_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint(a) + uint(b));
  else
    return a + b;
}
template <class T>
METALSIM_UNCHECKED inline T wrapping_difference(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(uint(a) - uint(b));
  else
    return a - b;
}
template <class T>
inline constexpr bool is_32_bit = std::is_same_v<T, int> || std::is_same_v<T, uint>;
}  // namespace metalsim::lib

namespace metal {

template <class T>
MSL_RUNTIME_FN T atomic_load_explicit(const volatile atomic<T>* object, memory_order, MSL_AT_ATOMIC) {
  metalsim::lib::note_atomic(object, false, at);
  return metalsim::lib::load(object);
}
template <class T>
MSL_RUNTIME_FN void atomic_store_explicit(volatile atomic<T>* object, metalsim::lib::Same<T> desired,
                                          memory_order, MSL_AT_ATOMIC) {
  metalsim::lib::note_atomic(object, true, at);
  __atomic_store(const_cast<T*>(&object->value), &desired, __ATOMIC_RELAXED);
}
template <class T>
MSL_RUNTIME_FN T atomic_exchange_explicit(volatile atomic<T>* object, metalsim::lib::Same<T> desired,
                                          memory_order, MSL_AT_ATOMIC) {
  return metalsim::lib::modify(object, at, [desired](T) METALSIM_UNCHECKED { return desired; });
}
/// Stores `desired` if the value is `expected`, bit by bit; else puts the value into `expected`. May fail
/// without a reason, so it stands in a loop.
template <class T>
MSL_RUNTIME_FN bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* object, T* expected,
                                                          metalsim::lib::Same<T> desired, memory_order,
                                                          memory_order, MSL_AT_ATOMIC) {
  metalsim::lib::note_atomic(object, true, at);
  return __atomic_compare_exchange(const_cast<T*>(&object->value), expected, &desired, true, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED);
}

MSL_ATOMIC_FETCH(add, (metalsim::lib::is_32_bit<T> || std::is_same_v<T, float>),
                 metalsim::lib::wrapping_sum(value, operand))
MSL_ATOMIC_FETCH(sub, (metalsim::lib::is_32_bit<T> || std::is_same_v<T, float>),
                 metalsim::lib::wrapping_difference(value, operand))
MSL_ATOMIC_FETCH(and, metalsim::lib::is_32_bit<T>, value& operand)
MSL_ATOMIC_FETCH(or, metalsim::lib::is_32_bit<T>, value | operand)
MSL_ATOMIC_FETCH(xor, metalsim::lib::is_32_bit<T>, value ^ operand)
MSL_ATOMIC_FETCH(min, metalsim::lib::is_32_bit<T>, operand < value ? operand : value)
MSL_ATOMIC_FETCH(max, metalsim::lib::is_32_bit<T>, value < operand ? operand : value)

/// Without a result: the only ones that Metal has for ulong.
MSL_RUNTIME_FN void atomic_min_explicit(volatile atomic<ulong>* object, ulong operand, memory_order,
                                        MSL_AT_ATOMIC) {
  metalsim::lib::modify(
      object, at, [operand](ulong value) METALSIM_UNCHECKED { return operand < value ? operand : value; });
}
MSL_RUNTIME_FN void atomic_max_explicit(volatile atomic<ulong>* object, ulong operand, memory_order,
                                        MSL_AT_ATOMIC) {
  metalsim::lib::modify(
      object, at, [operand](ulong value) METALSIM_UNCHECKED { return value < operand ? operand : value; });
}

}  // namespace metal

#undef MSL_ATOMIC_FETCH
#undef MSL_AT_ATOMIC
