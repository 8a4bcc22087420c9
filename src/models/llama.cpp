#include "models/architectures.h"
#include "models/blocks.h"

namespace minfer {
namespace {

/// Llama 2 and 3, SmolLM2, Mistral: interleaved rotary pairs, Llama 3's rope_freqs, biases as the file has
/// them.
constexpr BlockStyle style = {
    .rope = RopeStyle::interleaved, .qkv_bias = BlockStyle::Presence::optional, .rope_factors = true};

std::vector<WeightRef> weights(const Hyperparams& h, const gguf::File& file) {
  return transformer_weights(h, file, style);
}
Graph build(const Hyperparams& h, const gguf::File& file, const GraphParams& params) {
  return transformer_graph(h, file, params, style);
}

}  // namespace

const Architecture llama = {"llama", weights, build};

}  // namespace minfer
