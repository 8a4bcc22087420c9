#include "graph/passes/passes.h"

namespace minfer::passes {

void swiglu(Graph& graph, Backends backends) {
  const auto consumers = consumers_of(graph);
  for (Node& node : graph.nodes) {
    if (node.dead || !std::holds_alternative<Mul>(node.op)) continue;
    for (size_t side : {0, 1}) {
      Node& silu = graph.nodes[size_t(node.sources[side])];
      const bool fits = std::holds_alternative<Silu>(silu.op) && consumers[size_t(silu.id)].size() == 1 &&
                        silu.backend == node.backend;
      if (!fits) continue;
      const NodeId gate = silu.sources[0], up = node.sources[1 - side];
      if (replace_if_supported(graph, node.id, SwiGlu{}, {gate, up}, backends)) silu.dead = true;
      break;
    }
  }
}

}  // namespace minfer::passes
