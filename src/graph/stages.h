#pragma once
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "graph/params.h"

/// What each stage does to a graph, in the order of the files 1_build.cpp to 5_execute.cpp.
namespace minfer {

using Backends = std::span<Backend* const>;

/// Stage 2. Gives every node the first backend that supports it, keeping backends that are already set.
/// Inputs go to their first consumer's backend. Returns the reasons as text, one line a node, for --explain.
/// Throws Error{unsupported} naming the node and every backend's reason, and if attention and its cache would
/// part.
std::string assign(Graph& graph, Backends backends);

/// One rewrite. Its nodes' replacements are marked dead; ids never move.
struct FusionPass {
  std::string_view name;
  bool (*wanted)(const GraphParams& params);
  void (*run)(Graph& graph, Backends backends);
};
/// Every pass, in the order they run.
std::span<const FusionPass> fusion_passes();
/// Stage 3. Runs the passes that `params` wants and does not disable; verifies the graph after each.
/// Throws Error{bad_request} listing the passes if a disabled name is none of them.
void fuse(Graph& graph, const GraphParams& params, Backends backends);

/// Where a node's value lives.
struct Placement {
  Buffer* buffer = nullptr;  ///< null for dead nodes and for KV nodes, whose buffers are the layer's regions
  int slot = -1;             ///< the pool's number of it
  NodeId alias_of = -1;      ///< shares the buffer of this source
};

/// Owns all memory of a pipeline: a pool of transient buffers and the KV regions, which outlive every graph.
/// Only one graph runs at a time and every input is filled before a run, so graphs share the pool freely.
class Allocator {
 public:
  explicit Allocator(std::vector<Backend*> backends);

  /// Stage 4. One placement a node. Throws Error{out_of_memory} with the four numbers of the budget, or
  /// Error{bad_request} if a layer's KV region would change shape; regions already there stay as they are.
  std::vector<Placement> place(const Graph& graph);
  /// A buffer of its own for a value that crosses to another backend; counted and gated like the pool.
  std::unique_ptr<Buffer> allocate_staging(int backend, size_t bytes);

  KvRegions kv(int layer) const;
  size_t pooled_bytes() const;

 private:
  struct Slot {
    int backend;
    size_t bytes;
    std::unique_ptr<Buffer> buffer;
  };
  struct KvEntry {
    int backend;
    KvFormat format;
    int64_t kv_dim, n_ctx;
    std::unique_ptr<Buffer> k, v;
  };
  std::unique_ptr<Buffer> allocate(int backend, size_t bytes);
  int take_slot(int backend, size_t bytes, std::set<int>& idle);
  void place_kv(const Graph& graph);

  std::vector<Backend*> backends_;
  std::vector<size_t> pooled_;  ///< bytes held, by backend
  std::vector<Slot> slots_;
  std::map<int, KvEntry> kv_;
};

/// Bytes a request is rounded up to: a power of two up to 16 KiB, then a multiple of 16 KiB.
size_t size_class(size_t bytes);
/// Bytes a backend may hold, or nothing if it is unbounded: MINFER_GPU_MEM in MiB, else three quarters of its
/// answer.
std::optional<size_t> memory_budget(const Backend& backend);

/// Consecutive live nodes on one backend; inputs belong to none.
struct Split {
  int backend;
  std::vector<NodeId> nodes;
  std::vector<NodeId> incoming;  ///< values of other backends that its nodes read
};
std::vector<Split> make_splits(const Graph& graph);

/// How a stage's result is checked; each throws through MINFER_CHECK, since a broken graph is our own bug.
enum class Stage { build, assign, fuse, alloc };
void verify(const Graph& graph, Stage stage);
void verify_placement(const Graph& graph, const std::vector<Placement>& placement);
/// Last node that reads a value (its own id if none), outputs and inputs to the end; aliases extend their
/// root.
std::vector<NodeId> last_uses(const Graph& graph, const std::vector<Placement>& placement);

/// The KV regions a node reads or writes: its layer, width and format; nothing for other ops.
struct KvUse {
  int layer;
  int64_t kv_dim;
  KvFormat format;
};
std::optional<KvUse> kv_use(const Op& op);

std::string dump_text(const Graph& graph, Backends backends,
                      const std::vector<Placement>* placement = nullptr);
std::string dump_dot(const Graph& graph, Backends backends);

}  // namespace minfer
