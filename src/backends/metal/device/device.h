#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/metal/device/metal_api.h"

namespace minfer::metal {

/// Bytes of a buffer: what a kernel is given and what barriers are derived from.
struct Span {
  MTL::Buffer* buffer = nullptr;
  size_t offset = 0;
  size_t bytes = 0;

  /// A part of this one; MINFER_CHECK that it lies inside.
  Span part(size_t at, size_t length) const;
  std::byte* host() const { return static_cast<std::byte*>(buffer->contents()) + offset; }
  bool operator==(const Span&) const = default;
};

/// What the device says of itself; guards compare with these, never with remembered numbers.
struct Limits {
  std::string name;               ///< "Apple M4 Pro"
  int family = 0;                 ///< 7 for MTLGPUFamilyApple7 and so on
  size_t threadgroup_memory = 0;  ///< bytes of one threadgroup
  size_t threads_per_group = 0;
  size_t buffer_bytes = 0;  ///< longest buffer
  size_t working_set = 0;   ///< bytes that stay resident at best; 0: not reported
  bool unified_memory = false;
};

/// A kernel ready to run.
struct Pipeline {
  std::string name;  ///< the kernel's host name, with its constants if it has any
  Ref<MTL::ComputePipelineState> state;
};

/// One function constant of a kernel, by its index.
struct Constant {
  uint32_t index;
  std::variant<int32_t, bool> value;
  auto operator<=>(const Constant&) const = default;
};

/// The one Metal device of this process, with its kernels and pipelines.
///
/// Threads: every method may be called from any thread.
class Device {
 public:
  /// Opened at first use and kept while anyone holds it. Throws Error{unsupported} if there is none or
  /// MINFER_DISABLE_MPS is set, Error{device} naming what is missing if its library lacks a kernel.
  static std::shared_ptr<Device> open();
  /// "metal", or "metal-sim" where the device is made of software.
  static std::string_view kind();

  const Limits& limits() const { return limits_; }
  MTL::Device* mtl() const { return device_.get(); }
  MTL::CommandQueue* queue() const { return queue_.get(); }

  /// Made at first use. Throws Error{device} naming the kernel and the compiler's words.
  const Pipeline& pipeline(std::string_view kernel, std::span<const Constant> constants = {});
  bool has_kernel(std::string_view kernel) const;

  /// Shared memory, zero-filled. Throws Error{out_of_memory} with the size and the longest buffer.
  Ref<MTL::Buffer> new_buffer(size_t bytes, std::string_view label);

 private:
  Device();
  void read_limits();
  void start_capture();

  Ref<MTL::Device> device_;
  Ref<MTL::CommandQueue> queue_;
  std::vector<Ref<MTL::Library>> libraries_;
  std::map<std::string, MTL::Library*, std::less<>> kernels_;  ///< by name: the library that has it
  Limits limits_;
  using Key = std::pair<std::string, std::vector<Constant>>;
  std::map<Key, std::unique_ptr<Pipeline>> pipelines_;
  std::mutex mutex_;
};

NS::String* ns_string(std::string_view text);  ///< autoreleased
std::string std_string(const NS::String* text);
/// An NS::Error in words; "no reason given" for null.
std::string reason_of(const NS::Error* error);

}  // namespace minfer::metal
