#include "engine/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "graph/allocator.h"

namespace minfer {
namespace {

/// MINFER_CACHE_TYPE, case-sensitive; unset or empty means the device's policy.
std::optional<KvFormat> kv_format_from_environment() {
  const char* text = std::getenv("MINFER_CACHE_TYPE");
  if (!text || !*text) return std::nullopt;
  return kv_format_from_name(text);
}

class Opener {
 public:
  Opener(const Model& model, const SessionOptions& options, ContextParams& context,
         std::span<const DeviceKind> kinds)
      : kinds_(kinds),
        model_(model),
        options_(options),
        context_(context),
        kv_format_(options.kv_format ? options.kv_format : kv_format_from_environment()),
        layers_(layer_request(options.gpu_layers)) {
    if (options.threads < 0)
      throw Error(ErrorCode::bad_request, fmt::format("{} threads", options.threads), "use 1 or more");
    device_options_.threads = options.threads ? options.threads : usable_cores();
    device_options_.half_staging = options.half_staging;
  }

  Devices open() {
    if (options_.device == "auto") {
      choose();
    } else if (options_.device == "cpu") {
      if (!options_.gpu_layers.empty() && options_.gpu_layers != "0") {
        throw Error(ErrorCode::bad_request,
                    fmt::format("{} blocks on a device, and device cpu", options_.gpu_layers),
                    "name another device, or leave --gpu-layers out");
      }
    } else {
      take(device_kind(options_.device, kinds_));
    }
    if (!devices_.device) set_context(false);
    if (!devices_.device || !devices_.plan.whole())
      devices_.cpu = device_kind("cpu", kinds_).open(device_options_);
    register_weights();
    return std::move(devices_);
  }

 private:
  /// What the device could take; nothing changes but the context.
  DevicePlan plan_for(const Backend& device, const LayerRequest& layers) {
    set_context(true);
    return plan_device(model_, device, context_, layers);
  }

  /// Everything, or what fits where everything cannot: only `auto` may give less than was asked for.
  DevicePlan plan_to_choose(const Backend& device) {
    DevicePlan plan = plan_for(device, layers_);
    const Budget budget(device);
    const bool too_large = budget.bytes() && plan.weight_bytes > *budget.bytes();
    if (layers_.kind != LayerRequest::Kind::all || !too_large) return plan;
    return plan_for(device, {LayerRequest::Kind::fit});
  }

  /// A device asked for by name runs the model or is refused.
  void take(const DeviceKind& kind) {
    auto device = kind.open(device_options_);
    DevicePlan plan = plan_for(*device, layers_);
    if (!plan.obstacles.empty()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("device {} cannot run this model:{}", kind.name, plan.obstacle_text()),
                  "use --device cpu, or --gpu-layers N for the blocks before these");
    }
    if (plan.blocks == 0 && layers_.kind == LayerRequest::Kind::fit)
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("no block fits on device {}: {}", kind.name, plan.notes.front()),
                  "use --device cpu, or --gpu-layers N to try anyway");
    keep(kind, std::move(device), std::move(plan));
  }

  /// The first device that may be chosen and can run the model, else the CPU.
  void choose() {
    for (const DeviceKind& kind : kinds_) {
      if (!kind.automatic) {
        if (kind.simulated) explain(fmt::format("auto never takes {}, {}", kind.name, kind.what));
        continue;
      }
      std::unique_ptr<Backend> device;
      try {
        device = kind.open(device_options_);
      } catch (const Error& e) {
        if (e.code != ErrorCode::unsupported)
          throw;  // a device that is there but broken is no reason for silence
        log(LogLevel::info, "auto: not {}: {}", kind.name, e.what());
        continue;
      }
      DevicePlan plan = plan_to_choose(*device);
      if (plan.obstacles.empty() && plan.blocks > 0) return keep(kind, std::move(device), std::move(plan));
      const std::string why = plan.obstacles.empty() ? plan.notes.front() : plan.obstacle_text();
      log(LogLevel::info, "auto: not {}: {}", kind.name, why);
    }
    explain("auto took cpu");
  }

