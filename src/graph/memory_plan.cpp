#include "graph/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/error.h"
#include "graph/capture.h"
#include "graph/node_rules.h"

namespace minfer {
namespace {

constexpr size_t class_step = 16 * 1024;

class Planner {
 public:
  Planner(const Graph& graph, bool reuse) : graph_(graph), reuse_(reuse), readers_(count_readers(graph)) {
    plan_.slot_of.assign(graph.nodes.size(), no_slot);
    find_last_uses();
  }

  MemoryPlan run() {
    for (NodeId id : graph_.inputs) place(graph_.nodes[size_t(id)]);
    for (const Node& node : graph_.nodes) {
      if (node.dead || is_kv_region(node.op) || std::holds_alternative<Input>(node.op)) continue;
      release_expired(node.id);
      if (!place_in_source(node)) place(node);
    }
    return std::move(plan_);
  }

 private:
  NodeId end() const { return NodeId(graph_.nodes.size()); }

  /// Over build order, which is execution order. Inputs are filled before the first node runs and must still
  /// be there for a second run; outputs are read after the last.
  void find_last_uses() {
    plan_.last_use.resize(graph_.nodes.size());
    for (const Node& node : graph_.nodes) {
      plan_.last_use[size_t(node.id)] = node.id;
      if (node.dead) continue;
      for (NodeId source : node.sources) plan_.last_use[size_t(source)] = node.id;
    }
    for (NodeId id : graph_.inputs) plan_.last_use[size_t(id)] = end();
    for (NodeId id : graph_.outputs) plan_.last_use[size_t(id)] = end();
  }

  void release_expired(NodeId now) {
    while (!deadlines_.empty() && deadlines_.begin()->first < now) {
      const int slot = deadlines_.begin()->second;
      const Slot& released = plan_.slots[size_t(slot)];
      idle_[{released.backend, released.bytes}].insert(slot);
      deadlines_.erase(deadlines_.begin());
    }
  }

  void place(const Node& node) {
    const Slot wanted{node.backend, size_class(node.desc.bytes())};
    auto& idle = idle_[{wanted.backend, wanted.bytes}];
    int slot = int(plan_.slots.size());
    if (reuse_ && !idle.empty()) {
      slot = *idle.begin();  // the smallest: two equal graphs get equal plans
      idle.erase(idle.begin());
    } else {
      plan_.slots.push_back(wanted);
    }
    settle(node, slot);
  }

  /// In place of source 0, if nobody else reads it and it lives on this backend.
  bool place_in_source(const Node& node) {
    if (!reuse_ || !may_alias(node.op)) return false;
    const Node& source = graph_.nodes[size_t(node.sources[0])];
    const int slot = plan_.slot_of[size_t(source.id)];
    const bool ours = slot != no_slot && readers_[size_t(source.id)] == 1 && source.backend == node.backend &&
                      !std::holds_alternative<Input>(source.op) && source.desc == node.desc;
    if (!ours) return false;
    deadlines_.erase({plan_.last_use[size_t(source.id)], slot});
    settle(node, slot);
    return true;
  }

  void settle(const Node& node, int slot) {
    plan_.slot_of[size_t(node.id)] = slot;
    deadlines_.insert({plan_.last_use[size_t(node.id)], slot});
  }

  const Graph& graph_;
  const bool reuse_;
  const std::vector<int> readers_;
  MemoryPlan plan_;
  std::set<std::pair<NodeId, int>> deadlines_;            // last use, slot
  std::map<std::pair<int, size_t>, std::set<int>> idle_;  // by backend and class
};

/// The nodes between which a value must stay: from its making (before the first node for an input) to its
/// last reader.
struct Life {
  const Node* node;
  NodeId from, to;
};

Life life_of(const Graph& graph, const Node& node) {
  Life life{&node, node.id, node.id};
  if (std::holds_alternative<Input>(node.op)) life.from = -1, life.to = NodeId(graph.nodes.size());
  if (is_output(graph, node.id)) life.to = NodeId(graph.nodes.size());
  for (const Node& reader : graph.nodes) {
    if (reader.dead) continue;
    for (NodeId source : reader.sources) {
      if (source == node.id) life.to = std::max(life.to, reader.id);
    }
  }
  return life;
}

/// `next` is made in place from `before`, its only source of that kind, and ends its life.
bool made_in_place(const Life& before, const Life& next) {
  const Node& node = *next.node;
  return may_alias(node.op) && node.sources[0] == before.node->id && before.to == node.id &&
         std::count(node.sources.begin(), node.sources.end(), before.node->id) == 1;
}

std::string fault_of_place(const MemoryPlan& plan, const Node& node) {
  const int slot = plan.slot_of[size_t(node.id)];
  const bool has_none = node.dead || is_kv_region(node.op);
  if (has_none)
    return slot == no_slot ? std::string() : fmt::format("node {} ({}) has a buffer", node.id, node.name);
  if (slot < 0 || size_t(slot) >= plan.slots.size()) {
    return fmt::format("node {} ({}) has no buffer", node.id, node.name);
  }
  const Slot& place = plan.slots[size_t(slot)];
  if (place.backend != node.backend) {
    return fmt::format("node {} ({}) runs on backend {}, its buffer lives on backend {}", node.id, node.name,
                       node.backend, place.backend);
  }
  if (place.bytes < node.desc.bytes()) {
    return fmt::format("node {} ({}) has {} bytes in a buffer of {}", node.id, node.name, node.desc.bytes(),
                       place.bytes);
  }
  return {};
}

}  // namespace

size_t size_class(size_t bytes) {
  if (bytes <= class_step) return std::bit_ceil(std::max<size_t>(bytes, 1));
  return (bytes + class_step - 1) / class_step * class_step;
}

MemoryPlan plan_memory(const Graph& graph, std::vector<Split>& splits, const PlanOptions& options) {
  MemoryPlan plan = Planner(graph, options.reuse).run();
  for (Split& split : splits) {
    for (Crossing& crossing : split.crossings) {
      const Node& value = graph.nodes[size_t(crossing.value)];
      MINFER_CHECK(!is_kv_region(value.op), "KV regions never cross: assign keeps a layer's nodes together");
      crossing.staging = int(plan.staging.size());
      plan.staging.push_back({split.backend, value.desc.bytes()});
    }
  }
  plan.capture_of.assign(graph.nodes.size(), no_slot);
  for (const Node& node : graph.nodes) {
    if (!options.capture || !is_captured(node)) continue;
    plan.capture_of[size_t(node.id)] = int(plan.staging.size());
    plan.staging.push_back({node.backend, node.desc.bytes()});
  }
  return plan;
}

std::string find_memory_fault(const Graph& graph, const MemoryPlan& plan) {
  std::vector<std::vector<Life>> lives(plan.slots.size());
  for (const Node& node : graph.nodes) {
    if (std::string fault = fault_of_place(plan, node); !fault.empty()) return fault;
    const int slot = plan.slot_of[size_t(node.id)];
    if (slot != no_slot) lives[size_t(slot)].push_back(life_of(graph, node));
  }
  for (auto& sharing : lives) {  // in build order, so that only neighbours can touch first
    for (size_t i = 1; i < sharing.size(); ++i) {
      const Life &before = sharing[i - 1], &next = sharing[i];
      if (next.from > before.to || made_in_place(before, next)) continue;
      return fmt::format("nodes {} ({}) and {} ({}) are live together in one buffer", before.node->id,
                         before.node->name, next.node->id, next.node->name);
    }
  }
  return {};
}

}  // namespace minfer
