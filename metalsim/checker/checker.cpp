#include "checker.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "access.h"
#include "core_state.h"
#include "dispatch_log.h"
#include "finite_check.h"

namespace metalsim {

namespace {

constexpr size_t log_size = 4096;
LoggedDispatch dispatch_log[log_size];

std::mutex bytes_mutex;

void add_bytes(ByteCounts& to, const ByteCounts& from) {
  to.uncoalesced += from.uncoalesced;
  to.bank_conflicts += from.bank_conflicts;
  to.device_read += from.device_read;
  to.device_written += from.device_written;
  to.constant_read += from.constant_read;
  to.threadgroup_read += from.threadgroup_read;
  to.threadgroup_written += from.threadgroup_written;
}

void bind_ranges(CoreState& core, const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  core.bound_count = 0;
  core.bound[0] = {};
  std::fill(std::begin(core.bound_of_site), std::end(core.bound_of_site), uint8_t(0));
  for (uint32_t i = 0; i < max_buffers; ++i) {
    const Binding& binding = dispatch.buffers[i];
    if (!(kernel.buffers >> i & 1) || !binding.data) continue;
    BoundRange& range = core.bound[core.bound_count++];
    range.begin = uintptr_t(binding.data);
    range.bytes = binding.bytes;
    range.index = i;
    range.constant_bytes = binding.constant_bytes;
    range.writable = (kernel.writable >> i & 1) && !binding.constant_bytes;
    range.memory = static_cast<Memory*>(binding.memory);
    range.memory_offset = binding.memory_offset;
    const Memory* memory = range.memory;
    range.only_bounds = !memory || (!memory->shadow && memory->all_written && !core.count);
  }
}

template <class Visit>
void for_memories(const Dispatch& dispatch, Visit&& visit) {
  std::vector<Memory*> seen;  // a buffer may be bound twice
  for (const Binding& binding : dispatch.buffers) {
    Memory* memory = static_cast<Memory*>(binding.memory);
    if (!memory || std::find(seen.begin(), seen.end(), memory) != seen.end()) continue;
    seen.push_back(memory);
    visit(*memory);
  }
}

}  // namespace

void log_dispatch(const LoggedDispatch& dispatch) { dispatch_log[dispatch.number % log_size] = dispatch; }

const LoggedDispatch* logged_dispatch(uint32_t number) {
  const LoggedDispatch& logged = dispatch_log[number % log_size];
  return logged.kernel && logged.number == number ? &logged : nullptr;
}

CoreState& this_core() {
  CoreState*& core = this_worker().checker;
  if (!core) core = new CoreState;  // as the worker: kept until the program ends
  return *core;
}

DispatchState& dispatch_state() {
  static DispatchState state;
  return state;
}

void checker_begin_dispatch(Dispatch& dispatch, const Options& options) {
  DispatchState& state = dispatch_state();
  state = {};
  state.count = options.statistics;
  state.unsigned_overflow = options.unsigned_overflow;
  state.dispatch = &dispatch;
  checker_begin_pass(dispatch, dispatch.number);
  if (!state.count) return;
  for_memories(dispatch, [](Memory& memory) {
    if (!memory.read_now) memory.read_now = std::make_unique<ByteSet>(memory.bytes);
    if (!memory.written_now) memory.written_now = std::make_unique<ByteSet>(memory.bytes);
  });
}

void checker_begin_pass(Dispatch& dispatch, uint32_t first_pass) {
  const uint32_t mask = Who::dispatch_mask;
  dispatch_state().region = {dispatch.region_first & mask, first_pass & mask};
  LoggedDispatch logged{dispatch.number & mask, dispatch.kernel->name, {1, 1, 1}};
  std::copy(dispatch.groups, dispatch.groups + 3, logged.groups);
  log_dispatch(logged);
}

void checker_end_dispatch(Dispatch& dispatch, const Options& options, KernelCounters& counters) {
  DispatchState& state = dispatch_state();
  if (options.check_finite) check_finite_results(dispatch);
  if (!state.count) return;
  counters.device_bytes_read = state.bytes.device_read;
  counters.device_bytes_written = state.bytes.device_written;
  counters.constant_bytes_read = state.bytes.constant_read;
  counters.threadgroup_bytes_read = state.bytes.threadgroup_read;
  counters.threadgroup_bytes_written = state.bytes.threadgroup_written;
  counters.uncoalesced_estimate = uint64_t(state.bytes.uncoalesced + 0.5);
  counters.bank_conflicts_estimate = uint64_t(state.bytes.bank_conflicts + 0.5);
  for_memories(dispatch, [&](Memory& memory) {
    counters.device_bytes_read_distinct += memory.read_now->take_count();
    counters.device_bytes_written_distinct += memory.written_now->take_count();
  });
}

void checker_begin_core(Dispatch& dispatch, bool shared) {
  CoreState& core = this_core();
  core.shared = shared;
  core.count = dispatch_state().count;
  core.device_region = dispatch_state().region;
  core.dispatch = dispatch.number;
  core.bytes = {};
  bind_ranges(core, dispatch);
}

void checker_end_core() {
  CoreState& core = this_core();
  core.patterns.end_group();
  core.bytes.uncoalesced = core.patterns.take_uncoalesced();
  core.bytes.bank_conflicts = core.patterns.take_bank_conflicts();
  std::lock_guard lock(bytes_mutex);
  add_bytes(dispatch_state().bytes, core.bytes);
}

void checker_begin_group(Threadgroup& group) {
  CoreState& core = this_core();
  if (++core.threadgroup_generation >
      Who::dispatch_mask) {  // the count begins anew: forget what carries old numbers
    core.threadgroup_shadow.clear();
    core.threadgroup_generation = 1;
  }
  core.patterns.end_group();
  core.array_count = core.last_array = 0;
  const Dispatch& dispatch = *group.dispatch;
  for (uint32_t i = 0; i < max_threadgroup_arguments; ++i)
    if (dispatch.kernel->threadgroup_arguments >> i & 1)
      core.arrays[core.array_count++] = {group.argument_offset[i], dispatch.threadgroup_bytes[i], true, i};
}

void checker_add_array(Threadgroup&, uint32_t id, uint32_t offset, uint32_t bytes) {
  CoreState& core = this_core();
  core.arrays[core.array_count++] = {offset, bytes, false, id};
}

void note_access(const void* address, size_t bytes, AccessKind kind, size_t alignment, SourceLocation at) {
  Access access{};
  access.address = uintptr_t(address);
  access.bytes = bytes;
  access.alignment = alignment;
  access.write =
      kind == AccessKind::write || kind == AccessKind::atomic_write || kind == AccessKind::collective_write;
  access.atomic = kind == AccessKind::atomic_read || kind == AccessKind::atomic_write;
  access.collective = kind == AccessKind::collective_read || kind == AccessKind::collective_write;
  access.site = site_of(at);
  check_access(access);
}

}  // namespace metalsim
