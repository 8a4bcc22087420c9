/// Who touched a piece of memory last, and whether that is ordered with who touches it now.
///
/// The rule is Metal's: accesses of one thread are ordered; of threads of one simdgroup by a fence of that
/// memory that both passed; of threads of one threadgroup by a threadgroup fence; of different threadgroups
/// of a dispatch never; of different dispatches by a memoryBarrier or the end of an encoder. Two atomic
/// accesses never conflict.
#pragma once
#include <cstdint>

namespace metalsim {

/// Identity of a thread in one number: dispatch (25 bits), threadgroup (28), collective flag (1), thread
/// (10). For threadgroup memory the dispatch is a count of threadgroups run by the core.
struct Who {
  static constexpr int dispatch_bits = 25, group_bits = 28;
  static constexpr uint32_t dispatch_mask = (1u << dispatch_bits) - 1;
  static constexpr uint64_t collective = 1u << 10;

  static uint64_t make(uint32_t dispatch, uint32_t group, uint32_t thread) {
    return uint64_t(dispatch & dispatch_mask) << 39 | uint64_t(group & ((1u << group_bits) - 1)) << 11 |
           thread;
  }
  static uint32_t dispatch(uint64_t who) { return uint32_t(who >> 39); }
  static uint32_t group(uint64_t who) { return uint32_t(who >> 11) & ((1u << group_bits) - 1); }
  static uint32_t thread(uint64_t who) { return uint32_t(who) & 1023; }
  static bool same_group(uint64_t a, uint64_t b) { return (a ^ b) >> 11 == 0; }
  static bool same_simdgroup(uint64_t a, uint64_t b) { return ((a ^ b) & ~uint64_t(31 | collective)) == 0; }
};

/// One access. `site` is the low half of a code address, or with `located` an index of the site table.
struct AccessRecord {
  uint64_t who = 0;  ///< 0: none
  uint32_t site = 0;
  uint32_t group_fences = 0;  ///< threadgroup fences of this memory passed before
  uint32_t simd_fences = 0;   ///< those, and the simdgroup's own
  uint16_t barriers = 0;      ///< threadgroup barriers of any kind, for the hint only
  bool atomic = false;
  bool located = false;
};

/// What lies between two accesses.
enum class Relation { ordered, same_simdgroup, same_group, same_dispatch, same_region };

/// The dispatches whose accesses are not yet ordered with those of `dispatch`: first .. dispatch. Those from
/// replay_first on are earlier runs of the same dispatch (order comparison), which did not happen as far as
/// memory is concerned.
struct Region {
  uint32_t first = 0, replay_first = 0;
};

inline Relation relation(const AccessRecord& before, const AccessRecord& now, const Region& region) {
  const uint64_t difference = before.who ^ now.who;
  if (difference == 0) return Relation::ordered;
  const uint32_t dispatch = Who::dispatch(before.who);
  if (dispatch < region.first) return Relation::ordered;
  if (before.atomic && now.atomic) return Relation::ordered;
  if (dispatch != Who::dispatch(now.who))
    return dispatch >= region.replay_first ? Relation::ordered : Relation::same_region;
  if (difference >> 11) return Relation::same_dispatch;
  if (Who::same_simdgroup(before.who, now.who))
    return before.simd_fences == now.simd_fences ? Relation::same_simdgroup : Relation::ordered;
  return before.group_fences == now.group_fences ? Relation::same_group : Relation::ordered;
}

/// The history of one granule: the last write, and two readers since. Two suffice if they are as far apart as
/// any: whoever writes without order to some reader has none to one of the two either.
struct Cell {
  AccessRecord write;
  AccessRecord readers[2];
};

/// How far apart two threads are; larger is farther.
inline int distance(uint64_t a, uint64_t b) {
  if (Who::dispatch(a) != Who::dispatch(b)) return 3;
  if (!Who::same_group(a, b)) return 2;
  return Who::same_simdgroup(a, b) ? 0 : 1;
}

inline bool stale(const AccessRecord& record, const Region& region) {
  const uint32_t dispatch = Who::dispatch(record.who);
  return dispatch < region.first;
}

inline void add_reader(Cell& cell, const AccessRecord& now, const Region& region) {
  AccessRecord &a = cell.readers[0], &b = cell.readers[1];
  // Two threadgroups of this dispatch already: no writer is ordered with both. The common case of shared
  // inputs.
  if (!Who::same_group(a.who, b.who) && Who::dispatch(a.who) == Who::dispatch(now.who) &&
      Who::dispatch(b.who) == Who::dispatch(now.who))
    return;
  if (a.who == now.who || stale(a, region)) {
    a = now;
    return;
  }
  if (b.who == now.who || stale(b, region)) {
    b = now;
    return;
  }
  const int apart = distance(a.who, b.who), to_a = distance(a.who, now.who), to_b = distance(b.who, now.who);
  if (apart == 0 && to_a == 0) {  // one simdgroup: keep two of its newest fence
    if (a.simd_fences != now.simd_fences)
      a = now;
    else if (b.simd_fences != now.simd_fences)
      b = now;
  } else if (to_a > apart) {
    b = now;
  } else if (to_b > apart) {
    a = now;
  } else if (apart == 1 && a.group_fences != now.group_fences) {
    a = now;
  } else if (apart == 1 && b.group_fences != now.group_fences) {
    b = now;
  }
}

}  // namespace metalsim
