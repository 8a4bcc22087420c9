#include "backends/metal/metal_backend.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "backends/metal/buffer.h"
#include "backends/metal/device/residency.h"
#include "backends/metal/device/submission.h"
#include "backends/metal/encoder.h"
#include "backends/metal/ops/ops.h"
#include "backends/metal/profile.h"
#include "backends/metal/replay.h"
#include "base/error.h"
#include "base/fault.h"

namespace minfer {
namespace {

using namespace metal;

Settings with_half_staging(Settings settings, bool half_staging) {
  settings.half_staging |= half_staging;
  return settings;
}

[[noreturn]] void test_failure(ErrorCode code, std::string_view what) {
  throw Error(code, fmt::format("{} {}: a test made it fail", what, Device::kind()));
}

class MetalBackend final : public Backend {
 public:
  explicit MetalBackend(bool half_staging)
      : settings_(with_half_staging(Settings::from_environment(), half_staging)),
        device_(Device::open()),
        weights_(*device_, settings_.weight_copy) {
    if (settings_.profile) profile_.emplace();
  }
  ~MetalBackend() override {
    if (!pending_) return;
    try {
      wait();
    } catch (const Error&) {  // nobody is left who could act on it
    }
  }

  std::string_view name() const override { return Device::kind(); }

  Support supports(const Node& node) const override {
    std::string why = refusal(node);
    return why.empty() ? Support::yes() : Support::no(std::move(why));
  }

  MemoryAnswer memory() const override {
    const size_t bytes = device_->limits().working_set;
    if (bytes == 0) return {MemoryAnswer::State::failed, 0, "the device does not report its working set"};
    return {MemoryAnswer::State::reported, bytes, {}};
  }

  void add_mapping(std::span<const std::byte> bytes, size_t longest_weight) override {
    weights_.add_mapping(bytes, longest_weight);
  }
  void add_weight(const Weight& weight) override {
    if (weight_fault_.hit()) test_failure(ErrorCode::out_of_memory, "registering a weight on");
    weights_.add(weight);
  }
  void finish_weights() override { resident_ = make_resident(*device_, weights_.buffers()); }
  bool has_weight(std::string_view name) const override { return weights_.find(name) != nullptr; }
  size_t weight_bytes() const override { return weights_.bytes(); }

  std::unique_ptr<Buffer> allocate(size_t bytes) override {
    if (allocate_fault_.hit()) test_failure(ErrorCode::out_of_memory, "allocating on");
    return std::make_unique<MetalBuffer>(device_->new_buffer(bytes, "value"), bytes);
  }

  void copy_in(Buffer& to, size_t offset, std::span<const std::byte> from) override {
    MINFER_CHECK(offset <= to.bytes() && from.size() <= to.bytes() - offset, "a copy stays in its buffer");
    if (!from.empty()) std::memcpy(to.host() + offset, from.data(), from.size());
  }
  void copy_out(Buffer& from, size_t offset, std::span<std::byte> to) override {
    MINFER_CHECK(offset <= from.bytes() && to.size() <= from.bytes() - offset, "a copy stays in its buffer");
    if (!to.empty()) std::memcpy(to.data(), from.host() + offset, to.size());
  }

  std::unique_ptr<Program> encode(std::span<const PlacedNode> split) override {
    const AutoreleasePool pool;
    auto program = std::make_unique<MetalProgram>();
    Encoder encoder(*device_, settings_, weights_, scratch_, *program);
    for (const PlacedNode& placed : split) {
      if (!placed.node->dead) encode_node(encoder, placed);
    }
    encoder.finish();
    return program;
  }

  void run(Program& program) override {
    auto* ours = dynamic_cast<MetalProgram*>(&program);
    MINFER_CHECK(ours != nullptr, "a program runs on the backend that encoded it");
    if (!failure_.empty()) {
      throw Error(ErrorCode::device,
                  fmt::format("running on {}: it failed before: {}", Device::kind(), failure_),
                  "make a new session");
    }
    if (run_fault_.hit()) test_failure(ErrorCode::device, "running on");
    wait();  // preparations write what a pending replay may still read
    for (const auto& check : ours->checks) check();
    for (const auto& prepare : ours->prepares) prepare();
    pending_.emplace(replay(*device_, *ours, settings_, profile_ ? &*profile_ : nullptr));
  }

  void wait() override {
    if (!pending_) return;
    Submission submission = std::move(*pending_);
    pending_.reset();
    try {
      submission.wait(std::chrono::milliseconds(settings_.timeout_ms));
    } catch (const Error& error) {
      failure_ = error.what();
      throw;
    }
    if (profile_) profile_->submitted(submission.gpu_seconds());
  }

 private:
  const Settings settings_;
  const std::shared_ptr<Device> device_;
  WeightRegistry weights_;
  ScratchPool scratch_;
  std::optional<Residency> resident_;
  std::optional<OpProfile> profile_;
  std::optional<Submission> pending_;
  std::string failure_;  ///< of the command buffer after which nothing here can be trusted
  FaultPoint allocate_fault_{"metal_allocate"}, weight_fault_{"metal_weight"}, run_fault_{"metal_run"};
};

}  // namespace

std::unique_ptr<Backend> make_metal_backend(bool half_staging) {
  return std::make_unique<MetalBackend>(half_staging);
}

}  // namespace minfer
