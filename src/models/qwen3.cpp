#include "models/architectures.h"
#include "models/blocks.h"

namespace minfer {
namespace {

/// Qwen3 (dense): no biases, per-head norms of q and k, a head width of its own (attention.key_length).
constexpr BlockStyle style = {.rope = RopeStyle::split_half, .qk_norm = true};

std::vector<WeightRef> weights(const Hyperparams& h, const gguf::File& file) {
  return transformer_weights(h, file, style);
}
Graph build(const Hyperparams& h, const gguf::File& file, const GraphParams& params) {
  return transformer_graph(h, file, params, style);
}

}  // namespace

const Architecture qwen3 = {"qwen3", weights, build};

}  // namespace minfer
