#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"
#include "gguf/writer.h"
#include "random_blocks.h"

/// Models with the true shapes of published ones and random weights: what speed is measured on where the real
/// files cannot be had.
namespace minfer::bench {

struct ModelShape {
  std::string_view name;
  std::string_view architecture;  ///< "qwen2", "qwen3" or "llama"
  int64_t layers, dim, heads, kv_heads, head_dim, ffn_dim, vocab, context;
  float rope_base, norm_eps;
  bool llama3_rope = false;  ///< has rope_freqs.weight
};
std::span<const ModelShape> model_shapes();
/// Throws Error{bad_request} listing the known names.
const ModelShape& model_shape(std::string_view name);

/// How weights are spread over types, as llama.cpp's quantising program spreads them.
struct TypePlan {
  DType type;
  bool mix = false;  ///< Q4_K_M: Q4_K with some layers' attn_v and ffn_down in Q6_K
  bool pure =
      false;  ///< every matrix in `type`; otherwise a quantised model's output matrix is Q6_K or better
};
/// "Q4_K_M" or one of the eleven types, in any case. Throws Error{bad_request} listing them.
TypePlan type_plan(std::string_view name);

struct RandomTensor {
  std::string name;
  std::vector<int64_t> shape;
  RandomWeights weights;
  std::vector<float> values;  ///< instead of random ones, where not empty
};
/// All tensors of a model in file order. The output matrix is the embedding's: all these models share it.
/// A width that is no multiple of 256 gets, instead of Q4_K, Q5_K and Q6_K, the types Q5_0, Q5_1 and Q8_0.
std::vector<RandomTensor> plan_tensors(const ModelShape& shape, const TypePlan& plan, uint64_t seed);

/// A file ready to be written. Vocabulary and template are those of `vocabulary`, padded to the shape's
/// number of tokens; without one, made-up words of letters a to z. Throws Error{bad_request} if it has more
/// tokens.
gguf::Writer random_model(const ModelShape& shape, const TypePlan& plan, const gguf::File* vocabulary,
                          uint64_t seed);

}  // namespace minfer::bench
