#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "backends/metal/buffer.h"
#include "backends/metal/encoder.h"
#include "backends/metal/ops/ops.h"
#include "backends/metal/replay.h"

namespace minfer::test {

/// A program of single dispatch families on the device, without nodes that a graph would have: reaches the
/// kernels that the choice by shape would pass over. MINFER_METAL_NARROW and the rest of the environment hold
/// here, too.
class EmitBench {
 public:
  explicit EmitBench(int attention_chunks = 0) : settings_(metal::Settings::from_environment()) {
    settings_.attention_chunks = attention_chunks;
  }
  metal::Encoder& encoder() { return encoder_; }

  template <class T>
  metal::Span upload(const std::vector<T>& data) {
    const metal::Span span = room(data.size() * sizeof(T));
    std::memcpy(span.host(), data.data(), span.bytes);
    return span;
  }
  metal::Span room(size_t bytes) {
    buffers_.push_back(device_->new_buffer(bytes, "test"));
    return {buffers_.back().get(), 0, bytes};
  }
  std::vector<float> read(const metal::Span& span) const {
    std::vector<float> data(span.bytes / sizeof(float));
    std::memcpy(data.data(), span.host(), span.bytes);
    return data;
  }

  /// What the backend does: checks, preparations, one command buffer.
  void run() {
    const metal::AutoreleasePool pool;
    encoder_.finish();
    for (const auto& check : program_.checks) check();
    for (const auto& prepare : program_.prepares) prepare();
    metal::replay(*device_, program_, settings_, nullptr).wait(std::chrono::seconds(60));
  }
  const metal::MetalProgram& program() const { return program_; }

 private:
  metal::Settings settings_;
  std::shared_ptr<metal::Device> device_ = metal::Device::open();
  metal::WeightRegistry weights_{*device_, false};
  metal::ScratchPool scratch_;
  metal::MetalProgram program_;
  metal::Encoder encoder_{*device_, settings_, weights_, scratch_, program_};
  std::vector<metal::Ref<MTL::Buffer>> buffers_;
};

}  // namespace minfer::test
