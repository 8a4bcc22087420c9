#include <fmt/format.h>

#include "base/error.h"
#include "graph/graph.h"

namespace minfer {

GraphBuilder::GraphBuilder(int64_t n_ctx) { graph_.n_ctx = n_ctx; }

void GraphBuilder::set_layer(int layer) { layer_ = layer; }

NodeId GraphBuilder::input(InputKind kind, int64_t count) {
  constexpr std::string_view names[] = {"token_ids", "positions", "cells", "window", "tail_ids"};
  MINFER_CHECK(graph_.inputs.size() == graph_.nodes.size(), "inputs are declared at the head of the graph");
  Node node;
  node.id = NodeId(graph_.nodes.size());
  node.name = names[size_t(kind)];
  node.op = Input{kind};
  node.desc = desc_i32(count);
  node.layer = layer_;
  graph_.nodes.push_back(std::move(node));
  graph_.inputs.push_back(graph_.nodes.back().id);
  return graph_.inputs.back();
}

NodeId GraphBuilder::add(std::string name, Op op, std::vector<NodeId> sources) {
  std::vector<TensorDesc> described;
  for (NodeId source : sources) {
    MINFER_CHECK(source >= 0 && size_t(source) < graph_.nodes.size(), "a source exists before its consumer");
    described.push_back(graph_.nodes[size_t(source)].desc);
  }
  Node node;
  node.id = NodeId(graph_.nodes.size());
  try {
    node.desc = infer(op, described, graph_.n_ctx);
  } catch (const Error& e) {
    throw Error(e.code, fmt::format("node {}: {}", name, e.what()), e.hint);
  }
  node.name = std::move(name);
  node.op = std::move(op);
  node.sources = std::move(sources);
  node.layer = layer_;
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().id;
}

void GraphBuilder::output(NodeId id) { graph_.outputs.push_back(id); }

const Node& GraphBuilder::node(NodeId id) const { return graph_.nodes[size_t(id)]; }

Graph GraphBuilder::build() { return std::move(graph_); }

}  // namespace minfer
