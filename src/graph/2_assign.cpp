#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "graph/node_rules.h"
#include "graph/stages.h"

/// Stage 2: the device answers "can you?", with a reason; this decides.
namespace minfer {
namespace {

std::string describe(const Node& node) {
  return fmt::format("node {} ({}, {})", node.id, node.name, op_name(node.op));
}

class Assigner {
 public:
  Assigner(Graph& graph, Backends backends, const ContextParams& context)
      : graph_(graph), backends_(backends), context_(context) {
    for (const Backend* backend : backends) {
      is_device_.push_back(backend->memory().state != MemoryAnswer::State::no_device);
    }
    for (const Node& node : graph.nodes) {
      blocks_ = std::max(blocks_, node.layer + 1);
      if (const auto use = kv_use(node.op); use && !node.dead) kv_nodes_[use->layer].push_back(node.id);
    }
  }

  std::vector<Refusal> run() {
    for (Node& node : graph_.nodes) {
      if (node.dead || std::holds_alternative<Input>(node.op)) continue;
      if (node.backend != unassigned) {
        MINFER_CHECK(node.backend >= 0 && size_t(node.backend) < backends_.size(), "the backend exists");
      } else if (const auto use = kv_use(node.op)) {
        place_together(kv_nodes_[use->layer]);
      } else {
        place_together({node.id});
      }
    }
    for (const auto& [layer, nodes] : kv_nodes_) check_one_backend(nodes);
    place_inputs();
    return std::move(refusals_);
  }

 private:
  Support ask(int backend, const Node& node) const {
    if (is_device_[size_t(backend)]) {
      if (!context_.gpu) return Support::no("no device takes part in this context");
      const int needed = node.layer >= 0 ? node.layer + 1 : blocks_;
      if (context_.gpu_layers < needed) {
        return Support::no(
            fmt::format("{} blocks are on the device, this node needs {}", context_.gpu_layers, needed));
      }
    }
    return backends_[size_t(backend)]->supports(node);
  }

  /// The first backend that supports every one of `ids`; an explicit backend among them is the only
  /// candidate.
  void place_together(const std::vector<NodeId>& ids) {
    const int fixed = explicit_backend(ids);
    std::string reasons;
    for (int backend = 0; backend < int(backends_.size()); ++backend) {
      if (fixed != unassigned && backend != fixed) continue;
      if (all_supported(backend, ids, reasons)) {
        for (NodeId id : ids) {
          int& chosen = graph_.nodes[size_t(id)].backend;
          if (chosen == unassigned) chosen = backend;
        }
        return;
      }
    }
    std::string what = describe(graph_.nodes[size_t(ids.front())]);
    for (size_t i = 1; i < ids.size(); ++i) what += " with " + describe(graph_.nodes[size_t(ids[i])]);
    throw Error(ErrorCode::unsupported, fmt::format("no device runs {}:{}", what, reasons),
                "`minfer info` lists what each device runs");
  }

  int explicit_backend(const std::vector<NodeId>& ids) const {
    for (NodeId id : ids) {
      if (graph_.nodes[size_t(id)].backend != unassigned) return graph_.nodes[size_t(id)].backend;
    }
    return unassigned;
  }

  bool all_supported(int backend, const std::vector<NodeId>& ids, std::string& reasons) {
    bool all = true;
    for (NodeId id : ids) {
      const Node& node = graph_.nodes[size_t(id)];
      if (node.backend != unassigned) continue;  // explicit: not asked
      Support answer = ask(backend, node);
      if (answer.ok) continue;
      all = false;
      reasons += fmt::format("\n  {}: {}: {}", backends_[size_t(backend)]->name(), node.name, answer.why);
      refusals_.push_back({id, backend, std::move(answer.why)});
    }
    return all;
  }

  void check_one_backend(const std::vector<NodeId>& ids) const {
    const Node& first = graph_.nodes[size_t(ids.front())];
    for (NodeId id : ids) {
      const Node& other = graph_.nodes[size_t(id)];
      if (other.backend == first.backend) continue;
      throw Error(ErrorCode::bad_request,
                  fmt::format("{} is on {} and {} on {}: the nodes of one layer's KV regions share a device",
                              describe(first), backends_[size_t(first.backend)]->name(), describe(other),
                              backends_[size_t(other.backend)]->name()),
                  "place both on one device");
    }
  }

  /// An input between two device nodes would cut a split, so it goes where it is read first.
  void place_inputs() {
    for (const Node& node : graph_.nodes) {
      for (NodeId source : node.sources) {
        Node& input = graph_.nodes[size_t(source)];
        if (std::holds_alternative<Input>(input.op) && input.backend == unassigned)
          input.backend = node.backend;
      }
    }
    for (NodeId id : graph_.inputs) {
      if (graph_.nodes[size_t(id)].backend == unassigned) graph_.nodes[size_t(id)].backend = 0;
    }
  }

  Graph& graph_;
  Backends backends_;
  const ContextParams& context_;
  std::vector<bool> is_device_;
  int blocks_ = 0;
  std::map<int, std::vector<NodeId>> kv_nodes_;  // by layer, in build order
  std::vector<Refusal> refusals_;
};

std::string backend_name(const Node& node, Backends backends) {
  return node.backend == unassigned ? "unassigned" : std::string(backends[size_t(node.backend)]->name());
}

}  // namespace

std::vector<Refusal> assign(Graph& graph, Backends backends, const ContextParams& context) {
  MINFER_CHECK(!backends.empty(), "a pipeline has a backend");
  return Assigner(graph, backends, context).run();
}

std::string explain(const Graph& graph, Backends backends, std::span<const Refusal> refusals) {
  std::string text;
  for (const Node& node : graph.nodes) {
    if (node.dead) continue;
    text += fmt::format("{:>4} {:<24} {:<14} {}\n", node.id, node.name, op_name(node.op),
                        backend_name(node, backends));
    for (const Refusal& refusal : refusals) {
      if (refusal.node != node.id) continue;
      text += fmt::format("       not {}: {}\n", backends[size_t(refusal.backend)]->name(), refusal.why);
    }
  }
  return text + count_ops(graph, backends);
}

std::string count_ops(const Graph& graph, Backends backends) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const Node& node : graph.nodes) {
    if (!node.dead) ++counts[{std::string(op_name(node.op)), backend_name(node, backends)}];
  }
  std::string text;
  for (const auto& [key, count] : counts) text += fmt::format("{} on {}: {}\n", key.first, key.second, count);
  return text;
}

}  // namespace minfer
