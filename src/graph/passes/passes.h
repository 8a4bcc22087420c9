#pragma once
#include "graph/stages.h"

namespace minfer::passes {

/// Mul(Silu(gate), up), operands in either order -> SwiGlu(gate, up).
void swiglu(Graph& graph, Backends backends);
/// Decode: q, k, v matmuls of one source, rope of q and k, store -> FusedQkv in the store's place.
void fused_qkv(Graph& graph, Backends backends);
/// The same with per-head norms of q and k before rope -> FusedQkvNorm.
void fused_qkv_norm(Graph& graph, Backends backends);
/// Decode: SwiGlu of two matmuls of one source -> FusedFfn in SwiGlu's place.
void fused_ffn(Graph& graph, Backends backends);

/// The live consumers of each node.
std::vector<std::vector<NodeId>> consumers_of(const Graph& graph);
/// Puts `op` with `sources` in the place of node `id` if the node's backend has it; false leaves all as it
/// was.
bool replace_if_supported(Graph& graph, NodeId id, Op op, std::vector<NodeId> sources, Backends backends);
/// The weights of a decode arm share one quantised type.
bool one_quantised_type(std::initializer_list<const WeightRef*> weights);

}  // namespace minfer::passes
