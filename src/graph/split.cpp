#include <set>

#include "graph/stages.h"

namespace minfer {

std::vector<Split> cut_splits(const Graph& graph) {
  std::vector<Split> splits;
  std::set<std::pair<NodeId, int>> crossed;  // value, to which backend
  for (const Node& node : graph.nodes) {
    if (node.dead || std::holds_alternative<Input>(node.op)) continue;
    if (splits.empty() || splits.back().backend != node.backend) splits.push_back({node.backend, {}, {}});
    Split& split = splits.back();
    split.nodes.push_back(node.id);
    for (NodeId source : node.sources) {
      const bool crosses = graph.nodes[size_t(source)].backend != node.backend;
      if (crosses && crossed.insert({source, node.backend}).second) split.crossings.push_back({source});
    }
  }
  return splits;
}

}  // namespace minfer
