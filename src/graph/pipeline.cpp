#include "graph/pipeline.h"

#include <fmt/format.h>

#include <cstdlib>
#include <list>

#include "base/error.h"
#include "base/log.h"
#include "graph/capture.h"
#include "graph/executor.h"
#include "graph/node_rules.h"

namespace minfer {
namespace {

bool trace_wanted() {
  const char* text = std::getenv("MINFER_GRAPH_TRACE");
  return text && std::string_view(text) == "1";
}

std::string describe_splits(const std::vector<Split>& splits, Backends backends) {
  std::string text;
  for (size_t i = 0; i < splits.size(); ++i) {
    const Split& split = splits[i];
    text += fmt::format("split {} on {}: nodes {} to {}, {} run, {} cross\n", i,
                        backends[size_t(split.backend)]->name(), split.nodes.front(), split.nodes.back(),
                        split.nodes.size(), split.crossings.size());
  }
  return text;
}

/// Where each value lies, for the dump of the last stage.
std::vector<std::string> describe_places(const Graph& graph, const MemoryPlan& plan) {
  std::vector<std::string> notes(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    const int slot = plan.slot_of[size_t(node.id)];
    std::string& note = notes[size_t(node.id)];
    if (slot != no_slot) note = fmt::format("buffer {} of {} bytes", slot, plan.slots[size_t(slot)].bytes);
    if (!node.dead && is_kv_region(node.op))
      note = fmt::format("KV region of layer {}", kv_use(node.op)->layer);
  }
  return notes;
}

class PipelineImpl final : public Pipeline {
 public:
  PipelineImpl(std::vector<Backend*> backends, BuildGraph build, PipelineOptions options)
      : backends_(std::move(backends)),
        build_(std::move(build)),
        options_(std::move(options)),
        capture_folder_(capture_folder()),
        allocator_(backends_) {}

  Executable& prepare(const GraphParams& params) override {
    for (auto entry = cache_.begin(); entry != cache_.end(); ++entry) {
      if (entry->params != params) continue;
      cache_.splice(cache_.begin(), cache_, entry);
      if (options_.check_reuse) check_reuse(cache_.front());
      return *cache_.front().executable;
    }
    cache_.push_front(make(params));
    if (cache_.size() > std::max<size_t>(options_.max_cached, 1)) drop_oldest();
    return *cache_.front().executable;
  }

  KvRegions kv(int layer) override { return allocator_.kv(layer); }
  size_t pooled_bytes() const override { return allocator_.pooled_bytes(); }

 private:
  struct Entry {
    GraphParams params;
    Graph built;  // as stage 1 left it; empty unless reuse is checked
    std::unique_ptr<Executor> executable;
  };

  void drop_oldest() {
    cache_.pop_back();
    std::vector<const Placement*> used;
    for (const Entry& entry : cache_) used.push_back(&entry.executable->placement());
    allocator_.keep_only(used);
  }

  Entry make(const GraphParams& params) {
    check_disabled_passes(params.context.disabled_passes);
    Entry entry{params, {}, nullptr};
    Graph graph = build_(params);
    if (options_.check_reuse) entry.built = graph;
    verify(graph, Stage::build);
    dump("1_build", graph);

    const std::vector<Refusal> refusals = assign(graph, backends_, params.context);
    verify(graph, Stage::assign, backends_.size());
    dump("2_assign", graph);
    if (options_.explain) log_line(LogLevel::info, explain(graph, backends_, refusals));

    fuse(graph, params, backends_);
    dump("3_fuse", graph);

    std::vector<Split> splits = cut_splits(graph);
    const MemoryPlan plan = plan_memory(graph, splits, {options_.reuse_buffers, !capture_folder_.empty()});
    const std::string fault = find_memory_fault(graph, plan);
    if (!fault.empty()) log_line(LogLevel::error, fault);
    MINFER_CHECK(fault.empty(), "no two live values share memory");
    dump("4_alloc", graph, describe_places(graph, plan));
    if (trace_wanted())
      log_line(LogLevel::info, describe_splits(splits, backends_) + count_ops(graph, backends_));

    Placement placement = allocator_.place(graph, plan);
    entry.executable = encode(std::move(graph), std::move(splits), std::move(placement));
    return entry;
  }

  std::unique_ptr<Executor> encode(Graph graph, std::vector<Split> splits, Placement placement) {
    try {
      return std::make_unique<Executor>(++last_uid_, std::move(graph), std::move(splits), placement,
                                        allocator_, backends_, capture_folder_);
    } catch (...) {
      allocator_.forget_new_layers(placement);
      throw;
    }
  }

  /// Equal params must give equal graphs: whatever else a builder reads is missing from GraphParams.
  void check_reuse(const Entry& entry) const {
    const std::string difference = structural_difference(entry.built, build_(entry.params));
    if (!difference.empty())
      log(LogLevel::error, "a reused graph would now be built differently: {}", difference);
    MINFER_CHECK(difference.empty(), "equal GraphParams give equal graphs");
  }

  void dump(std::string_view stage, const Graph& graph, std::span<const std::string> notes = {}) const {
    if (!options_.dump_dir.empty()) write_dump(options_.dump_dir, stage, graph, backends_, notes);
  }

  const std::vector<Backend*> backends_;
  const BuildGraph build_;
  const PipelineOptions options_;
  const std::string capture_folder_;  // empty: nothing is captured
  Allocator allocator_;
  std::list<Entry> cache_;  // most recently used first; its programs go before the buffers they use
  uint64_t last_uid_ = 0;
};

}  // namespace

std::unique_ptr<Pipeline> Pipeline::create(std::vector<Backend*> backends, BuildGraph build,
                                           PipelineOptions options) {
  MINFER_CHECK(!backends.empty(), "a pipeline has a backend");
  return std::make_unique<PipelineImpl>(std::move(backends), std::move(build), std::move(options));
}

}  // namespace minfer
