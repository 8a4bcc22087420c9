#include "defects.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "../runtime/reports.h"
#include "dispatch_log.h"
#include "location_table.h"
#include "symbolizer.h"

namespace metalsim {

namespace {

/// What makes two defects the same before their lines are known: looking lines up is slow.
struct DefectKey {
  ReportKind kind;
  const Kernel* kernel;
  uint64_t here, other;
  bool operator==(const DefectKey& b) const {
    return kind == b.kind && kernel == b.kernel && here == b.here && other == b.other;
  }
};
struct DefectHash {
  size_t operator()(const DefectKey& key) const {
    return (key.here * 31 + key.other) * 0x9e3779b97f4a7c15u + size_t(key.kind) + size_t(key.kernel);
  }
};

struct Known {
  std::mutex mutex;
  std::unordered_map<DefectKey, ReportId, DefectHash> defects;
};
Known& known() {
  static Known& known = *new Known;
  return known;
}

uint64_t packed(const Site& site) { return uint64_t(site.located) << 32 | site.number; }

void set_line(ReportPlace& place, const Site& site) {
  if (site.located) {
    const SourceLocation at = location_of(site.number);
    place.file = at.file ? at.file : "";
    place.line = at.line;
    return;
  }
  const uintptr_t code = code_from_low_half(site.number);
  if (!code) return;
  const SourceLine source = line_of_code(code - 1);  // the address is of the instruction after the call
  place.file = source.file;
  place.line = source.line;
}

ReportPlace place_here(const Site& site) {
  ReportPlace place;
  set_line(place, site);
  for (int i = 0; i < 3; ++i) place.group[i] = current_group->position[i];
  place.thread = current_thread->index;
  return place;
}

ReportPlace place_there(const AccessRecord& other, const uint32_t groups[3]) {
  ReportPlace place;
  set_line(place, {other.site, other.located});
  const uint32_t index = Who::group(other.who);
  place.group[0] = index % groups[0];
  place.group[1] = index / groups[0] % groups[1];
  place.group[2] = index / groups[0] / groups[1];
  place.thread = Who::thread(other.who);
  return place;
}

/// Reports what `fill` describes, unless it is known. `other`: the site of the earlier access, or none.
template <class Fill>
void report_once_of(const Kernel* kernel, ReportKind kind, const Site& here, const Site& other, Fill&& fill) {
  const DefectKey key{kind, kernel, packed(here), packed(other)};
  std::lock_guard lock(known().mutex);
  auto at = known().defects.find(key);
  if (at != known().defects.end() && repeat_report(at->second)) return;
  Report report{};
  report.kind = kind;
  report.kernel = kernel->name;
  fill(report);
  known().defects[key] = add_report(std::move(report));
}

/// The same, of the thread that runs.
template <class Fill>
void report_once(ReportKind kind, const Site& here, const Site& other, Fill&& fill) {
  report_once_of(current_group->dispatch->kernel, kind, here, other, [&](Report& report) {
    report.place = place_here(here);
    fill(report);
  });
}

const char* verb(bool write, bool atomic = false) {
  if (atomic) return write ? "atomic update" : "atomic load";
  return write ? "write" : "read";
}

std::string bytes_text(size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string array_name(const ArrayRange& array) {
  if (array.argument) return "threadgroup argument " + std::to_string(array.id);
  return "threadgroup array " + std::to_string(array.id) + " of the kernel's file";
}

const ArrayRange* nearest_array(const CoreState& core, uint32_t offset) {
  const ArrayRange* nearest = nullptr;
  for (uint32_t i = 0; i < core.array_count; ++i)
    if (!nearest || (core.arrays[i].begin <= offset && core.arrays[i].begin > nearest->begin))
      nearest = &core.arrays[i];
  return nearest;
}

/// What lies between two unordered accesses of one threadgroup, and what should.
std::string fence_hint(const AccessRecord& now, const AccessRecord& other, Relation how, bool device) {
  const std::string flag = device ? "mem_flags::mem_device" : "mem_flags::mem_threadgroup";
  if (now.barriers != other.barriers)
    return "a threadgroup_barrier lies between, but it does not order this memory: give it " + flag;
  if (how == Relation::same_simdgroup)
    return "put a simdgroup_barrier(" + flag + ") between the two: lanes do not run in step by themselves";
  return "put a threadgroup_barrier(" + flag + ") between the two";
}

std::string conflict_text(const Access& access, const AccessRecord& other, const char* where,
                          bool other_write) {
  return std::string(verb(access.write, access.atomic)) + " of " + bytes_text(access.bytes) + " " + where +
         ", after " + (other.atomic ? "an " : "a ") + verb(other_write, other.atomic) + " by another thread";
}

}  // namespace

void report_threadgroup_bounds(const CoreState& core, const Access& access, uint32_t offset) {
  report_once(ReportKind::threadgroup_out_of_bounds, access.site, {}, [&](Report& report) {
    report.message = std::string(verb(access.write)) + " of " + bytes_text(access.bytes);
    if (const ArrayRange* array = nearest_array(core, offset)) {
      report.label = array_name(*array);
      report.offset = int64_t(offset) - array->begin;
      report.message += " at offset " + std::to_string(report.offset) + " of " + array_name(*array) +
                        ", which has " + bytes_text(array->bytes);
    } else {
      report.message += " of threadgroup memory, of which the kernel has none";
    }
    report.hint =
        "check the index against the length given to setThreadgroupMemoryLength or declared in the kernel";
  });
  abandon_group();
}

void report_outside(const CoreState& core, const Access& access) {
  if (!access.write && in_loaded_module(access.address, access.bytes)) return;
  const BoundRange* nearest = nullptr;
  int64_t best = 0;
  for (uint32_t i = 0; i < core.bound_count; ++i) {
    const BoundRange& range = core.bound[i];
    const int64_t after = int64_t(access.address - range.begin);
    const int64_t gap = after < 0 ? -after : std::max<int64_t>(0, after - int64_t(range.bytes));
    if (!nearest || gap < best) {
      nearest = &range;
      best = gap;
    }
  }
  const bool inside =
      nearest && best == 0 && access.address + access.bytes <= nearest->begin + nearest->bytes;
  const ReportKind kind = inside ? ReportKind::read_only_write : ReportKind::device_out_of_bounds;
  report_once(kind, access.site, {}, [&](Report& report) {
    report.message = std::string(verb(access.write, access.atomic)) + " of " + bytes_text(access.bytes);
    if (!nearest || best > int64_t(1) << 32) {
      report.message += " far from every bound buffer";
      report.hint = "the pointer was not derived from a buffer parameter, or its offset is wild";
      return;
    }
    report.offset = int64_t(access.address - nearest->begin);
    size_t in_memory = nearest->memory_offset;
    report.label = nearest->memory ? nearest->memory->name_at(in_memory) : "bytes given by setBytes";
    const std::string buffer = "buffer(" + std::to_string(nearest->index) + ")";
    if (inside) {
      report.message += " to " + buffer + ", which the kernel declares const or constant";
      report.hint = "declare the parameter `device T*`, or write elsewhere";
    } else {
      report.message += " at offset " + std::to_string(report.offset) + " of " + buffer + ", which has " +
                        bytes_text(nearest->bytes);
      report.hint = "check the index against the size of the data; guard surplus threads";
    }
  });
  abandon_group();
}

void report_misaligned(const CoreState&, const Access& access) {
  report_once(ReportKind::misaligned, access.site, {}, [&](Report& report) {
    report.message = std::string(verb(access.write)) + " of " + bytes_text(access.bytes) +
                     " at an address that is not a " + "multiple of " + std::to_string(access.alignment);
    report.hint =
        "a GPU loads vectors at multiples of their size only: align the data, or use packed types or scalars";
  });
}

void report_uninitialised_threadgroup(const CoreState& core, const Access& access, uint32_t offset) {
  report_once(ReportKind::uninitialised_threadgroup, access.site, {}, [&](Report& report) {
    if (const ArrayRange* array = nearest_array(core, offset)) {
      report.label = array_name(*array);
      report.offset = int64_t(offset) - array->begin;
    }
    report.message = "read of " + bytes_text(access.bytes) +
                     " of threadgroup memory that no thread of this threadgroup wrote";
    report.hint = "threadgroup memory has no initial value: write it, then put a barrier before the read";
  });
}

void report_uninitialised_device(const CoreState&, const Access& access, Memory& memory, size_t offset) {
  report_once(ReportKind::uninitialised_device, access.site, {}, [&](Report& report) {
    report.label = memory.name_at(offset);
    report.offset = int64_t(offset);
    report.message =
        "read of " + bytes_text(access.bytes) + " of device memory that neither host nor kernel wrote";
    report.hint = "a new buffer has no contents: fill it, or let an earlier dispatch write all of it";
  });
}

void report_threadgroup_race(const CoreState& core, const Access& access, const AccessRecord& now,
                             const AccessRecord& other, Relation how, uint32_t offset) {
  report_once(ReportKind::threadgroup_race, access.site, {other.site, other.located}, [&](Report& report) {
    if (const ArrayRange* array = nearest_array(core, offset)) {
      report.label = array_name(*array);
      report.offset = int64_t(offset) - array->begin;
    }
    const uint32_t one[3] = {1, 1, 1};
    report.other = place_there(other, one);
    for (int i = 0; i < 3; ++i) report.other.group[i] = report.place.group[i];
    const Cell* cell = core.threadgroup_shadow.find(offset);
    report.message = conflict_text(access, other, "of threadgroup memory", cell && &cell->write == &other) +
                     " with no barrier between";
    report.hint = fence_hint(now, other, how, false);
  });
}

void report_device_race(const CoreState&, const Access& access, const AccessRecord& now,
                        const AccessRecord& other, Relation how, Memory& memory, size_t offset) {
  const ReportKind kind = how == Relation::same_region     ? ReportKind::missing_barrier
                          : how == Relation::same_dispatch ? ReportKind::cross_group_race
                                                           : ReportKind::device_race;
  report_once(kind, access.site, {other.site, other.located}, [&](Report& report) {
    const Cell* cell = memory.shadow->find(offset);
    const bool other_write = cell && &cell->write == &other;
    const LoggedDispatch* dispatch = logged_dispatch(Who::dispatch(other.who));
    report.other = place_there(other, dispatch ? dispatch->groups : current_group->dispatch->groups);
    report.label = memory.name_at(offset);
    report.offset = int64_t(offset);
    report.message = conflict_text(access, other, "of device memory", other_write);
    if (how == Relation::same_region) {
      report.message += std::string(", of the earlier dispatch of ") +
                        (dispatch ? dispatch->kernel : "a kernel") + " in the same concurrent encoder";
      report.hint = "put a memoryBarrier(BarrierScopeBuffers) between the two dispatches, or end the encoder";
    } else if (how == Relation::same_dispatch) {
      report.message += " of another threadgroup";
      report.hint =
          "threadgroups of one dispatch run in any order: give each its own part, use atomics for both "
          "accesses, or split the work into two dispatches";
    } else {
      report.message += " with no barrier between";
      report.hint = fence_hint(now, other, how, true);
    }
  });
}

void report_division(const std::string& message, uintptr_t code) {
  report_arithmetic(ReportKind::arithmetic_overflow, message, "guard the divisor", code);
  if (current_thread) abandon_group();
}

void report_arithmetic(ReportKind kind, const std::string& message, const std::string& hint, uintptr_t code) {
  if (!current_thread) return;
  report_once(kind, {uint32_t(code), false}, {}, [&](Report& report) {
    report.message = message;
    report.hint = hint;
  });
}

void report_not_finite(const Dispatch& dispatch, const AccessRecord& write, Memory& memory, size_t offset) {
  report_once_of(
      dispatch.kernel, ReportKind::not_finite, {write.site, write.located}, {}, [&](Report& report) {
        report.place = place_there(write, dispatch.groups);
        report.label = memory.name_at(offset);
        report.offset = int64_t(offset);
        report.message = "a NaN or infinity was written";
        report.hint =
            "look at the inputs of this line: an overflow of half, a division by zero, exp of a large number";
      });
}

void report_order_dependence(const Dispatch& dispatch, const Binding& binding, size_t offset,
                             const char* order) {
  Memory& memory = *static_cast<Memory*>(binding.memory);
  size_t in_memory = binding.memory_offset + offset;
  const Cell* cell = memory.shadow ? memory.shadow->find(in_memory) : nullptr;
  const AccessRecord write = cell ? cell->write : AccessRecord{};
  report_once_of(dispatch.kernel, ReportKind::order_dependence, {write.site, write.located}, {},
                 [&](Report& report) {
                   report.place = place_there(write, dispatch.groups);
                   report.label = memory.name_at(in_memory);
                   report.offset = int64_t(in_memory);
                   report.message = std::string("the value written here differs between ascending and ") +
                                    order + " order of lanes and threadgroups";
                   report.hint =
                       "a GPU promises no order: find what this value takes from another thread without a "
                       "barrier, or from "
                       "an atomic's old value; sums by atomic floating-point addition differ by rounding";
                 });
}

}  // namespace metalsim
