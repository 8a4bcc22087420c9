#pragma once
#include <memory>

#include "graph/allocator.h"
#include "graph/pipeline.h"

namespace minfer {

/// An encoded graph: its programs and where its values lie.
class Executor final : public Executable {
 public:
  /// Encodes every split. What a run captures goes to `capture_folder`. Throws what Backend::encode throws.
  Executor(uint64_t uid, Graph graph, std::vector<Split> splits, Placement placement,
           const Allocator& allocator, Backends backends, std::string capture_folder);
  uint64_t uid() const override { return uid_; }
  const Graph& graph() const override { return graph_; }
  const Placement& placement() const { return placement_; }
  void set_input(InputKind kind, std::span<const int32_t> values) override;
  void run() override;
  void read_output(size_t index, std::span<float> values) override;

 private:
  PlacedNode resolve(const Node& node, const Allocator& allocator) const;
  void check_inputs() const;
  void carry(const Crossing& crossing, int to);
  Backend& backend(int index) const { return *backends_[size_t(index)]; }

  const uint64_t uid_;
  const Graph graph_;
  const std::vector<Split> splits_;
  const Placement placement_;
  const Backends backends_;
  std::map<std::pair<NodeId, int>, Buffer*> staged_;  // value and reader's backend
  std::vector<std::unique_ptr<Program>> programs_;    // by split
  std::vector<std::vector<int32_t>> inputs_;          // what was set, by Graph::inputs
  std::vector<std::byte> host_;                       // a crossing value on its way
  const std::string capture_folder_;                  // empty: nothing is captured
  int runs_ = 0;
};

}  // namespace minfer
