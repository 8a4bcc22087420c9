#pragma once
#include <string>
#include <vector>

#include "graph/ops.h"

namespace minfer {

using NodeId = int32_t;
inline constexpr int unassigned = -1;

/// One value of the graph and the op that makes it. Pure data; no device in it.
struct Node {
  NodeId id = 0;     ///< index in Graph::nodes; sources have smaller ids
  std::string name;  ///< "blk.3.attn_q"
  Op op;
  std::vector<NodeId> sources;
  TensorDesc desc;           ///< of the output
  int backend = unassigned;  ///< index into the backends, set by assign
  int layer = -1;            ///< transformer block; -1 before the first and -2 after the last
  bool dead = false;         ///< replaced by a fusion: no buffer, never run

  // In graph/node.cpp: copying a variant of that many ops is too much code for each file that uses a graph.
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();
  bool operator==(const Node&) const;
};

/// Build order is execution order is liveness order.
struct Graph {
  std::vector<Node> nodes;
  std::vector<NodeId> inputs;  ///< all at the head
  std::vector<NodeId> outputs;
  int64_t n_ctx = 0;  ///< rows of each KV region
  bool operator==(const Graph&) const = default;
};

/// Append-only; infers and checks every shape once. Throws Error{bad_model} naming node, value found and
/// expected.
class GraphBuilder {
 public:
  explicit GraphBuilder(int64_t n_ctx);
  void set_layer(int layer);
  /// Inputs come first: calling this after another op is a MINFER_CHECK. `count` in i32 elements.
  NodeId input(InputKind kind, int64_t count);
  NodeId add(std::string name, Op op, std::vector<NodeId> sources);
  void output(NodeId id);
  const Node& node(NodeId id) const;
  Graph build();

 private:
  Graph graph_;
  int layer_ = -1;
};

/// The output's description, or Error{bad_model}: each op's shape rule (graph/ops/NAME.h).
TensorDesc infer(const Op& op, const std::vector<TensorDesc>& sources, int64_t n_ctx);
/// "rms_norm", "fused_qkv": the op's name on every device.
std::string_view op_name(const Op& op);

}  // namespace minfer
