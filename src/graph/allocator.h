#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "graph/memory_plan.h"

namespace minfer {

/// What one backend may hold: three quarters of what its device reports, or MINFER_GPU_MEM=<MiB>. Without a
/// device it is unbounded unless that is set. A device that cannot be asked is reported once and not bounded;
/// a reported zero is a zero.
class Budget {
 public:
  explicit Budget(const Backend& backend);
  std::optional<size_t> bytes() const { return bytes_; }  ///< absent: unbounded
  /// Throws Error{out_of_memory} with all four numbers unless weights + pooled + request <= budget.
  void check(const Backend& backend, size_t pooled, size_t request) const;

 private:
  std::optional<size_t> bytes_;
};

/// A graph's buffers, tied to memory.
struct Placement {
  std::vector<Buffer*> values;    ///< by node: null for dead nodes, the K region for KV nodes
  std::vector<Buffer*> staging;   ///< by MemoryPlan::staging
  std::vector<Buffer*> captures;  ///< by node: where its copy goes; null where none is taken
  std::vector<int> new_layers;    ///< whose KV regions were made for this graph
};

/// Owns every buffer. Graphs share the pool, since one runs at a time: a value's contents last until another
/// graph runs. KV regions are the layer's own, and last.
class Allocator {
 public:
  explicit Allocator(Backends backends);

  /// Memory for a plan. Throws Error{out_of_memory} or Error{bad_request} (KV regions of another shape or
  /// device), and has then changed nothing.
  Placement place(const Graph& graph, const MemoryPlan& plan);
  /// Drops the KV regions that were made for a graph that never came to run.
  void forget_new_layers(const Placement& placement);
  /// Frees every buffer of the pool that is in none of these placements.
  void keep_only(std::span<const Placement* const> used);

  KvRegions kv(int layer) const;  ///< null before first use
  size_t pooled_bytes() const;    ///< of all backends

 private:
  struct Region {
    int backend;
    int64_t kv_dim, n_ctx;
    KvFormat format;
    std::unique_ptr<Buffer> k, v;
  };
  using Key = std::pair<int, size_t>;  // backend, bytes
  using Pool = std::map<Key, std::vector<std::unique_ptr<Buffer>>>;

  struct Changes;  // what a placement adds, before it is kept
  void make_regions(const Graph& graph, Changes& changes) const;
  static std::vector<Buffer*> take(const std::vector<Slot>& slots, const Pool& pool, Pool& added,
                                   const std::function<std::unique_ptr<Buffer>(int, size_t)>& make);
  void keep(Changes& changes);
  void drop_unused(Pool& pool, const std::set<const Buffer*>& used);

  Backends backends_;
  std::vector<Budget> budgets_;
  std::vector<size_t> pooled_;  // by backend
  Pool values_, staging_;
  std::map<int, Region> regions_;  // by layer
};

}  // namespace minfer
