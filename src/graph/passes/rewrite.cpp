#include "graph/passes/passes.h"

namespace minfer::passes {

std::vector<std::vector<NodeId>> consumers_of(const Graph& graph) {
  std::vector<std::vector<NodeId>> consumers(graph.nodes.size());
  for (const Node& node : graph.nodes)
    if (!node.dead)
      for (NodeId source : node.sources) consumers[size_t(source)].push_back(node.id);
  return consumers;
}

bool replace_if_supported(Graph& graph, NodeId id, Op op, std::vector<NodeId> sources, Backends backends) {
  Node fused = graph.nodes[size_t(id)];
  std::vector<TensorDesc> described;
  for (NodeId source : sources) described.push_back(graph.nodes[size_t(source)].desc);
  fused.desc = infer(op, described, graph.n_ctx);
  fused.op = std::move(op);
  fused.sources = std::move(sources);
  if (!backends[size_t(fused.backend)]->supports(fused).ok) return false;
  graph.nodes[size_t(id)] = std::move(fused);
  return true;
}

bool one_quantised_type(std::initializer_list<const WeightRef*> weights) {
  const DType type = (*weights.begin())->type;
  for (const WeightRef* weight : weights)
    if (weight->type != type || !is_quantised(type)) return false;
  return true;
}

}  // namespace minfer::passes
