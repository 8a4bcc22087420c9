#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "graph/graph.h"
#include "graph/params.h"

/// The stages between a built graph and its allocation, in the order Pipeline runs them.
namespace minfer {

using Backends = std::span<Backend* const>;

// ---- 2 assign ------------------------------------------------------------------------------------------

/// Why a backend was passed over for a node.
struct Refusal {
  NodeId node;
  int backend;
  std::string why;
};

/// Gives every live node the first backend that supports it. An explicit backend is kept. The nodes that
/// touch one layer's KV regions share a backend; inputs go where their first consumer runs. Blocks past
/// ContextParams::gpu_layers are not offered to devices when ContextParams::gpu is set.
/// Throws Error{unsupported} naming the node and every backend's reason. Returns each refusal.
std::vector<Refusal> assign(Graph& graph, Backends backends, const ContextParams& context);

/// The report of --explain: a line a node with its backend and each refusal, then counts by op and backend.
std::string explain(const Graph& graph, Backends backends, std::span<const Refusal> refusals);

/// "rms_norm on cpu: 61" a line, by op and backend.
std::string count_ops(const Graph& graph, Backends backends);

// ---- 3 fuse --------------------------------------------------------------------------------------------

struct FuseContext {
  const GraphParams& params;
  Backends backends;
  /// The backend that would run `fused` has the kernel.
  bool supported(const Node& fused) const;
};

/// One rewrite of the plain graph. Replaced nodes stay in the list, dead.
struct Pass {
  std::string_view name;                                 ///< as --disable-pass spells it
  int (*run)(Graph& graph, const FuseContext& context);  ///< how many places were rewritten
};

/// Every pass, in the order they run.
std::span<const Pass> all_passes();

/// Throws Error{bad_request} listing the passes if a disabled one does not exist.
void check_disabled_passes(const std::set<std::string>& disabled);

/// Runs every enabled pass and verifies the graph after each.
void fuse(Graph& graph, const GraphParams& params, Backends backends);

// ---- splits --------------------------------------------------------------------------------------------

/// A value that a split reads from another backend, by way of host memory.
struct Crossing {
  NodeId value;
  int staging = -1;  ///< index into Placement::staging, set by alloc
};

/// Consecutive nodes of one backend. No copy is repeated: a value that two splits of one backend read crosses
/// before the first.
struct Split {
  int backend;
  std::vector<NodeId> nodes;  ///< live, without inputs
  std::vector<Crossing> crossings;
};
std::vector<Split> cut_splits(const Graph& graph);

// ---- verify --------------------------------------------------------------------------------------------

enum class Stage { build, assign, fuse };

/// What must hold of a graph after a stage, whoever built it: dense ids, earlier sources, inputs at the head,
/// shapes as inferred, no live node on a dead one, KV written before it is read, backends set. A broken
/// promise aborts, naming the node.
void verify(const Graph& graph, Stage stage, size_t n_backends = 0);
/// The first broken promise, or empty.
std::string find_fault(const Graph& graph, Stage stage, size_t n_backends = 0);

/// Where two graphs first differ in op, shape or sources; empty if they do not.
std::string structural_difference(const Graph& a, const Graph& b);

// ---- dump ----------------------------------------------------------------------------------------------

/// A line a node: id, name, op, shape, sources, backend; `notes` (one a node, or none) is appended.
std::string dump_text(const Graph& graph, Backends backends, std::span<const std::string> notes = {});
/// Graphviz: left to right, one record a node, coloured by backend.
std::string dump_dot(const Graph& graph, Backends backends);
/// DIR/NAME.txt and DIR/NAME.dot. Throws Error{io}.
void write_dump(const std::string& dir, std::string_view name, const Graph& graph, Backends backends,
                std::span<const std::string> notes = {});

}  // namespace minfer
