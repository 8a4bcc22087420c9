#include <fmt/format.h>

#include "base/error.h"
#include "graph/capture.h"
#include "graph/executor.h"
#include "graph/node_rules.h"

/// Stage 5: splits are encoded once, then run one after the other; values cross through host memory.
namespace minfer {

Executor::Executor(uint64_t uid, Graph graph, std::vector<Split> splits, Placement placement,
                   const Allocator& allocator, Backends backends, std::string capture_folder)
    : uid_(uid),
      graph_(std::move(graph)),
      splits_(std::move(splits)),
      placement_(std::move(placement)),
      backends_(backends),
      inputs_(graph_.inputs.size()),
      capture_folder_(std::move(capture_folder)) {
  for (const Split& split : splits_) {
    for (const Crossing& crossing : split.crossings) {
      staged_[{crossing.value, split.backend}] = placement_.staging[size_t(crossing.staging)];
    }
    std::vector<PlacedNode> placed;
    placed.reserve(split.nodes.size());
    for (NodeId id : split.nodes) placed.push_back(resolve(graph_.nodes[size_t(id)], allocator));
    programs_.push_back(backend(split.backend).encode(placed));
  }
}

PlacedNode Executor::resolve(const Node& node, const Allocator& allocator) const {
  PlacedNode placed;
  placed.node = &node;
  placed.n_ctx = graph_.n_ctx;
  placed.output = {placement_.values[size_t(node.id)], node.desc};
  placed.capture = placement_.captures[size_t(node.id)];
  if (const auto use = kv_use(node.op)) placed.kv = allocator.kv(use->layer);
  for (NodeId id : node.sources) {
    const Node& source = graph_.nodes[size_t(id)];
    const auto staged = staged_.find({id, node.backend});
    Buffer* buffer = staged == staged_.end() ? placement_.values[size_t(id)] : staged->second;
    MINFER_CHECK(buffer && (source.backend == node.backend || staged != staged_.end()),
                 "a source lies on the backend that reads it, or is staged there");
    placed.sources.push_back({buffer, visible_desc(source)});
  }
  return placed;
}

void Executor::set_input(InputKind kind, std::span<const int32_t> values) {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Node& input = graph_.nodes[size_t(graph_.inputs[i])];
    if (std::get<Input>(input.op).kind != kind) continue;
    MINFER_CHECK(int64_t(values.size()) == input.desc.elements(), "an input is set whole");
    backend(input.backend).copy_in(*placement_.values[size_t(input.id)], 0, std::as_bytes(values));
    inputs_[i].assign(values.begin(), values.end());
    return;
  }
  MINFER_CHECK(false, "the graph has this input");
}

/// A device refuses bad data before it starts, but with several splits an earlier one has then already
/// written its KV rows. So cells are checked here, for the whole graph.
void Executor::check_inputs() const {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Node& input = graph_.nodes[size_t(graph_.inputs[i])];
    MINFER_CHECK(!inputs_[i].empty(), "every input is set before the first run");
    if (std::get<Input>(input.op).kind != InputKind::cells) continue;
    for (int32_t cell : inputs_[i]) {
      if (cell >= 0 && cell < graph_.n_ctx) continue;
      throw Error(
          ErrorCode::bad_request,
          fmt::format("running the graph: cell {} is out of range, expected 0 to {}", cell, graph_.n_ctx - 1),
          "use a longer context");
    }
  }
}

void Executor::carry(const Crossing& crossing, int to) {
  const Node& value = graph_.nodes[size_t(crossing.value)];
  host_.resize(value.desc.bytes());
  backend(value.backend).copy_out(*placement_.values[size_t(value.id)], 0, host_);
  backend(to).copy_in(*placement_.staging[size_t(crossing.staging)], 0, host_);
}

void Executor::run() {
  check_inputs();
  for (size_t i = 0; i < splits_.size(); ++i) {
    const Split& split = splits_[i];
    if (i > 0) backend(splits_[i - 1].backend).wait();
    for (const Crossing& crossing : split.crossings) carry(crossing, split.backend);
    backend(split.backend).run(*programs_[i]);
  }
  if (!splits_.empty()) backend(splits_.back().backend).wait();
  ++runs_;
  if (!capture_folder_.empty())
    write_captures(capture_folder_, uid_, runs_, graph_, placement_.captures, backends_);
}

void Executor::read_output(size_t index, std::span<float> values) {
  MINFER_CHECK(index < graph_.outputs.size(), "the graph has this output");
  const Node& output = graph_.nodes[size_t(graph_.outputs[index])];
  MINFER_CHECK(int64_t(values.size()) == output.desc.elements(), "an output is read whole");
  backend(output.backend).copy_out(*placement_.values[size_t(output.id)], 0, std::as_writable_bytes(values));
}

}  // namespace minfer
