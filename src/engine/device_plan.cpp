#include "engine/device_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "graph/allocator.h"
#include "graph/node_rules.h"

namespace minfer {
namespace {

constexpr size_t shown_obstacles = 3;

double in_mib(size_t bytes) { return double(bytes) / double(1 << 20); }

/// The weights of a model, by the part of its graph that names them.
class Plan {
 public:
  Plan(const Model& model, const Backend& device, const ContextParams& context)
      : device_(device), block_bytes_(size_t(model.hyperparams().n_layers), 0) {
    plan_.of = model.hyperparams().n_layers;
    for (const Weight& weight : model.weights()) bytes_[weight.ref.name] = weight.data.size();
    graphs_.push_back(model.build({1, 1, GraphParams::Phase::decode, context}));
    graphs_.push_back(model.build({2, 1, GraphParams::Phase::prefill, context}));
    sum_weights();
  }

  DevicePlan make(const LayerRequest& request) {
    plan_.blocks = request.kind == LayerRequest::Kind::count ? std::min(request.count, plan_.of)
                   : request.kind == LayerRequest::Kind::fit ? largest_fit()
                                                             : plan_.of;
    if (!plan_.whole() && request.kind == LayerRequest::Kind::count)
      note("{} blocks were asked for", request.count);
    if (!plan_.whole()) note("embedding, final norm and head are there only with all {} blocks", plan_.of);
    share_weights();
    find_obstacles();
    return std::move(plan_);
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    plan_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  bool on_device(const Node& node) const {
    return plan_.whole() || (node.layer >= 0 && node.layer < plan_.blocks);
  }

  /// Each weight counts where it is named first.
  void sum_weights() {
    std::set<std::string> seen;
    for (const Node& node : graphs_.front().nodes) {
      for (const WeightRef& ref : weights_of(node.op)) {
        if (!seen.insert(ref.name).second) continue;
        (node.layer >= 0 ? block_bytes_[size_t(node.layer)] : rest_bytes_) += bytes_.at(ref.name);
      }
    }
  }

  /// A quarter of the budget is kept for KV and activations.
  int64_t largest_fit() {
    const MemoryAnswer answer = device_.memory();
    const Budget budget(device_);
    if (answer.state == MemoryAnswer::State::failed && !budget.bytes()) {
      throw Error(ErrorCode::device,
                  fmt::format("{}: asking for its memory failed: {}", device_.name(), answer.error),
                  "say how many blocks it shall take with --gpu-layers N, or set MINFER_GPU_MEM");
    }
    if (!budget.bytes()) return plan_.of;
    const size_t limit = *budget.bytes() / 4 * 3;
    size_t sum = 0;
    int64_t blocks = 0;
    while (blocks < plan_.of) {
      sum += block_bytes_[size_t(blocks)] + (blocks + 1 == plan_.of ? rest_bytes_ : 0);
      if (sum > limit) break;
      ++blocks;
    }
    if (blocks < plan_.of) {
      note(
          "{} blocks fit: one more would make {:.2f} MiB of weights, three quarters of the budget are {:.2f} "
          "MiB",
          blocks, in_mib(sum), in_mib(limit));
    }
    return blocks;
  }

  void share_weights() {
    for (const Node& node : graphs_.front().nodes) {
      for (const WeightRef& ref : weights_of(node.op)) {
        const bool fresh =
            (on_device(node) ? plan_.device_weights : plan_.host_weights).insert(ref.name).second;
        if (fresh && on_device(node)) plan_.weight_bytes += bytes_.at(ref.name);
      }
    }
  }

  void find_obstacles() {
    std::set<std::string> names;  // both graphs have most nodes
    for (const Graph& graph : graphs_) {
      for (const Node& node : graph.nodes) {
        if (!on_device(node) || std::holds_alternative<Input>(node.op)) continue;
        const Support support = device_.supports(node);
        if (support.ok || !names.insert(node.name).second) continue;
        plan_.obstacles.push_back(fmt::format("{} ({}): {}", node.name, op_name(node.op), support.why));
      }
    }
  }

  const Backend& device_;
  std::vector<Graph> graphs_;
  std::map<std::string, size_t> bytes_;
  std::vector<size_t> block_bytes_;
  size_t rest_bytes_ = 0;
  DevicePlan plan_;
};

}  // namespace

LayerRequest layer_request(const std::string& option) {
  std::string text = option, source = "--gpu-layers";
  if (text.empty()) {
    const char* variable = std::getenv("MINFER_GPU_LAYERS");
    if (!variable || !*variable) return {};
    text = variable;
    source = "MINFER_GPU_LAYERS";
  }
  if (text == "auto") return {LayerRequest::Kind::fit};
  LayerRequest request{LayerRequest::Kind::count};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), request.count);
  if (error != std::errc() || end != text.data() + text.size() || request.count < 0) {
    throw Error(ErrorCode::bad_request,
                fmt::format("{} is `{}`, expected a number of blocks or auto", source, text),
                "0 puts none on the device; a number past the model's last block means all");
  }
  return request;
}

DevicePlan plan_device(const Model& model, const Backend& device, const ContextParams& context,
                       const LayerRequest& request) {
  return Plan(model, device, context).make(request);
}

KvFormat device_kv_format(const Hyperparams& hyperparams) {
  constexpr int64_t from = 8192;  // values of one token over all layers
  return hyperparams.n_layers * hyperparams.kv_dim() >= from ? KvFormat::f16 : KvFormat::f32;
}

std::string DevicePlan::obstacle_text() const {
  std::string text;
  for (size_t i = 0; i < std::min(obstacles.size(), shown_obstacles); ++i) text += "\n  " + obstacles[i];
  if (obstacles.size() > shown_obstacles)
    text += fmt::format("\n  and {} more", obstacles.size() - shown_obstacles);
  return text;
}

}  // namespace minfer
