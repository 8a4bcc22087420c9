#include <algorithm>

#include "base/error.h"
#include "graph/stages.h"

namespace minfer {
namespace {

void verify_node(const Graph& graph, const Node& node, size_t index) {
  MINFER_CHECK(node.id == NodeId(index), "ids are dense");
  std::vector<TensorDesc> described;
  for (NodeId source : node.sources) {
    MINFER_CHECK(source >= 0 && source < node.id, "sources come first, so the graph has no cycle");
    MINFER_CHECK(!graph.nodes[size_t(source)].dead, "no live node reads a replaced one");
    described.push_back(graph.nodes[size_t(source)].desc);
  }
  if (std::holds_alternative<Input>(node.op))
    MINFER_CHECK(index < graph.inputs.size() && graph.inputs[index] == node.id, "inputs stand at the head");
  else
    MINFER_CHECK(infer(node.op, described, graph.n_ctx) == node.desc, "shapes still follow from the ops");
}

/// A layer's rows are written before they are read: build order is the only thing that orders them.
void verify_cache_order(const Graph& graph) {
  std::map<int, NodeId> written;
  for (const Node& node : graph.nodes) {
    const auto use = kv_use(node.op);
    if (!use || node.dead) continue;
    if (!std::holds_alternative<Attention>(node.op) && !std::holds_alternative<KvLoad>(node.op))
      written[use->layer] = node.id;
    if (std::holds_alternative<Attention>(node.op))
      MINFER_CHECK(written.count(use->layer), "a layer stores its keys before attention reads them");
  }
}

}  // namespace

void verify(const Graph& graph, Stage stage) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.dead) continue;
    verify_node(graph, node, i);
    if (stage != Stage::build) MINFER_CHECK(node.backend != unassigned, "every live node has a backend");
  }
  for (NodeId id : graph.outputs)
    MINFER_CHECK(id >= 0 && size_t(id) < graph.nodes.size() && !graph.nodes[size_t(id)].dead,
                 "outputs are live nodes");
  verify_cache_order(graph);
}

void verify_placement(const Graph& graph, const std::vector<Placement>& placement) {
  const std::vector<NodeId> last = last_uses(graph, placement);
  for (const Node& node : graph.nodes) {
    const Placement& place = placement[size_t(node.id)];
    if (node.dead) MINFER_CHECK(!place.buffer, "a replaced node has no buffer");
    if (!place.buffer || place.alias_of >= 0) continue;
    MINFER_CHECK(place.buffer->bytes() >= node.desc.bytes(), "a buffer holds its value");
    for (NodeId other = 0; other < node.id; ++other) {
      const Placement& earlier = placement[size_t(other)];
      if (earlier.slot != place.slot || earlier.alias_of >= 0 || !earlier.buffer) continue;
      MINFER_CHECK(last[size_t(other)] < node.id, "two values that live at once never share a buffer");
    }
  }
}

}  // namespace minfer
