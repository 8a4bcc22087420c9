// Atomic functions on device and threadgroup memory.
#include <metal_stdlib>
using namespace metal;

// Each thread applies every function once, with an operand of its own, to one object each.
#define FETCH(name, type)                                                                                    \
  kernel void fetch_##name##_##type(device atomic_##type* object [[buffer(0)]],                              \
                                    device const type* operand [[buffer(1)]], device type* old [[buffer(2)]], \
                                    uint i [[thread_position_in_grid]]) {                                    \
    old[i] = atomic_fetch_##name##_explicit(object, operand[i], memory_order_relaxed);                       \
  }
#define FETCH_ALL(type) \
  FETCH(add, type) FETCH(sub, type) FETCH(and, type) FETCH(or, type) FETCH(xor, type) FETCH(min, type) FETCH(max, type)
FETCH_ALL(int)
FETCH_ALL(uint)
FETCH(add, float)
FETCH(sub, float)

kernel void exchange(device atomic_uint* object [[buffer(0)]], device uint* old [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  old[i] = atomic_exchange_explicit(object, i + 1, memory_order_relaxed);
}

// A product, which has no function of its own, in a compare-and-exchange loop.
kernel void multiply(device atomic_uint* object [[buffer(0)]], device const uint* factor [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  uint expected = atomic_load_explicit(object, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(object, &expected, expected * factor[i], memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

kernel void extremes_of_ulong(device atomic_ulong* object [[buffer(0)]], device const ulong* value [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  atomic_min_explicit(object, value[i], memory_order_relaxed);
  atomic_max_explicit(object + 1, value[i], memory_order_relaxed);
}

kernel void count_in_threadgroup(device uint* out [[buffer(0)]], ushort tid [[thread_index_in_threadgroup]],
                                 uint group [[threadgroup_position_in_grid]]) {
  threadgroup atomic_int count;
  threadgroup atomic_bool seen;
  if (tid == 0) {
    atomic_store_explicit(&count, 0, memory_order_relaxed);
    atomic_store_explicit(&seen, false, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid % 3 == 0) atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  if (tid == 5) atomic_store_explicit(&seen, true, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0)
    out[group] = uint(atomic_load_explicit(&count, memory_order_relaxed)) +
                 (atomic_load_explicit(&seen, memory_order_relaxed) ? 1000 : 0);
}
