#include "access.h"

#include "core_state.h"
#include "defects.h"

namespace metalsim {

namespace {

AccessRecord record_of(const Access& access, uint64_t who, const FenceCounts& group,
                       const FenceCounts& simdgroup, uint64_t barriers, bool device) {
  AccessRecord record;
  record.who = access.collective ? (who & ~uint64_t(31)) | Who::collective : who;
  record.site = access.site.number;
  record.located = access.site.located;
  record.atomic = access.atomic;
  record.group_fences = device ? group.device : group.threadgroup;
  record.simd_fences = device ? simdgroup.device : simdgroup.threadgroup;
  record.barriers = uint16_t(barriers);
  return record;
}

/// Compares with the granule's history and becomes part of it. Returns the conflicting access, or null.
inline const AccessRecord* touch(Cell& cell, const AccessRecord& now, bool write, const Region& region,
                                 Relation& how) {
  how = relation(cell.write, now, region);
  const AccessRecord* conflict = how == Relation::ordered ? nullptr : &cell.write;
  if (!write) {
    if (cell.readers[0].who != now.who || cell.readers[0].simd_fences != now.simd_fences)
      add_reader(cell, now, region);
    return conflict;
  }
  for (int i = 0; i < 2 && !conflict; ++i) {
    how = relation(cell.readers[i], now, region);
    if (how != Relation::ordered) conflict = &cell.readers[i];
  }
  return conflict;
}

inline void remember_write(Cell& cell, const AccessRecord& now) {
  cell.write = now;
  cell.readers[0].who = cell.readers[1].who = 0;
}

__attribute__((noinline)) void check_threadgroup(CoreState& core, const Threadgroup& group,
                                                 const Thread& thread, const Access& access) {
  const uint32_t offset = uint32_t(access.address - uintptr_t(group.memory));
  const auto holds = [&](const ArrayRange& range) {
    return offset - range.begin < range.bytes && offset - range.begin + access.bytes <= range.bytes;
  };
  if (!(core.last_array < core.array_count && holds(core.arrays[core.last_array]))) {
    uint32_t i = 0;
    while (i < core.array_count && !holds(core.arrays[i])) ++i;
    if (i == core.array_count) report_threadgroup_bounds(core, access, offset);
    core.last_array = i;
  }
  (access.write ? core.bytes.threadgroup_written : core.bytes.threadgroup_read) += access.bytes;
  if (core.count && !access.collective)
    core.patterns.add(access.site.number, thread.index, false, offset, uint32_t(access.bytes));
  const uint64_t who = Who::make(core.threadgroup_generation, 0, thread.index);
  const AccessRecord now = record_of(access, who, group.fences, thread.simdgroup->fences,
                                     group.counts.threadgroup_barriers, false);
  const Region region{core.threadgroup_generation, core.threadgroup_generation};
  core.threadgroup_shadow.visit(offset, access.bytes, false, [&](Cell& cell, size_t at, size_t) {
    Relation how;
    if (!access.write && Who::dispatch(cell.write.who) != core.threadgroup_generation) {
      report_uninitialised_threadgroup(core, access, uint32_t(at));
      add_reader(cell, now, region);
      return true;
    }
    if (const AccessRecord* other = touch(cell, now, access.write, region, how))
      report_threadgroup_race(core, access, now, *other, how, uint32_t(at));
    if (access.write) remember_write(cell, now);
    return true;
  });
}

__attribute__((noinline)) void check_device(CoreState& core, const Threadgroup& group, const Thread& thread,
                                            const Access& access, const BoundRange& range) {
  Memory& memory = *range.memory;
  const size_t offset = range.memory_offset + (access.address - range.begin);
  if (!memory.all_written.load(std::memory_order_relaxed)) {
    if (access.write)
      memory.written->add(offset, access.bytes);
    else if (!memory.written->has_all(offset, access.bytes))
      report_uninitialised_device(core, access, memory, offset);
  }
  if (core.count) {
    (access.write ? memory.written_now : memory.read_now)->add(offset, access.bytes);
    if (!access.collective)
      core.patterns.add(access.site.number, thread.index, true, offset, uint32_t(access.bytes));
  }
  if (!memory.shadow) return;
  const uint64_t who = Who::make(core.dispatch, group.index, thread.index);
  const AccessRecord now =
      record_of(access, who, group.fences, thread.simdgroup->fences, group.counts.threadgroup_barriers, true);
  Region region = core.device_region;
  if (region.first < memory.ordered_before) region.first = memory.ordered_before;
  memory.shadow->visit(offset, access.bytes, core.shared, [&](Cell& cell, size_t at, size_t) {
    Relation how;
    if (const AccessRecord* other = touch(cell, now, access.write, region, how))
      report_device_race(core, access, now, *other, how, memory, at);
    if (access.write) remember_write(cell, now);
    return true;
  });
}

/// The bound range that holds the access, or null. A write prefers a writable one: the same bytes may be
/// bound twice.
inline const BoundRange* find_bound(CoreState& core, const Access& access) {
  const auto holds = [&](const BoundRange& range) {
    return access.address - range.begin < range.bytes &&
           access.address - range.begin + access.bytes <= range.bytes && (range.writable || !access.write);
  };
  uint8_t& guess = core.bound_of_site[access.site.number % 256];
  if (guess < core.bound_count && holds(core.bound[guess])) return &core.bound[guess];
  for (uint32_t i = 0; i < core.bound_count; ++i)
    if (holds(core.bound[i])) {
      guess = uint8_t(i);
      return &core.bound[i];
    }
  return nullptr;
}

}  // namespace

void check_access(const Access& access) {
  Thread* thread = current_thread;
  if (!thread || access.address - uintptr_t(thread->stack) < stack_bytes)
    return;  // the thread's own variables
  Worker& worker = *current_worker;
  const Threadgroup& group = worker.group;
  CoreState& core = *worker.checker;
  if (__builtin_expect((access.address & (access.alignment - 1)) != 0, 0)) report_misaligned(core, access);
  if (access.address - uintptr_t(group.memory) < threadgroup_memory_reserved)
    return check_threadgroup(core, group, *thread, access);
  const BoundRange* range = find_bound(core, access);
  if (__builtin_expect(!range, 0)) {
    // A lane's elements of a simdgroup matrix lie among lane 0's variables.
    if (thread->elements_shared && access.address - uintptr_t(worker.stacks) < stacks_bytes) return;
    return report_outside(core, access);
  }
  if (!range->memory) {
    core.bytes.constant_read += access.bytes;
    return;
  }
  (access.write ? core.bytes.device_written : core.bytes.device_read) += access.bytes;
  if (!range->only_bounds) check_device(core, group, *thread, access, *range);
}

}  // namespace metalsim
