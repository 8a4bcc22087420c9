#include "graph/passes/passes.h"

namespace minfer::passes {

void fused_ffn(Graph& graph, Backends backends) {
  const auto consumers = consumers_of(graph);
  for (Node& node : graph.nodes) {
    if (node.dead || !std::holds_alternative<SwiGlu>(node.op) || node.desc.rows() != 1) continue;
    Node& gate = graph.nodes[size_t(node.sources[0])];
    Node& up = graph.nodes[size_t(node.sources[1])];
    const auto* gate_op = std::get_if<MatMul>(&gate.op);
    const auto* up_op = std::get_if<MatMul>(&up.op);
    const bool fits = gate_op && up_op && !gate_op->bias && !up_op->bias && gate.sources == up.sources &&
                      consumers[size_t(gate.id)].size() == 1 && consumers[size_t(up.id)].size() == 1 &&
                      gate.backend == node.backend && up.backend == node.backend;
    if (!fits || !one_quantised_type({&gate_op->weight, &up_op->weight})) continue;
    // The reader takes the leading columns, which only a matmul of one row can (see infer).
    const auto& readers = consumers[size_t(node.id)];
    if (readers.size() != 1 || !std::holds_alternative<MatMul>(graph.nodes[size_t(readers[0])].op)) continue;
    if (!replace_if_supported(graph, node.id, FusedFfn{gate_op->weight, up_op->weight}, {gate.sources[0]},
                              backends))
      continue;
    gate.dead = up.dead = true;
  }
}

}  // namespace minfer::passes
