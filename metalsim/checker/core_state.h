/// The checker's state on one core.
#pragma once
#include "../runtime/worker.h"
#include "access_patterns.h"
#include "memory_record.h"
#include "shadow.h"

namespace metalsim {

/// A range of device memory that the kernel in hand may touch.
struct BoundRange {
  uintptr_t begin = 0;
  size_t bytes = 0;
  uint32_t index = 0;     ///< of the buffer parameter
  bool writable = false;  ///< the parameter is not const
  bool constant_bytes = false;
  bool only_bounds = false;  ///< nothing is kept about accesses: their bounds are all there is to check
  Memory* memory = nullptr;
  size_t memory_offset = 0;
};

/// A threadgroup argument or array of the kernel's body.
struct ArrayRange {
  uint32_t begin = 0, bytes = 0;
  bool argument = false;
  uint32_t id = 0;
};

struct ByteCounts {
  double uncoalesced = 0, bank_conflicts = 0;  ///< estimates
  uint64_t device_read = 0, device_written = 0, constant_read = 0, threadgroup_read = 0,
           threadgroup_written = 0;
};

struct CoreState {
  bool shared = false;  ///< several cores run this dispatch
  bool count = false;   ///< statistics are on

  BoundRange bound[max_buffers];
  uint32_t bound_count = 0;
  /// Where an access of this code (by the low bits of its site) was found last: code keeps to one buffer
  /// mostly.
  uint8_t bound_of_site[256] = {};

  ArrayRange arrays[max_threadgroup_arguments + max_static_arrays];
  uint32_t array_count = 0, last_array = 0;

  Shadow threadgroup_shadow{threadgroup_memory_reserved};
  uint32_t threadgroup_generation = 0;

  Region device_region;  ///< of the dispatch in hand
  uint32_t dispatch = 0;
  ByteCounts bytes;
  AccessPatterns patterns;
};

CoreState& this_core();

/// The part common to all cores of the dispatch in hand.
struct DispatchState {
  Region region;
  bool count = false, unsigned_overflow = false;
  ByteCounts bytes;  ///< sum over cores
  const Dispatch* dispatch = nullptr;
};
DispatchState& dispatch_state();

}  // namespace metalsim
