#include "graph/pipeline.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <list>

#include "base/error.h"
#include "base/log.h"
#include "graph/execute.h"

namespace minfer {
namespace {

class CachingPipeline final : public Pipeline {
 public:
  CachingPipeline(std::vector<Backend*> backends, BuildGraph build, PipelineOptions options)
      : backends_(std::move(backends)),
        build_(std::move(build)),
        options_(std::move(options)),
        allocator_(backends_) {
    if (!options_.dump_dir.empty()) std::filesystem::create_directories(options_.dump_dir);
  }

  Executable& prepare(const GraphParams& params) override {
    for (auto entry = cache_.begin(); entry != cache_.end(); ++entry) {
      if (!(entry->params == params)) continue;
      cache_.splice(cache_.begin(), cache_, entry);  // most recently used first
      return *cache_.front().executable;
    }
    auto executable = make(params);
    cache_.push_front({params, std::move(executable)});
    if (cache_.size() > options_.max_cached) cache_.pop_back();
    return *cache_.front().executable;
  }

  KvRegions kv(int layer) override { return allocator_.kv(layer); }
  size_t pooled_bytes() const override { return allocator_.pooled_bytes(); }

 private:
  struct Entry {
    GraphParams params;
    std::unique_ptr<PlacedExecutable> executable;
  };

  std::unique_ptr<PlacedExecutable> make(const GraphParams& params) {
    Graph graph = build_(params);
    verify(graph, Stage::build);
    dump("1_build", graph);
    const std::string reasons = assign(graph, backends_);
    verify(graph, Stage::assign);
    if (options_.explain)
      log_line(LogLevel::info, fmt::format("devices of a graph of {} tokens:\n{}", params.n_tokens, reasons));
    dump("2_assign", graph);
    fuse(graph, params, backends_);
    dump("3_fuse", graph);
    auto executable = std::make_unique<PlacedExecutable>(next_uid_, std::move(graph), backends_, allocator_);
    ++next_uid_;
    dump("4_alloc", executable->graph(), &executable->placement());
    return executable;
  }

  /// Writes STAGE-UID.txt and .dot; uid is the graph's.
  void dump(std::string_view stage, const Graph& graph, const std::vector<Placement>* placement = nullptr) {
    if (options_.dump_dir.empty()) return;
    const std::string base =
        fmt::format("{}/{}-{}", options_.dump_dir, next_uid_ - (placement ? 1 : 0), stage);
    for (const auto& [suffix, text] : {std::pair(".txt", dump_text(graph, backends_, placement)),
                                       std::pair(".dot", dump_dot(graph, backends_))}) {
      std::ofstream file(base + suffix);
      file << text;
      if (!file.flush())
        throw Error(ErrorCode::io, fmt::format("cannot write {}{}", base, suffix),
                    "choose another folder for --dump");
    }
  }

  std::vector<Backend*> backends_;
  BuildGraph build_;
  PipelineOptions options_;
  Allocator allocator_;  // outlives every graph: it holds the KV cache
  std::list<Entry> cache_;
  uint64_t next_uid_ = 1;
};

}  // namespace

std::unique_ptr<Pipeline> Pipeline::create(std::vector<Backend*> backends, BuildGraph build,
                                           PipelineOptions options) {
  return std::make_unique<CachingPipeline>(std::move(backends), std::move(build), std::move(options));
}

}  // namespace minfer
