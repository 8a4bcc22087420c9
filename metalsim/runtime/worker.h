/// What one core needs to run threadgroups: fibers with their stacks, and threadgroup memory.
#pragma once
#include <cstdint>

#include "abi.h"
#include "metalsim/metalsim.h"

namespace metalsim {

/// Threadgroup memory of the largest device, and room for the gaps that the checked build leaves between
/// arrays.
inline constexpr uint32_t threadgroup_memory_limit = 32 << 10;
inline constexpr uint32_t threadgroup_memory_reserved = 64 << 10;

/// Of one fiber's stack. An odd number of pages: with a power of two, the stacks' pages would share few
/// places of the processor's address caches (a factor of 1.5 in kernels with many barriers).
inline constexpr size_t stack_bytes = 33 * 4096;
inline constexpr size_t stacks_bytes = stack_bytes * max_threads_per_threadgroup;

struct CoreState;

struct Worker {
  Thread threads[max_threads_per_threadgroup];
  Simdgroup simdgroups[max_threads_per_threadgroup / simd_width];
  Threadgroup group;
  void (*run)() = nullptr;  ///< body of the kernel in hand
  unsigned char* stacks = nullptr;
  unsigned char* memory = nullptr;  ///< threadgroup memory, between two inaccessible pages
  uint32_t shape[3] = {0, 0, 0};    ///< threadgroup size for which Thread::position is filled in
  Order order = Order::ascending;
  uint64_t random = 0;           ///< state of the random order
  CoreState* checker = nullptr;  ///< of this core, once a checked kernel has run
  uint32_t argument_bytes = 0;   ///< of threadgroup memory: the arguments of the dispatch in hand
};

/// This core's worker, made at the first call.
Worker& this_worker();

/// The worker of a core that has one: no check, for use inside a threadgroup.
extern __thread Worker* current_worker __attribute__((tls_model("initial-exec")));

/// Floating-point operations of float, half and bfloat by checked kernels on this core: they add to it
/// themselves, see counters/count_flops.cpp.
extern "C" __thread uint64_t metalsim_flops[3] __attribute__((tls_model("initial-exec")));

/// Adds what this core has counted in the dispatch in hand.
void add_counts_of_core(OperationCounts& counts, const Worker& worker);

/// Lays out the threadgroup arguments of a dispatch; before the first run_group of it on this core.
void prepare_worker(Worker& worker, Dispatch& dispatch, const Options& options);

/// Runs threadgroup `index` (linear, x fastest) of the prepared dispatch. Group::failed is set if it was
/// abandoned.
void run_group(Worker& worker, Dispatch& dispatch, uint32_t index);

/// Leaves the threadgroup in hand for good, from within one of its threads.
[[noreturn]] void abandon_group();

/// One bit out of `mask` (not 0): the first after bit `after` in the worker's order, around the end.
uint32_t pick_bit(Worker& worker, uint32_t mask, uint32_t after);

}  // namespace metalsim
