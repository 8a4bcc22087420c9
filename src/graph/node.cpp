#include "graph/graph.h"

namespace minfer {

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;
bool Node::operator==(const Node&) const = default;

}  // namespace minfer
