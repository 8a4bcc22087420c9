#include <fmt/format.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/node_rules.h"

/// Stage 1: nodes are appended, and every shape is inferred and checked here, once.
namespace minfer {
namespace {

std::string_view input_name(InputKind kind) {
  switch (kind) {
    case InputKind::token_ids:
      return "token_ids";
    case InputKind::positions:
      return "positions";
    case InputKind::cells:
      return "cells";
    case InputKind::window:
      return "window";
    case InputKind::tail_ids:
      return "tail_ids";
  }
  return "input";
}

}  // namespace

GraphBuilder::GraphBuilder(int64_t n_ctx) { graph_.n_ctx = n_ctx; }

void GraphBuilder::set_layer(int layer) { layer_ = layer; }

NodeId GraphBuilder::input(InputKind kind, int64_t count) {
  MINFER_CHECK(graph_.nodes.size() == graph_.inputs.size(), "inputs are declared before any other node");
  MINFER_CHECK(count > 0, "an input has elements");
  Node node;
  node.id = NodeId(graph_.nodes.size());
  node.name = input_name(kind);
  node.op = Input{kind};
  node.desc = desc_i32(count);
  node.layer = layer_;
  graph_.inputs.push_back(node.id);
  graph_.nodes.push_back(std::move(node));
  return graph_.inputs.back();
}

NodeId GraphBuilder::add(std::string name, Op op, std::vector<NodeId> sources) {
  Node node;
  node.id = NodeId(graph_.nodes.size());
  node.name = std::move(name);
  node.op = std::move(op);
  node.sources = std::move(sources);
  node.layer = layer_;
  for (NodeId source : node.sources) {
    MINFER_CHECK(source >= 0 && source < node.id, "a source is an earlier node of this builder");
  }
  try {
    node.desc = infer_node(graph_, node);
  } catch (const Error& error) {
    throw Error(error.code, fmt::format("building node {} ({}): {}", node.id, node.name, error.what()),
                error.hint);
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().id;
}

void GraphBuilder::output(NodeId id) {
  MINFER_CHECK(id >= 0 && size_t(id) < graph_.nodes.size(), "an output is a node of this builder");
  MINFER_CHECK(!is_output(graph_, id), "an output is declared once");
  graph_.outputs.push_back(id);
}

const Node& GraphBuilder::node(NodeId id) const {
  MINFER_CHECK(id >= 0 && size_t(id) < graph_.nodes.size(), "the node is of this builder");
  return graph_.nodes[size_t(id)];
}

Graph GraphBuilder::build() { return std::move(graph_); }

}  // namespace minfer
