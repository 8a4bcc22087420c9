#pragma once
#include "graph/node_rules.h"
#include "graph/stages.h"

/// What the passes share: matching upwards from a node, and replacing nodes in place.
namespace minfer {

/// Readers of every node, kept while a pass matches.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph), readers_(count_readers(graph)) {}

  /// The live node behind source `index` of `node` if it is a T with no other reader, else null.
  template <class T>
  const Node* only_source(const Node& node, size_t index) const {
    const NodeId id = node.sources[index];
    const Node& source = graph_.nodes[size_t(id)];
    const bool fits = !source.dead && std::holds_alternative<T>(source.op) && readers_[size_t(id)] == 1 &&
                      source.backend == node.backend;
    return fits ? &source : nullptr;
  }
  int readers(NodeId id) const { return readers_[size_t(id)]; }

 private:
  const Graph& graph_;
  std::vector<int> readers_;
};

/// The three matrices can be one matmul: one block-quantised type. F32, F16 and BF16 have no fused kernels.
inline bool one_quantised_type(std::initializer_list<const WeightRef*> weights) {
  const DType type = (*weights.begin())->type;
  if (!is_quantised(type)) return false;
  for (const WeightRef* weight : weights) {
    if (weight->type != type) return false;
  }
  return true;
}

/// Marks a replaced node: it keeps its place in the list, but has no buffer and is not run.
inline void retire(Graph& graph, NodeId id) { graph.nodes[size_t(id)].dead = true; }

/// Passes of graph/passes, one a file.
int fuse_swiglu(Graph& graph, const FuseContext& context);
int fuse_qkv(Graph& graph, const FuseContext& context);
int fuse_qkv_norm(Graph& graph, const FuseContext& context);
int fuse_ffn(Graph& graph, const FuseContext& context);

}  // namespace minfer
