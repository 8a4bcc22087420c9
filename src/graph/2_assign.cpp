#include <fmt/format.h>

#include "base/error.h"
#include "graph/stages.h"

namespace minfer {
namespace {

bool is_input(const Node& node) { return std::holds_alternative<Input>(node.op); }

int choose(const Node& node, Backends backends, std::string& reasons) {
  for (size_t b = 0; b < backends.size(); ++b) {
    const Support support = backends[b]->supports(node);
    if (support.ok) return int(b);
    reasons += fmt::format("  not {}: {}\n", backends[b]->name(), support.why);
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("no device runs node {} ({}):\n{}", node.name, op_name(node.op), reasons),
              "use another file, or a build with a device that has this kernel");
}

/// A layer's cache lies on one device, with everything that touches it.
void check_cache_stays_together(const Graph& graph, Backends backends) {
  std::map<int, const Node*> first;
  for (const Node& node : graph.nodes) {
    const auto use = kv_use(node.op);
    if (!use || node.dead) continue;
    const Node* other = first.emplace(use->layer, &node).first->second;
    if (other->backend != node.backend)
      throw Error(ErrorCode::unsupported,
                  fmt::format("the KV cache of layer {} would be shared by {} on {} and {} on {}", use->layer,
                              other->name, backends[size_t(other->backend)]->name(), node.name,
                              backends[size_t(node.backend)]->name()),
                  "put whole layers on one device");
  }
}

}  // namespace

std::string assign(Graph& graph, Backends backends) {
  std::string report;
  std::map<std::string, int> counts;
  for (Node& node : graph.nodes) {
    if (is_input(node) || node.dead) continue;
    std::string reasons;
    if (node.backend == unassigned) node.backend = choose(node, backends, reasons);
    const std::string_view device = backends[size_t(node.backend)]->name();
    report += fmt::format("{} ({}): {}\n{}", node.name, op_name(node.op), device, reasons);
    ++counts[fmt::format("{} on {}", op_name(node.op), device)];
    for (NodeId source : node.sources) {
      Node& input = graph.nodes[size_t(source)];
      if (is_input(input) && input.backend == unassigned) input.backend = node.backend;
    }
  }
  for (NodeId id : graph.inputs)  // an input that nobody reads still needs a place
    if (graph.nodes[size_t(id)].backend == unassigned) graph.nodes[size_t(id)].backend = 0;
  check_cache_stays_together(graph, backends);
  for (const auto& [what, count] : counts) report += fmt::format("{:5} x {}\n", count, what);
  return report;
}

std::optional<KvUse> kv_use(const Op& op) {
  if (const auto* a = std::get_if<Attention>(&op))
    return KvUse{a->layer, a->n_kv_heads * a->head_dim, a->format};
  if (const auto* s = std::get_if<KvStore>(&op)) return KvUse{s->layer, s->kv_dim, s->format};
  if (const auto* l = std::get_if<KvLoad>(&op)) return KvUse{l->layer, l->kv_dim, l->format};
  if (const auto* q = std::get_if<FusedQkv>(&op))
    return KvUse{q->layer, q->n_kv_heads * q->head_dim, q->format};
  if (const auto* n = std::get_if<FusedQkvNorm>(&op)) return kv_use(Op{n->qkv});
  if (const auto* e = std::get_if<QkvBiasRopeStore>(&op))
    return KvUse{e->layer, e->n_kv_heads * e->head_dim, e->format};
  return std::nullopt;
}

}  // namespace minfer
