#pragma once
#include <string>
#include <vector>

#include "models/model.h"

/// What the transformer architectures share: collecting weights with their shapes checked, and the pre-norm
/// block.
namespace minfer {

/// How an architecture differs from the common block.
struct BlockStyle {
  RopeStyle rope = RopeStyle::split_half;
  enum class Presence { never, optional, required };
  Presence qkv_bias = Presence::never;
  bool qk_norm = false;       ///< per-head norms of q and k before rope, required
  bool rope_factors = false;  ///< rope_freqs.weight is honoured if present
};

/// Every weight of a model in this style, in file terms. Throws Error{bad_model} naming file, tensor, what
/// was found and what was expected; norms and biases must be F32.
std::vector<WeightRef> transformer_weights(const Hyperparams& h, const gguf::File& file,
                                           const BlockStyle& style);

/// The forward pass: embedding, blocks (norm, q k v, rope, store, attention, output, residual; norm, gate,
/// up, SiLU, down, residual), the last n_out rows, final norm, head. Where n_out is 0 it ends with the keys
/// and values of the last block. Plain ops only; fusions are passes.
Graph transformer_graph(const Hyperparams& h, const gguf::File& file, const GraphParams& params,
                        const BlockStyle& style);

}  // namespace minfer
