/// Fibers of one threadgroup on one core: who runs next, and the rendezvous of simdgroups and threadgroups.
///
/// A thread that has not begun runs on the stack of one that has just returned, so a kernel without
/// rendezvous never switches stacks. Fibers of a simdgroup are preferred to others: they finish an operation
/// while their stacks are in cache.
#include "divergence.h"
#include "fiber.h"
#include "worker.h"

namespace metalsim {

__thread Thread* current_thread;
__thread Threadgroup* current_group;
__thread Worker* current_worker;

namespace {

void thread_main();

/// Stacks are a power of two apart, so equal depths would share cache sets: thread `index` begins a little
/// lower.
size_t stack_colour(uint32_t index) { return size_t(index % 61) * 128; }

/// Lanes may have left an earlier threadgroup after different numbers of exchanges.
inline void begin_thread(Thread& thread) {
  thread.parity = 0;
  thread.passed = 0;
  thread.elements_shared = false;
}

__attribute__((noinline)) void begin_stack(Thread& thread) {
  begin_thread(thread);
  thread.stack_pointer =
      fresh_stack(thread.stack + stack_bytes - 64 - stack_colour(thread.index), thread_main);
}

__attribute__((always_inline)) inline void switch_to(void** save, Thread& next) {
  Simdgroup& simdgroup = *next.simdgroup;
  const uint32_t bit = 1u << next.lane;
  if (__builtin_expect(simdgroup.fresh & bit, 0)) {
    simdgroup.fresh &= ~bit;
    begin_stack(next);
  }
  current_thread = &next;
  switch_fiber(save, next.stack_pointer);
}

/// The next thread that can run, or null. Lanes of the current simdgroup come first, then simdgroups in turn.
inline Thread* next_runnable(Worker& worker, const Thread& now) {
  Simdgroup* own = now.simdgroup;
  if (__builtin_expect(worker.order == Order::ascending, 1)) {
    if (own->runnable) {
      const uint32_t after = own->runnable & (0xfffffffeu << now.lane);
      return &worker.threads[own->first + __builtin_ctz(after ? after : own->runnable)];
    }
    Simdgroup* const end = worker.simdgroups + (worker.group.count + simd_width - 1) / simd_width;
    for (Simdgroup* s = own + 1; s < end; ++s)
      if (s->runnable) return &worker.threads[s->first + __builtin_ctz(s->runnable)];
    for (Simdgroup* s = worker.simdgroups; s < own; ++s)
      if (s->runnable) return &worker.threads[s->first + __builtin_ctz(s->runnable)];
    return nullptr;
  }
  uint32_t mask = 0;
  const uint32_t simdgroups = (worker.group.count + simd_width - 1) / simd_width;
  for (uint32_t s = 0; s < simdgroups; ++s) mask |= uint32_t(worker.simdgroups[s].runnable != 0) << s;
  if (!mask) return nullptr;
  const uint32_t own_index = uint32_t(own - worker.simdgroups);
  const bool stay = worker.order == Order::descending && own->runnable;
  const uint32_t s = stay ? own_index : pick_bit(worker, mask, own_index);
  const Simdgroup& simdgroup = worker.simdgroups[s];
  return &worker.threads[simdgroup.first + pick_bit(worker, simdgroup.runnable, now.lane)];
}

[[noreturn]] void to_scheduler(Threadgroup& group) {
  void* dropped;
  current_thread = nullptr;
  switch_fiber(&dropped, group.scheduler_stack_pointer);
  __builtin_unreachable();
}

/// Gives the core to another fiber until this thread is made runnable again.
__attribute__((always_inline)) inline void wait(Worker& worker, Thread& thread) {
  Thread* next = next_runnable(worker, thread);
  if (__builtin_expect(!next, 0)) report_deadlock(worker.group, thread);
  switch_to(&thread.stack_pointer, *next);
}

/// Before a lane waits for others: it must have passed what they have.
inline void check_passed(const Threadgroup& group, const Thread& thread, const Simdgroup& simdgroup) {
  if (__builtin_expect(thread.passed != simdgroup.passed, 0)) report_missed_operation(group, thread);
}

inline void release_simdgroup(Simdgroup& simdgroup) {
  simdgroup.met = simdgroup.passed;
  simdgroup.runnable |= simdgroup.waits_simd;
  simdgroup.waits_simd = 0;
}

void release_group(Threadgroup& group, uint32_t flags) {
  const uint32_t device = flags & fence_device ? 1 : 0, memory = flags & fence_threadgroup ? 1 : 0;
  group.arrived = 0;
  group.counts.threadgroup_barriers++;
  group.fences.device += device;
  group.fences.threadgroup += memory;
  for (uint32_t s = 0; s * simd_width < group.count; ++s) {
    Simdgroup& simdgroup = group.simdgroups[s];
    simdgroup.runnable |= simdgroup.waits_group;
    simdgroup.waits_group = 0;
    simdgroup.met = simdgroup.passed;
    simdgroup.fences.device += device;
    simdgroup.fences.threadgroup += memory;
  }
}

/// A thread has returned: others may have waited for it only.
inline void retire(Threadgroup& group, Thread& thread) {
  Simdgroup& simdgroup = *thread.simdgroup;
  const uint32_t bit = 1u << thread.lane;
  simdgroup.live_mask &= ~bit;
  simdgroup.runnable &= ~bit;
  group.live--;
  for (uint32_t n = thread.passed; __builtin_expect(n != simdgroup.passed, 0); ++n)
    if (simdgroup.passed_at[n % pass_window].use == SimdUse::matrix) report_missed_operation(group, thread);
  if (__builtin_expect(group.checked && group.arrived > 0, 0)) report_return_before_barrier(group, thread);
  if (simdgroup.waits_simd && simdgroup.waits_simd == simdgroup.live_mask) {
    // All that are left have met, but none of them was the last to arrive: one goes first, as if it were.
    simdgroup.leader_after_return = simdgroup.waits_simd & -simdgroup.waits_simd;
    simdgroup.runnable |= simdgroup.leader_after_return;
  }
  if (group.arrived && group.arrived == group.live) release_group(group, fence_device | fence_threadgroup);
}

/// Runs threads on this stack, one after another, until one that has begun elsewhere is next.
void thread_main() {
  Worker& worker = *current_worker;
  Threadgroup& group = worker.group;
  for (;;) {
    worker.run();
    Thread& thread = *current_thread;
    retire(group, thread);
    if (group.live == 0) to_scheduler(group);
    Thread* next = next_runnable(worker, thread);
    if (__builtin_expect(!next, 0)) report_deadlock(group, thread);
    Simdgroup& simdgroup = *next->simdgroup;
    const uint32_t bit = 1u << next->lane;
    if (simdgroup.fresh & bit) {
      simdgroup.fresh &= ~bit;
      unsigned char* stack = next->stack;
      next->stack = thread.stack;
      thread.stack = stack;
      begin_thread(*next);
      current_thread = next;
      continue;
    }
    void* dropped;
    switch_to(&dropped, *next);
    __builtin_unreachable();
  }
}

}  // namespace

void abandon_group() {
  current_group->failed = true;
  to_scheduler(*current_group);
}

bool simd_meet(SourceLocation at, SimdUse use) {
  Thread& thread = *current_thread;
  Simdgroup& simdgroup = *thread.simdgroup;
  const uint32_t bit = 1u << thread.lane;
  thread.at = at;
  check_passed(*current_group, thread, simdgroup);
  if (simdgroup.waits_simd == 0) {
    simdgroup.at = at;
    if (__builtin_expect(use == SimdUse::matrix && simdgroup.live_mask != 0xffffffffu, 0))
      report_partial_matrix(*current_group, thread);
  } else if (__builtin_expect(simdgroup.at.line != at.line || simdgroup.at.column != at.column, 0)) {
    report_simd_divergence(*current_group, thread);
  }
  simdgroup.waits_simd |= bit;
  if (simdgroup.waits_simd != simdgroup.live_mask) {
    simdgroup.runnable &= ~bit;
    wait(*current_worker, thread);
    if (__builtin_expect(simdgroup.leader_after_return != bit, 1)) return false;
    simdgroup.leader_after_return = 0;
  }
  release_simdgroup(simdgroup);
  if (use == SimdUse::operation) current_group->counts.simd_operations++;
  return true;  // no other lane has resumed, so this one computes for all
}

void simd_pass(SourceLocation at, SimdUse use) {
  Threadgroup& group = *current_group;
  Thread& thread = *current_thread;
  Simdgroup& simdgroup = *thread.simdgroup;
  if (__builtin_expect(thread.passed - simdgroup.met == pass_window, 0)) {
    if (simd_meet(at, use) && use == SimdUse::barrier) group.counts.simdgroup_barriers++;
    return;
  }
  PassedOperation& operation = simdgroup.passed_at[thread.passed % pass_window];
  if (thread.passed == simdgroup.passed) {
    thread.at = at;
    if (__builtin_expect(simdgroup.waits_simd != 0, 0)) report_simd_divergence(group, thread);
    if (__builtin_expect(simdgroup.waits_group != 0, 0)) {
      simdgroup.waits_simd |= 1u << thread.lane;
      report_deadlock(group, thread);
    }
    if (__builtin_expect(use == SimdUse::matrix && simdgroup.live_mask != 0xffffffffu, 0))
      report_partial_matrix(group, thread);
    operation = {at, use};
    ++simdgroup.passed;
    if (use == SimdUse::barrier) group.counts.simdgroup_barriers++;
  } else if (__builtin_expect(operation.at.line != at.line || operation.at.column != at.column, 0)) {
    thread.at = at;
    report_missed_operation(group, thread);
  }
  ++thread.passed;
}

void simdgroup_fence(uint32_t flags, SourceLocation at) {
  if (!simd_meet(at, SimdUse::barrier)) return;
  FenceCounts& fences = current_thread->simdgroup->fences;
  fences.device += flags & fence_device ? 1 : 0;
  fences.threadgroup += flags & fence_threadgroup ? 1 : 0;
  current_group->counts.simdgroup_barriers++;
}

void threadgroup_fence(uint32_t flags, SourceLocation at) {
  Threadgroup& group = *current_group;
  Thread& thread = *current_thread;
  thread.at = at;
  check_passed(group, thread, *thread.simdgroup);
  if (group.arrived == 0) {
    group.at = at;
  } else if (__builtin_expect(group.at.line != at.line || group.at.column != at.column, 0)) {
    report_barrier_divergence(group, thread);
  }
  if (__builtin_expect(group.checked && group.live < group.count, 0)) report_missing_threads(group, thread);
  if (++group.arrived == group.live) {
    release_group(group, flags);
    return;
  }
  Simdgroup& simdgroup = *thread.simdgroup;
  const uint32_t bit = 1u << thread.lane;
  simdgroup.waits_group |= bit;
  simdgroup.runnable &= ~bit;
  wait(*current_worker, thread);
}

/// Starts the fibers of a threadgroup whose state is set up, and returns when all have returned.
void run_fibers(Worker& worker) {
  Threadgroup& group = worker.group;
  const uint32_t simdgroups = (group.count + simd_width - 1) / simd_width;
  const uint32_t last = simdgroups - 1;
  const uint32_t s = worker.order == Order::ascending ? 0 : pick_bit(worker, 0xffffffffu >> (31 - last), 0);
  const Simdgroup& simdgroup = worker.simdgroups[s];
  const uint32_t lane = worker.order == Order::ascending ? 0 : pick_bit(worker, simdgroup.runnable, 0);
  switch_to(&group.scheduler_stack_pointer, worker.threads[simdgroup.first + lane]);
}

}  // namespace metalsim
