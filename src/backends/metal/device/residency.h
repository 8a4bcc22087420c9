#pragma once
#include <vector>

#include "backends/metal/device/device.h"

namespace minfer::metal {

/// Keeps buffers mapped for the device as long as it lives, where the system has residency sets (macOS 15).
class Residency {
 public:
  explicit Residency(Ref<MTL::ResidencySet> set) : set_(std::move(set)) {}
  ~Residency();
  Residency(Residency&&) = default;
  Residency& operator=(Residency&&) = default;

 private:
  Ref<MTL::ResidencySet> set_;
};

/// Reads every page of `buffers` once on the device, so that the first token does not pay for it, and keeps
/// them resident. Throws Error{device} if the device fails at it.
Residency make_resident(Device& device, const std::vector<Ref<MTL::Buffer>>& buffers);

}  // namespace minfer::metal
