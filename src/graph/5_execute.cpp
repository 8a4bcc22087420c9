#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "graph/execute.h"

namespace minfer {

std::vector<Split> make_splits(const Graph& graph) {
  std::vector<Split> splits;
  for (const Node& node : graph.nodes) {
    if (node.dead || std::holds_alternative<Input>(node.op)) continue;
    if (splits.empty() || splits.back().backend != node.backend) splits.push_back({node.backend, {}, {}});
    Split& split = splits.back();
    split.nodes.push_back(node.id);
    for (NodeId source : node.sources) {
      if (graph.nodes[size_t(source)].backend == split.backend) continue;
      if (std::find(split.incoming.begin(), split.incoming.end(), source) == split.incoming.end())
        split.incoming.push_back(source);
    }
  }
  return splits;
}

PlacedExecutable::PlacedExecutable(uint64_t uid, Graph graph, std::vector<Backend*> backends,
                                   Allocator& allocator)
    : uid_(uid), graph_(std::move(graph)), backends_(std::move(backends)) {
  placement_ = allocator.place(graph_);
  verify_placement(graph_, placement_);
  for (Split& split : make_splits(graph_)) encode(std::move(split), allocator);
  if (const char* trace = std::getenv("MINFER_GRAPH_TRACE"); trace && *trace && *trace != '0') print_splits();
}

void PlacedExecutable::encode(Split split, Allocator& allocator) {
  EncodedSplit encoded{std::move(split), {}, nullptr};
  std::map<NodeId, Buffer*> arrived;
  for (NodeId id : encoded.split.incoming) {
    encoded.staging.push_back(
        allocator.allocate_staging(encoded.split.backend, graph_.nodes[size_t(id)].desc.bytes()));
    arrived[id] = encoded.staging.back().get();
  }
  std::vector<PlacedNode> placed;
  for (NodeId id : encoded.split.nodes) {
    const Node& node = graph_.nodes[size_t(id)];
    PlacedNode& p = placed.emplace_back();
    p.node = &node;
    p.n_ctx = graph_.n_ctx;
    if (const auto use = kv_use(node.op)) p.kv = allocator.kv(use->layer);
    p.output = {placement_[size_t(id)].buffer, node.desc};
    for (NodeId source : node.sources) {
      const auto staged = arrived.find(source);
      p.sources.push_back({staged == arrived.end() ? placement_[size_t(source)].buffer : staged->second,
                           graph_.nodes[size_t(source)].desc});
    }
  }
  encoded.program = backends_[size_t(encoded.split.backend)]->encode(placed);
  splits_.push_back(std::move(encoded));
}

void PlacedExecutable::print_splits() const {
  for (size_t i = 0; i < splits_.size(); ++i) {
    std::map<std::string_view, int> counts;
    for (NodeId id : splits_[i].split.nodes) ++counts[op_name(graph_.nodes[size_t(id)].op)];
    std::string line;
    for (const auto& [op, count] : counts) line += fmt::format(" {} {}", count, op);
    log_line(LogLevel::info,
             fmt::format("graph {} split {} on {}: {} nodes, {} incoming:{}", uid_, i,
                         backends_[size_t(splits_[i].split.backend)]->name(), splits_[i].split.nodes.size(),
                         splits_[i].split.incoming.size(), line));
  }
}

void PlacedExecutable::set_input(InputKind kind, std::span<const int32_t> values) {
  for (NodeId id : graph_.inputs) {
    const Node& node = graph_.nodes[size_t(id)];
    if (std::get<Input>(node.op).kind != kind) continue;
    MINFER_CHECK(int64_t(values.size()) == node.desc.elements(), "an input is filled completely");
    backends_[size_t(node.backend)]->copy_in(*placement_[size_t(id)].buffer, 0, std::as_bytes(values));
    return;
  }
  MINFER_CHECK(false, "the graph has an input of this kind");
}

void PlacedExecutable::copy_incoming(EncodedSplit& encoded) {
  for (size_t i = 0; i < encoded.split.incoming.size(); ++i) {
    const Node& node = graph_.nodes[size_t(encoded.split.incoming[i])];
    std::vector<std::byte> through(node.desc.bytes());
    backends_[size_t(node.backend)]->copy_out(*placement_[size_t(node.id)].buffer, 0, through);
    backends_[size_t(encoded.split.backend)]->copy_in(*encoded.staging[i], 0, through);
  }
}

void PlacedExecutable::run() {
  for (EncodedSplit& encoded : splits_) {
    copy_incoming(encoded);
    Backend& backend = *backends_[size_t(encoded.split.backend)];
    backend.run(*encoded.program);
    backend.wait();  // the next split is another backend's, or the caller reads the output
  }
}

void PlacedExecutable::read_output(size_t index, std::span<float> values) {
  MINFER_CHECK(index < graph_.outputs.size(), "the graph has this output");
  const Node& node = graph_.nodes[size_t(graph_.outputs[index])];
  MINFER_CHECK(int64_t(values.size()) == node.desc.elements(), "an output is read completely");
  backends_[size_t(node.backend)]->copy_out(*placement_[size_t(node.id)].buffer, 0,
                                            std::as_writable_bytes(values));
}

}  // namespace minfer
