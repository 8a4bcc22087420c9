#pragma once
#include <string>

#include "graph/graph.h"

namespace minfer {

/// Why no device runs a node, from its payload alone: a weight without whole blocks, heads of a width without
/// kernels, KV rows that their format cannot hold. Empty if it can run; a device adds what it lacks itself.
std::string node_refusal(const Node& node);

/// Why no kernel multiplies a weight, or reads rows of it; empty if one can.
std::string weight_refusal(const WeightRef& weight);

/// Why a product of the given source and output is none of op's weight; empty if it is one. A source of one
/// row may be wider than the weight: it then is a fused op's output, whose leading columns are read.
std::string matmul_shape_refusal(const MatMul& op, const TensorDesc& source, const TensorDesc& output);

}  // namespace minfer
