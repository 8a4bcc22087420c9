#pragma once
#include <algorithm>

#include "graph/pipeline.h"
#include "graph/stages.h"

namespace minfer {

/// Stage 5: a placed graph whose splits are encoded once and replayed.
class PlacedExecutable final : public Executable {
 public:
  PlacedExecutable(uint64_t uid, Graph graph, std::vector<Backend*> backends, Allocator& allocator);

  uint64_t uid() const override { return uid_; }
  const Graph& graph() const override { return graph_; }
  const std::vector<Placement>& placement() const { return placement_; }
  void set_input(InputKind kind, std::span<const int32_t> values) override;
  void run() override;
  void read_output(size_t index, std::span<float> values) override;

 private:
  struct EncodedSplit {
    Split split;
    std::vector<std::unique_ptr<Buffer>> staging;  ///< one a value of split.incoming
    std::unique_ptr<Program> program;
  };
  void encode(Split split, Allocator& allocator);
  void copy_incoming(EncodedSplit& encoded);
  void print_splits() const;

  uint64_t uid_;
  Graph graph_;
  std::vector<Backend*> backends_;
  std::vector<Placement> placement_;
  std::vector<EncodedSplit> splits_;
};

}  // namespace minfer
