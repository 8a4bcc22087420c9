#include "models/architectures.h"
#include "models/blocks.h"

namespace minfer {
namespace {

/// Qwen2 and Qwen2.5: biases on q, k and v, rotary halves.
constexpr BlockStyle style = {.rope = RopeStyle::split_half, .qkv_bias = BlockStyle::Presence::required};

std::vector<WeightRef> weights(const Hyperparams& h, const gguf::File& file) {
  return transformer_weights(h, file, style);
}
Graph build(const Hyperparams& h, const gguf::File& file, const GraphParams& params) {
  return transformer_graph(h, file, params, style);
}

}  // namespace

const Architecture qwen2 = {"qwen2", weights, build};

}  // namespace minfer
