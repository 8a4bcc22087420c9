/// The functions that clang's -fsanitize=thread calls before each load and store of kernel code. The
/// sanitizer's own library is not linked: these take its place. They are called by kernels only, never from
/// this library.
#include <cstring>

#include "access.h"
#include "core_state.h"

namespace {

using metalsim::Site;

/// Most accesses are to a thread's own variables, or to a buffer of which only the bounds matter and which
/// this code used before: these return without a further call.
__attribute__((always_inline)) inline void access(void* pointer, size_t bytes, bool write, size_t alignment,
                                                  void* code) {
  const metalsim::Thread* thread = metalsim::current_thread;
  const uintptr_t address = uintptr_t(pointer);
  if (!thread || address - uintptr_t(thread->stack) < metalsim::stack_bytes) return;
  const Site site{uint32_t(uintptr_t(code)), false};
  metalsim::CoreState& core = *metalsim::current_worker->checker;
  const metalsim::BoundRange& range = core.bound[core.bound_of_site[site.number % 256]];
  const size_t offset = address - range.begin;
  if (range.only_bounds && !write && offset < range.bytes && bytes <= range.bytes - offset &&
      (address & (alignment - 1)) == 0) {
    (range.memory ? core.bytes.device_read : core.bytes.constant_read) += bytes;
    return;
  }
  metalsim::check_access({address, bytes, alignment, write, false, false, site});
}

}  // namespace

#define CODE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define METALSIM_PLAIN(n)                                                                           \
  void __tsan_read##n(void* p) { access(p, n, false, n, CODE); }                                    \
  void __tsan_write##n(void* p) { access(p, n, true, n, CODE); }                                    \
  void __tsan_volatile_read##n(void* p) { access(p, n, false, n, CODE); }                           \
  void __tsan_volatile_write##n(void* p) { access(p, n, true, n, CODE); }                           \
  void __tsan_unaligned_read##n(void* p) { access(p, n, false, 1, CODE); }                          \
  void __tsan_unaligned_write##n(void* p) { access(p, n, true, 1, CODE); }                          \
  void __tsan_read_write##n(void* p) { access(p, n, false, n, CODE), access(p, n, true, n, CODE); } \
  void __tsan_unaligned_read_write##n(void* p) { access(p, n, false, 1, CODE), access(p, n, true, 1, CODE); }
METALSIM_PLAIN(1)
METALSIM_PLAIN(2)
METALSIM_PLAIN(4)
METALSIM_PLAIN(8)
METALSIM_PLAIN(16)

void __tsan_read_range(void* p, size_t bytes) { access(p, bytes, false, 1, CODE); }
void __tsan_write_range(void* p, size_t bytes) { access(p, bytes, true, 1, CODE); }
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  access(const_cast<void*>(from), bytes, false, 1, CODE);
  access(to, bytes, true, 1, CODE);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, size_t bytes) {
  access(const_cast<void*>(from), bytes, false, 1, CODE);
  access(to, bytes, true, 1, CODE);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
  access(to, bytes, true, 1, CODE);
  return std::memset(to, value, bytes);
}

// The compiler turns atomic instructions into these even in the library's own functions, which have told the
// checker of the access already (note_access): here only the operation is made.
#define METALSIM_FETCH(bits, T, name)                             \
  T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int) { \
    return __atomic_fetch_##name(p, v, __ATOMIC_RELAXED);         \
  }
#define METALSIM_ATOMIC(bits, T)                                                                          \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_RELAXED); } \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_RELAXED); } \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                             \
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);                                                   \
  }                                                                                                       \
  METALSIM_FETCH(bits, T, add)                                                                            \
  METALSIM_FETCH(bits, T, sub)                                                                            \
  METALSIM_FETCH(bits, T, and)                                                                            \
  METALSIM_FETCH(bits, T, or)                                                                             \
  METALSIM_FETCH(bits, T, xor)                                                                            \
  METALSIM_FETCH(bits, T, nand)                                                                           \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {                \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);              \
    return expected;                                                                                      \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {          \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);        \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {            \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);        \
  }
METALSIM_ATOMIC(8, uint8_t)
METALSIM_ATOMIC(16, uint16_t)
METALSIM_ATOMIC(32, uint32_t)
METALSIM_ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