  void keep(const DeviceKind& kind, std::unique_ptr<Backend> device, DevicePlan plan) {
    if (kind.simulated)
      log(LogLevel::info, "{} is {}: it checks what a GPU would compute, slowly", kind.name, kind.what);
    const std::string rest = plan.whole() ? "embedding, norm and head" : "the rest on cpu";
    log(LogLevel::info, "{} of {} blocks on {}, {}; {:.1f} MiB of weights", plan.blocks, plan.of, kind.name,
        rest, double(plan.weight_bytes) / double(1 << 20));
    for (const std::string& note : plan.notes) explain(note);
    if (plan.blocks == 0) return;
    devices_.device = std::move(device);
    devices_.plan = std::move(plan);
    context_.gpu_layers = int(devices_.plan.blocks);
  }

  void explain(const std::string& line) const {
    if (options_.explain) log_line(LogLevel::info, line);
  }

  void set_context(bool on_device) {
    context_.gpu = on_device;
    context_.gpu_layers = 0;
    const KvFormat policy = on_device ? device_kv_format(model_.hyperparams()) : KvFormat::f32;
    context_.kv_format = kv_format_.value_or(policy);
  }

  void register_weights() {
    const DevicePlan& plan = devices_.plan;
    if (devices_.device) {
      add_mappings(*devices_.device);
      for (const Weight& weight : model_.weights())
        if (plan.device_weights.count(weight.ref.name)) devices_.device->add_weight(weight);
      devices_.device->finish_weights();
      MINFER_CHECK(devices_.device->weight_bytes() == plan.weight_bytes,
                   "the device holds the planned weights");
    }
    if (!devices_.cpu) return;
    for (const Weight& weight : model_.weights())
      if (!devices_.device || plan.host_weights.count(weight.ref.name)) devices_.cpu->add_weight(weight);
  }

  /// The pages of each part that hold the device's weights, from the first to the last: the device makes what
  /// it is given resident, and the rest of the file belongs to the CPU.
  void add_mappings(Backend& device) const {
    size_t longest = 0;
    std::vector<std::pair<size_t, size_t>> extents(size_t(model_.file().parts()), {SIZE_MAX, 0});
    for (const Weight& weight : model_.weights()) {
      if (!devices_.plan.device_weights.count(weight.ref.name)) continue;
      longest = std::max(longest, weight.data.size());
      const int part = model_.file().find_tensor(weight.ref.name)->part;
      const size_t at = size_t(weight.data.data() - model_.file().part_bytes(part).data());
      auto& [begin, end] = extents[size_t(part)];
      begin = std::min(begin, at);
      end = std::max(end, at + weight.data.size());
    }
    for (int part = 0; part < model_.file().parts(); ++part) {
      const auto [first, end] = extents[size_t(part)];
      if (end == 0) continue;
      const size_t begin = first / page_bytes() * page_bytes();
      device.add_mapping(model_.file().part_bytes(part).subspan(begin, end - begin), longest);
    }
  }

  const std::span<const DeviceKind> kinds_;
  const Model& model_;
  const SessionOptions& options_;
  ContextParams& context_;
  const std::optional<KvFormat> kv_format_;
  const LayerRequest layers_;
  DeviceOptions device_options_;
  Devices devices_;
};

}  // namespace

std::vector<Backend*> Devices::in_order() const {
  std::vector<Backend*> backends;
  for (Backend* backend : {device.get(), cpu.get()})
    if (backend) backends.push_back(backend);
  return backends;
}

std::string Devices::name() const {
  std::string text;
  for (const Backend* backend : in_order())
    text += (text.empty() ? "" : " + ") + std::string(backend->name());
  return text;
}

Devices open_devices(const Model& model, const SessionOptions& options, ContextParams& context,
                     std::span<const DeviceKind> kinds) {
  return Opener(model, options, context, kinds).open();
}

}  // namespace minfer
