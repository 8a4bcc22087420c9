#include "backends/metal/device/submission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace minfer::metal {

Submission::Submission(Ref<MTL::CommandBuffer> commands, std::vector<std::string> labels)
    : commands_(std::move(commands)), labels_(std::move(labels)) {
  const MTL::HandlerFunction signal = [signal = signal_](MTL::CommandBuffer*) {
    const std::lock_guard lock(signal->mutex);
    signal->done = true;
    signal->changed.notify_all();
  };
  commands_->addCompletedHandler(signal);
  commands_->commit();
}

std::string Submission::last_dispatches() const {
  return labels_.empty() ? "" : fmt::format("\nits last dispatches: {}", fmt::join(labels_, ", "));
}

void Submission::wait(std::chrono::milliseconds bound) {
  std::unique_lock lock(signal_->mutex);
  const bool done = signal_->changed.wait_for(lock, bound, [this] { return signal_->done; });
  lock.unlock();
  const AutoreleasePool pool;
  if (!done) {
    throw Error(ErrorCode::device,
                fmt::format("running on {}: no answer within {} ms{}", Device::kind(), bound.count(),
                            last_dispatches()),
                "the session is lost; if a new one hangs as well, use --device cpu");
  }
  if (commands_->status() == MTL::CommandBufferStatusCompleted) return;
  throw Error(ErrorCode::device,
              fmt::format("running on {}: the command buffer failed: {}{}", Device::kind(),
                          reason_of(commands_->error()), last_dispatches()),
              "the session is lost; if a new one fails as well, use --device cpu");
}

double Submission::gpu_seconds() const { return commands_->GPUEndTime() - commands_->GPUStartTime(); }

}  // namespace minfer::metal
