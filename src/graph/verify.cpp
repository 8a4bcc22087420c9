#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "graph/node_rules.h"
#include "graph/stages.h"

namespace minfer {
namespace {

std::string fault_of_sources(const Graph& graph, const Node& node) {
  for (NodeId source : node.sources) {
    if (source < 0 || source >= node.id) return fmt::format("source {} does not stand before it", source);
    if (!node.dead && graph.nodes[size_t(source)].dead) return fmt::format("source {} is dead", source);
  }
  return {};
}

std::string fault_of_shape(const Graph& graph, const Node& node) {
  try {
    const TensorDesc inferred = infer_node(graph, node);
    if (inferred == node.desc) return {};
    return fmt::format("its shape is {}, inferred {}", to_string(node.desc), to_string(inferred));
  } catch (const Error& error) {
    return error.what();
  }
}

std::string fault_of_node(const Graph& graph, size_t index, Stage stage, size_t n_backends) {
  const Node& node = graph.nodes[index];
  if (node.id != NodeId(index)) return fmt::format("its id is {}, expected {}", node.id, index);
  const bool is_input = std::holds_alternative<Input>(node.op);
  const bool at_head = index < graph.inputs.size() && graph.inputs[index] == node.id;
  if (is_input != at_head) return "inputs stand at the head, and nothing else does";
  if (std::string fault = fault_of_sources(graph, node); !fault.empty()) return fault;
  if (node.dead) return {};
  if (stage != Stage::build && (node.backend < 0 || size_t(node.backend) >= n_backends)) {
    return fmt::format("its backend is {}, expected 0 to {}", node.backend, n_backends - 1);
  }
  return is_input ? std::string() : fault_of_shape(graph, node);
}

/// A layer's regions have one width, format and backend, and the write stands before every read: nothing but
/// build order makes a KvLoad wait for its store.
std::string fault_of_kv(const Graph& graph) {
  struct Seen {
    const Node* first = nullptr;
    const Node* reader = nullptr;
  };
  std::map<int, Seen> layers;
  for (const Node& node : graph.nodes) {
    const auto use = kv_use(node.op);
    if (node.dead || !use) continue;
    Seen& seen = layers[use->layer];
    if (!seen.first) seen.first = &node;
    const auto expected = kv_use(seen.first->op);
    if (use->kv_dim != expected->kv_dim || use->format != expected->format) {
      return fmt::format("node {} ({}): layer {} has KV rows of {} {}, expected {} {} as in node {}", node.id,
                         node.name, use->layer, use->kv_dim, name(use->format), expected->kv_dim,
                         name(expected->format), seen.first->id);
    }
    if (node.backend != seen.first->backend) {
      return fmt::format("node {} ({}): its backend is not that of node {}, which shares its KV regions",
                         node.id, node.name, seen.first->id);
    }
    if (use->writes && seen.reader) {
      return fmt::format("node {} ({}) writes the KV regions of layer {} after node {} ({}) has read them",
                         node.id, node.name, use->layer, seen.reader->id, seen.reader->name);
    }
    if (!use->writes) seen.reader = &node;
  }
  return {};
}

}  // namespace

std::string find_fault(const Graph& graph, Stage stage, size_t n_backends) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string fault = fault_of_node(graph, i, stage, n_backends);
    if (!fault.empty()) return fmt::format("node {} ({}): {}", i, graph.nodes[i].name, fault);
  }
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (NodeId id : *list) {
      if (id < 0 || size_t(id) >= graph.nodes.size()) return fmt::format("node {} does not exist", id);
      if (graph.nodes[size_t(id)].dead) return fmt::format("node {} is dead, and an input or output", id);
    }
  }
  return fault_of_kv(graph);
}

void verify(const Graph& graph, Stage stage, size_t n_backends) {
  const std::string fault = find_fault(graph, stage, n_backends);
  if (!fault.empty()) log_line(LogLevel::error, fault);
  MINFER_CHECK(fault.empty(), "a stage handed on a graph that breaks its promises");
}

std::string structural_difference(const Graph& a, const Graph& b) {
  const size_t common = std::min(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < common; ++i) {
    const Node &x = a.nodes[i], &y = b.nodes[i];
    if (x.op != y.op) return fmt::format("node {}: op {} against {}", i, op_name(x.op), op_name(y.op));
    if (x.desc != y.desc)
      return fmt::format("node {}: shape {} against {}", i, to_string(x.desc), to_string(y.desc));
    if (x.sources != y.sources) return fmt::format("node {}: the sources differ", i);
  }
  if (a.nodes.size() != b.nodes.size()) {
    return fmt::format("{} nodes against {}", a.nodes.size(), b.nodes.size());
  }
  if (a.inputs != b.inputs || a.outputs != b.outputs) return "the inputs or outputs differ";
  return {};
}

}  // namespace minfer
