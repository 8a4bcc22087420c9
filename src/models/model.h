#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/huge_pages.h"
#include "gguf/gguf.h"
#include "graph/graph.h"
#include "graph/params.h"
#include "tokenizer/tokenizer.h"

namespace minfer {

/// Numbers that fix a model's shape, read from `<architecture>.*` keys.
struct Hyperparams {
  std::string architecture;
  int64_t dim = 0, n_layers = 0, ffn_dim = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
  int64_t vocab = 0;           ///< rows of the head: logits a token
  int64_t context_length = 0;  ///< trained length
  float norm_eps = 0;
  float rope_base = 10000, rope_scale = 1;
  int64_t kv_dim() const { return n_kv_heads * head_dim; }
};

/// One architecture: what a new model file implements and registers in registry.cpp.
struct Architecture {
  std::string_view name;
  /// Every weight the graph will name, with shape rules checked against the file. Throws Error{bad_model}
  /// naming tensor, shape found, shape expected.
  std::vector<WeightRef> (*weights)(const Hyperparams&, const gguf::File&);
  /// The forward pass as plain, unfused ops; fusions are passes.
  Graph (*build)(const Hyperparams&, const gguf::File&, const GraphParams&);
};
const Architecture& architecture(std::string_view name);  ///< Error{unsupported} listing the known ones

/// A loaded file: hyperparameters, tokenizer, weights by name. Immutable; shared by every session.
class Model {
 public:
  static std::shared_ptr<const Model> load(const std::string& path);
  const Hyperparams& hyperparams() const { return hyperparams_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const gguf::File& file() const { return *file_; }
  const std::vector<Weight>& weights() const { return weights_; }
  size_t weight_bytes() const;
  /// Moves the file's bytes to faster pages, unseen by whoever reads them.
  HugePageMover& pages() const { return *pages_; }
  Graph build(const GraphParams& params) const;

 private:
  std::shared_ptr<const gguf::File> file_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Hyperparams hyperparams_;
  const Architecture* architecture_ = nullptr;
  std::vector<Weight> weights_;
  std::unique_ptr<HugePageMover> pages_;
};

}  // namespace minfer
