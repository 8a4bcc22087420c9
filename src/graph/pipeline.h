#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "graph/params.h"

namespace minfer {

/// A graph that went through every stage and can be run again and again: only inputs change.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual uint64_t uid() const = 0;  ///< fresh for each build
  virtual const Graph& graph() const = 0;
  /// Fills an input's first values.size() elements; the length must be the input's (MINFER_CHECK).
  virtual void set_input(InputKind kind, std::span<const int32_t> values) = 0;
  /// Runs every split and waits. Throws what Backend::run and wait throw; a data refusal leaves KV as it was.
  virtual void run() = 0;
  /// f32 values of output `index` of Graph::outputs, copied out; `values` has the output's element count.
  virtual void read_output(size_t index, std::span<float> values) = 0;
};

struct PipelineOptions {
  bool explain = false;       ///< print assign's reasons and every refused device
  std::string dump_dir;       ///< text and DOT of every stage, if set
  size_t max_cached = 4;      ///< graphs kept; the least recently used goes, and buffers that it alone used
  bool check_reuse = false;   ///< build again on every hit and abort if the graph differs
  bool reuse_buffers = true;  ///< false: every value has memory of its own, to find errors of liveness
};

/// build -> assign -> fuse -> alloc -> encode, with reuse; owns every buffer, the KV cache among them.
class Pipeline {
 public:
  using BuildGraph = std::function<Graph(const GraphParams&)>;
  /// `backends` in order of preference; each outlives the pipeline.
  static std::unique_ptr<Pipeline> create(std::vector<Backend*> backends, BuildGraph build,
                                          PipelineOptions options);
  virtual ~Pipeline() = default;
  /// The cached executable of equal params, or a new one. Throws Error and keeps every earlier graph and all
  /// KV. The reference lasts until max_cached other graphs were prepared; an output until another graph runs.
  virtual Executable& prepare(const GraphParams& params) = 0;
  /// KV regions of a layer, null before first use: for shifts, moves and sessions.
  virtual KvRegions kv(int layer) = 0;
  virtual size_t pooled_bytes() const = 0;
};

}  // namespace minfer
