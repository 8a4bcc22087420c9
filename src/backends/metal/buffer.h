#pragma once
#include "backends/backend.h"
#include "backends/metal/device/device.h"

namespace minfer::metal {

/// A value's or region's memory, which host and device share.
class MetalBuffer final : public Buffer {
 public:
  MetalBuffer(Ref<MTL::Buffer> buffer, size_t bytes) : buffer_(std::move(buffer)), bytes_(bytes) {}
  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return static_cast<std::byte*>(buffer_->contents()); }
  MTL::Buffer* mtl() const { return buffer_.get(); }

 private:
  Ref<MTL::Buffer> buffer_;
  size_t bytes_;
};

}  // namespace minfer::metal
