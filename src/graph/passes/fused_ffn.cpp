#include <algorithm>

#include "graph/passes/rewrite.h"

namespace minfer {
namespace {

/// Only a matmul is promised to read the leading ffn_dim values of the arm.
bool read_by_matmuls_only(const Graph& graph, NodeId id) {
  if (is_output(graph, id)) return false;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    const bool reads = std::find(node.sources.begin(), node.sources.end(), id) != node.sources.end();
    return node.dead || !reads || std::holds_alternative<MatMul>(node.op);
  });
}

}  // namespace

/// SwiGlu(MatMul(x, gate), MatMul(x, up)) becomes FusedFfn(x) in the SwiGlu's place, for one token.
int fuse_ffn(Graph& graph, const FuseContext& context) {
  if (context.params.n_tokens != 1 || !context.params.context.fuse_ffn) return 0;
  const Matcher matcher(graph);
  int rewritten = 0;
  for (Node& swiglu : graph.nodes) {
    if (swiglu.dead || !std::holds_alternative<SwiGlu>(swiglu.op)) continue;
    const Node* gate = matcher.only_source<MatMul>(swiglu, 0);
    const Node* up = matcher.only_source<MatMul>(swiglu, 1);
    if (!gate || !up || gate->sources != up->sources) continue;
    const auto& gate_op = std::get<MatMul>(gate->op);
    const auto& up_op = std::get<MatMul>(up->op);
    if (gate_op.bias || up_op.bias || !one_quantised_type({&gate_op.weight, &up_op.weight})) continue;
    if (!read_by_matmuls_only(graph, swiglu.id)) continue;
    Node fused = swiglu;
    fused.op = FusedFfn{gate_op.weight, up_op.weight};
    fused.sources = gate->sources;
    fused.desc = infer_node(graph, fused);
    if (!context.supported(fused)) continue;
    retire(graph, gate->id);
    retire(graph, up->id);
    swiglu = std::move(fused);
    ++rewritten;
  }
  return rewritten;
}

}  // namespace minfer
