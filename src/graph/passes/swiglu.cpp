#include "graph/passes/rewrite.h"

namespace minfer {

/// Mul(Silu(gate), up), in either operand order, becomes SwiGlu(gate, up) in the Mul's place.
int fuse_swiglu(Graph& graph, const FuseContext& context) {
  const Matcher matcher(graph);
  int rewritten = 0;
  for (Node& mul : graph.nodes) {
    if (mul.dead || !std::holds_alternative<Mul>(mul.op)) continue;
    for (size_t gate = 0; gate < 2; ++gate) {
      const Node* silu = matcher.only_source<Silu>(mul, gate);
      if (!silu) continue;
      Node fused = mul;
      fused.op = SwiGlu{};
      fused.sources = {silu->sources[0], mul.sources[1 - gate]};
      if (!context.supported(fused)) continue;
      retire(graph, silu->id);
      mul = std::move(fused);
      ++rewritten;
      break;
    }
  }
  return rewritten;
}

}  // namespace minfer
