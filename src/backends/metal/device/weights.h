#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/metal/device/device.h"

namespace minfer::metal {

/// Weights by name, as places in buffers. A mapped file becomes buffers without a copy; a weight outside any
/// mapping, or at a place whose alignment kernels cannot read, is copied once.
class WeightRegistry {
 public:
  WeightRegistry(Device& device, bool copy_all) : device_(device), copy_all_(copy_all) {}

  /// Memory that stays mapped as long as the model lives, base on a page: wrapped without a copy. One longer
  /// than the device's longest buffer becomes several that overlap by `longest_weight` bytes, so that each
  /// weight lies in one.
  void add_mapping(std::span<const std::byte> bytes, size_t longest_weight);
  /// Throws Error{bad_model} for bytes that do not fit their shape or a known name with other bytes,
  /// Error{unsupported} for a type without kernels, Error{out_of_memory} if a copy does not fit.
  void add(const Weight& weight);

  struct Entry {
    WeightRef ref;
    Span span;
    const std::byte* host;  ///< where the bytes came from
  };
  const Entry* find(std::string_view name) const;
  size_t bytes() const { return bytes_; }  ///< sum of the weights' extents, wrapped or copied
  size_t copied_bytes() const { return copied_; }
  std::vector<Ref<MTL::Buffer>> buffers() const;  ///< every buffer that holds weights

 private:
  struct Window {
    const std::byte* begin;
    size_t bytes;
    Ref<MTL::Buffer> buffer;
  };
  std::optional<Span> in_mapping(std::span<const std::byte> bytes) const;
  Span copy(const Weight& weight);

  Device& device_;
  bool copy_all_;
  std::vector<Window> windows_;
  std::vector<Ref<MTL::Buffer>> copies_;
  std::map<std::string, Entry, std::less<>> entries_;
  size_t bytes_ = 0, copied_ = 0;
};

}  // namespace minfer::metal
