#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/metal/device/device.h"

namespace minfer::metal {

/// One committed command buffer. Its end is told by a completion handler, so that waiting has a bound and no
/// scheduler delay.
class Submission {
 public:
  /// Commits. `labels`: the dispatches it ends with, for the error's text.
  Submission(Ref<MTL::CommandBuffer> commands, std::vector<std::string> labels);
  /// Throws Error{device} with the device's words and the labels if it failed or takes longer than `bound`.
  void wait(std::chrono::milliseconds bound);
  double gpu_seconds() const;  ///< after wait

 private:
  /// Shared with the handler, which may run after this object is gone.
  struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  std::string last_dispatches() const;

  Ref<MTL::CommandBuffer> commands_;
  std::vector<std::string> labels_;
  std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
};

}  // namespace minfer::metal
