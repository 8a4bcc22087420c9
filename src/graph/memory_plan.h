#pragma once
#include <string>
#include <vector>

#include "graph/stages.h"

namespace minfer {

/// A buffer of one graph, before it is tied to memory: several values may lie in it one after the other.
struct Slot {
  int backend;
  size_t bytes;  ///< a size class; for staging the value's exact length
};

inline constexpr int no_slot = -1;

/// Where every value of a graph lies. Pure: made from the graph alone.
struct MemoryPlan {
  std::vector<int> slot_of;      ///< by node; no_slot for dead nodes and for KV regions
  std::vector<NodeId> last_use;  ///< by node: the last node that reads it; past the end if it lives that long
  std::vector<Slot> slots;
  std::vector<Slot> staging;    ///< one a crossing, then one a captured value; never shared
  std::vector<int> capture_of;  ///< by node: its copy in `staging`; no_slot where none is taken
};

struct PlanOptions {
  bool reuse =
      true;  ///< false: every value has a slot of its own, which is what memory errors are compared with
  bool capture = false;  ///< staging for a copy of every value, which changes no slot
};

/// Bytes the pool gives for `bytes`: the next power of two up to 16 KiB, then whole multiples of 16 KiB.
size_t size_class(size_t bytes);

/// Lays the values out and numbers the staging buffers of crossings and captures.
MemoryPlan plan_memory(const Graph& graph, std::vector<Split>& splits, const PlanOptions& options = {});

/// Two live values that share memory without leave, or a value outside its backend's memory; empty if none.
/// Liveness is derived again from the graph, so that plan_memory does not check itself.
std::string find_memory_fault(const Graph& graph, const MemoryPlan& plan);

}  // namespace minfer
