#pragma once
#include <string>

#include "graph/graph.h"

namespace minfer {

/// Why no device runs a node, from its payload alone: a weight without whole blocks, heads of a width without
/// kernels, KV rows that their format cannot hold. Empty if it can run; a device adds what it lacks itself.
std::string node_refusal(const Node& node);

}  // namespace minfer
