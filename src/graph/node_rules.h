#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"

/// What the stages ask of a node beyond its payload. One definition each, so that no stage has its own idea.
namespace minfer {

/// A value as its consumers see it. A fused arm keeps scratch behind its result: consumers of FusedQkv and
/// FusedQkvNorm see the leading q, those of FusedFfn the leading ffn_dim. Every other value is seen whole.
TensorDesc visible_desc(const Node& node);

/// infer() over the visible descriptions of the node's sources.
TensorDesc infer_node(const Graph& graph, const Node& node);

/// The KV regions a node reads or writes.
struct KvUse {
  int layer;
  int64_t kv_dim;
  KvFormat format;
  bool writes;
  bool operator==(const KvUse&) const = default;
};
std::optional<KvUse> kv_use(const Op& op);

/// True for KvStore and KvLoad: their value is the layer's K region, which the pool does not own.
bool is_kv_region(const Op& op);

/// Every weight that an op names.
std::vector<WeightRef> weights_of(const Op& op);

/// True for ops whose output may share source 0's buffer.
bool may_alias(const Op& op);

/// How often each node is read by live nodes; graph outputs count once more.
std::vector<int> count_readers(const Graph& graph);

bool is_output(const Graph& graph, NodeId id);

}  // namespace minfer
