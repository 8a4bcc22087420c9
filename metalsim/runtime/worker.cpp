#include "worker.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "../checker/checker.h"
#include "../counters/kernel_counters.h"

extern "C" {
__thread uint64_t metalsim_flops[3];
}

namespace metalsim {

void run_fibers(Worker& worker);

namespace {

constexpr size_t page = 4096;
constexpr size_t stacks_guard_bytes = 1 << 20;

/// Pages that read as zero and take memory only when touched.
unsigned char* reserve(size_t bytes, int protection) {
  void* p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<unsigned char*>(p);
}

Worker* make_worker() {
  void* place = std::aligned_alloc(64, (sizeof(Worker) + 63) & ~size_t(63));
  if (!place) throw std::bad_alloc();
  Worker* worker = new (place) Worker;
  // Stacks grow downwards: below the first one lies inaccessible memory, more than a large frame could step
  // over.
  worker->stacks = reserve(stacks_guard_bytes + stacks_bytes, PROT_READ | PROT_WRITE) + stacks_guard_bytes;
  if (mprotect(worker->stacks - stacks_guard_bytes, stacks_guard_bytes, PROT_NONE)) throw std::bad_alloc();
  unsigned char* guarded = reserve(threadgroup_memory_reserved + 2 * page, PROT_NONE);
  worker->memory = guarded + page;
  if (mprotect(worker->memory, threadgroup_memory_reserved, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
  for (uint32_t i = 0; i < max_threads_per_threadgroup; ++i) {
    Thread& thread = worker->threads[i];
    thread.index = uint16_t(i);
    thread.lane = uint16_t(i % simd_width);
    thread.simdgroup = &worker->simdgroups[i / simd_width];
    thread.stack = worker->stacks + stack_bytes * i;
  }
  for (uint32_t s = 0; s < max_threads_per_threadgroup / simd_width; ++s)
    worker->simdgroups[s].first = s * simd_width;
  worker->group.threads = worker->threads;
  worker->group.simdgroups = worker->simdgroups;
  worker->group.memory = worker->memory;
  return worker;
}

/// Fills in the threads' positions for a threadgroup of this size; kept while the size stays.
void take_shape(Worker& worker, const uint32_t size[3]) {
  if (std::equal(size, size + 3, worker.shape)) return;
  std::copy(size, size + 3, worker.shape);
  uint32_t i = 0;
  for (uint32_t z = 0; z < size[2]; ++z)
    for (uint32_t y = 0; y < size[1]; ++y)
      for (uint32_t x = 0; x < size[0]; ++x, ++i) {
        uint32_t* position = worker.threads[i].position;
        position[0] = x;
        position[1] = y;
        position[2] = z;
      }
}

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Worker& this_worker() {
  if (!current_worker) current_worker = make_worker();
  return *current_worker;
}

uint32_t pick_bit(Worker& worker, uint32_t mask, uint32_t after) {
  if (worker.order == Order::descending) {
    const uint32_t below = mask & ((1u << after) - 1);
    return 31 - uint32_t(__builtin_clz(below ? below : mask));
  }
  if (worker.order == Order::random) {
    uint32_t skip = uint32_t(next_random(worker.random) % uint32_t(__builtin_popcount(mask)));
    while (skip--) mask &= mask - 1;
    return uint32_t(__builtin_ctz(mask));
  }
  const uint32_t above = mask & (0xfffffffeu << after);
  return uint32_t(__builtin_ctz(above ? above : mask));
}

void prepare_worker(Worker& worker, Dispatch& dispatch, const Options& options) {
  Threadgroup& group = worker.group;
  const Kernel& kernel = *dispatch.kernel;
  group.dispatch = &dispatch;
  group.checked = kernel.unit->checked;
  group.counts = {};
  std::fill(std::begin(metalsim_flops), std::end(metalsim_flops), 0);
  worker.run = kernel.run;
  worker.order = options.order;
  // A gap after each argument makes an overrun from one into the next visible to the checker.
  const uint32_t gap = group.checked ? checked_array_gap : 0;
  uint32_t end = 0;
  for (uint32_t i = 0; i < max_threadgroup_arguments; ++i) {
    if (!(kernel.threadgroup_arguments >> i & 1)) continue;
    group.argument_offset[i] = end;
    end += ((dispatch.threadgroup_bytes[i] + 15) & ~15u) + gap;
  }
  worker.argument_bytes = std::min(end, threadgroup_memory_reserved);
}

void add_counts_of_core(OperationCounts& counts, const Worker& worker) {
  add_counts(counts, worker.group.counts);
  counts.flops_f32 += metalsim_flops[0];
  counts.flops_f16 += metalsim_flops[1];
  counts.flops_bf16 += metalsim_flops[2];
}

void run_group(Worker& worker, Dispatch& dispatch, uint32_t index) {
  Threadgroup& group = worker.group;
  group.index = index;
  group.position[0] = index % dispatch.groups[0];
  group.position[1] = index / dispatch.groups[0] % dispatch.groups[1];
  group.position[2] = index / dispatch.groups[0] / dispatch.groups[1];
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t whole = dispatch.threads_per_group[axis];
    group.size[axis] = whole;
    if (dispatch.threads[axis])
      group.size[axis] = std::min(whole, dispatch.threads[axis] - group.position[axis] * whole);
  }
  group.count = group.live = group.size[0] * group.size[1] * group.size[2];
  group.failed = false;
  current_group = &group;
  group.memory_bytes = worker.argument_bytes;
  group.static_known = 0;
  std::memset(group.memory, 0xff,
              worker.argument_bytes);  // NaN: unwritten memory shows in the fast build as well

  if (dispatch.kernel->run_independent && !group.checked && worker.order == Order::ascending) {
    dispatch.kernel->run_independent(group, 0, group.count);
    current_group = nullptr;
    return;
  }
  take_shape(worker, group.size);
  group.arrived = 0;
  group.fences = {};
  for (uint32_t s = 0; s * simd_width < group.count; ++s) {
    Simdgroup& simdgroup = worker.simdgroups[s];
    simdgroup.lanes = std::min(simd_width, group.count - s * simd_width);
    simdgroup.live_mask = simdgroup.runnable = simdgroup.fresh =
        0xffffffffu >> (simd_width - simdgroup.lanes);
    simdgroup.waits_simd = simdgroup.waits_group = simdgroup.leader_after_return = 0;
    simdgroup.fences = {};
    simdgroup.passed = simdgroup.met = 0;
  }
  if (worker.order == Order::random)
    worker.random = options().seed * 0x10001u + dispatch.number * 977u + index;
  if (group.checked) checker_begin_group(group);
  run_fibers(worker);
  current_group = nullptr;
}

void* static_threadgroup_memory(uint32_t id, size_t bytes, SourceLocation at) {
  Threadgroup& group = *current_group;
  if (group.static_known >> id & 1) return group.memory + group.static_offset[id];
  const uint32_t offset = group.memory_bytes, gap = group.checked ? checked_array_gap : 0;
  const size_t end = offset + ((bytes + 15) & ~size_t(15)) + gap;
  if (end > threadgroup_memory_reserved)
    kernel_defect("threadgroup arrays of the kernel's body do not fit into threadgroup memory", at);
  group.static_known |= uint64_t(1) << id;
  group.static_offset[id] = offset;
  group.memory_bytes = uint32_t(end);
  std::memset(group.memory + offset, 0xff, bytes);
  if (group.checked) checker_add_array(group, id, offset, uint32_t(bytes));
  return group.memory + offset;
}

}  // namespace metalsim

/// float to bfloat, to nearest even. Clang calls it on processors without the instruction; libgcc 12 has
/// none. Declared with float as its result because g++ 12 has no bfloat: both are returned in the same
/// register, here its low 16 bits.
extern "C" __attribute__((weak)) float __truncsfbf2(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  bits = nan ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1);
  bits >>= 16;
  std::memcpy(&value, &bits, 4);
  return value;
}
