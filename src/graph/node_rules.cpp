#include "graph/node_rules.h"

#include <algorithm>

namespace minfer {
namespace {

struct KvUseOf {
  using Answer = std::optional<KvUse>;
  Answer operator()(const Attention& op) const {
    return KvUse{op.layer, op.n_kv_heads * op.head_dim, op.format, false};
  }
  Answer operator()(const KvStore& op) const { return KvUse{op.layer, op.kv_dim, op.format, true}; }
  Answer operator()(const KvLoad& op) const { return KvUse{op.layer, op.kv_dim, op.format, false}; }
  Answer operator()(const FusedQkv& op) const { return KvUse{op.layer, op.kv_dim(), op.format, true}; }
  Answer operator()(const FusedQkvNorm& op) const { return (*this)(op.qkv); }
  Answer operator()(const QkvBiasRopeStore& op) const {
    return KvUse{op.layer, op.kv_dim(), op.format, true};
  }
  template <class Other>
  Answer operator()(const Other&) const {
    return std::nullopt;
  }
};

struct WeightsOf {
  std::vector<WeightRef> found;

  void add(const WeightRef& ref) { found.push_back(ref); }
  void add(const std::optional<WeightRef>& ref) {
    if (ref) found.push_back(*ref);
  }

  void operator()(const RmsNorm& op) { add(op.weight); }
  void operator()(const QkNorm& op) { add(op.weight); }
  void operator()(const MatMul& op) { add(op.weight), add(op.bias); }
  void operator()(const GetRows& op) { add(op.table); }
  void operator()(const Rope& op) { add(op.rope.factors); }
  void operator()(const FusedFfn& op) { add(op.gate), add(op.up); }
  void operator()(const FusedQkv& op) {
    for (const MatMul* part : {&op.q, &op.k, &op.v}) (*this)(*part);
    add(op.rope.factors);
  }
  void operator()(const FusedQkvNorm& op) {
    (*this)(op.qkv);
    add(op.q_norm), add(op.k_norm);
  }
  void operator()(const QkvBiasRopeStore& op) {
    add(op.q_bias), add(op.k_bias), add(op.v_bias), add(op.rope.factors);
  }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

TensorDesc visible_desc(const Node& node) {
  if (const auto* op = std::get_if<FusedQkv>(&node.op)) return desc_f32(op->q_dim(), 1);
  if (const auto* op = std::get_if<FusedQkvNorm>(&node.op)) return desc_f32(op->qkv.q_dim(), 1);
  if (const auto* op = std::get_if<FusedFfn>(&node.op)) return desc_f32(op->gate.rows, 1);
  return node.desc;
}

TensorDesc infer_node(const Graph& graph, const Node& node) {
  std::vector<TensorDesc> seen;
  seen.reserve(node.sources.size());
  for (NodeId source : node.sources) seen.push_back(visible_desc(graph.nodes[size_t(source)]));
  return infer(node.op, seen, graph.n_ctx);
}

std::optional<KvUse> kv_use(const Op& op) { return std::visit(KvUseOf{}, op); }

std::vector<WeightRef> weights_of(const Op& op) {
  WeightsOf visitor;
  std::visit(visitor, op);
  return std::move(visitor.found);
}

bool is_kv_region(const Op& op) {
  return std::holds_alternative<KvStore>(op) || std::holds_alternative<KvLoad>(op);
}

bool may_alias(const Op& op) {
  return std::holds_alternative<Silu>(op) || std::holds_alternative<SwiGlu>(op) ||
         std::holds_alternative<Rope>(op) || std::holds_alternative<QkvBiasRopeStore>(op);
}

std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes) {
    if (node.dead) continue;
    for (NodeId source : node.sources) ++readers[size_t(source)];
  }
  for (NodeId id : graph.outputs) ++readers[size_t(id)];
  return readers;
}

bool is_output(const Graph& graph, NodeId id) {
  return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
}

}  // namespace minfer
