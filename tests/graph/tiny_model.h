#pragma once
#include <memory>
#include <string>
#include <vector>

#include "graph/pipeline.h"
#include "graph/test_backend.h"

namespace minfer::test {

/// A decoder of a few thousand weights in the three shapes of block: with biases, with norms, with neither.
struct TinyModel {
  bool biases = false, qk_norms = false;
  DType type = DType::q8_0;
  int n_layers = 3;
  int64_t dim = 32, ffn = 64, n_heads = 4, n_kv_heads = 2, head_dim = 8, vocab = 48;
  int64_t kv_dim() const { return n_kv_heads * head_dim; }

  Graph build(const GraphParams& params) const;
  /// Every weight that the graph names, with values drawn from its name: the same for every backend.
  void add_weights(const Graph& graph, TestBackend& backend);

 private:
  std::vector<std::shared_ptr<const std::vector<std::byte>>> bytes_;
};

GraphParams decode_params(int64_t n_ctx);
GraphParams prefill_params(int64_t n_ctx, int64_t tokens);

/// The weights a node names.
std::vector<WeightRef> weights_of(const Op& op);

/// Backends, a model and a pipeline over them.
struct Rig {
  explicit Rig(TinyModel model_, std::vector<std::string> names = {"alpha"}, PipelineOptions options_ = {});
  Pipeline& pipeline();  ///< made at the first call, so that the backends can be set up before
  /// Logits of the last token.
  std::vector<float> forward(const GraphParams& params, int32_t first_position);
  /// A prompt of five tokens, then three single ones: all logits.
  std::vector<float> generate(const ContextParams& context);

  TinyModel model;
  std::vector<std::unique_ptr<TestBackend>> backends;
  PipelineOptions options;

 private:
  std::unique_ptr<Pipeline> pipeline_;
};

int count_ops_of(const Graph& graph, std::string_view op);

}  // namespace minfer::test
