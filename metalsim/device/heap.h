// MTLHeap and its descriptor.
#pragma once

#include <Metal/MTLHeap.hpp>

#include "device/buffer.h"

namespace metalsim::device {

class HeapDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLHeapDescriptor";

  MTL::CPUCacheMode cache_mode() const { return static_cast<MTL::CPUCacheMode>(options_ & 0xF); }
  MTL::StorageMode storage_mode() const { return static_cast<MTL::StorageMode>(options_ >> 4 & 0xF); }
  MTL::HazardTrackingMode hazard_tracking() const {
    return static_cast<MTL::HazardTrackingMode>(options_ >> 8 & 3);
  }
  MTL::ResourceOptions options() const { return options_; }
  UInteger size() const { return size_; }
  MTL::HeapType type() const { return type_; }
  void set_cache_mode(MTL::CPUCacheMode mode) { options_ = (options_ & ~UInteger{0xF}) | mode; }
  void set_storage_mode(MTL::StorageMode mode) { options_ = (options_ & ~UInteger{0xF0}) | mode << 4; }
  void set_hazard_tracking(MTL::HazardTrackingMode mode) {
    options_ = (options_ & ~UInteger{0x300}) | mode << 8;
  }
  void set_options(MTL::ResourceOptions options) { options_ = options; }
  void set_size(UInteger size) { size_ = size; }
  void set_type(MTL::HeapType type) { type_ = type; }

 private:
  // A heap's storage is private and its resources are untracked unless one says otherwise.
  MTL::ResourceOptions options_ = MTL::ResourceStorageModePrivate | MTL::ResourceHazardTrackingModeUntracked;
  UInteger size_ = 0;
  MTL::HeapType type_ = MTL::HeapTypeAutomatic;
};

/// A budget of memory that buffers are taken from. Each buffer has pages of its own, so that overruns between
/// two buffers of a heap are seen; placement heaps are refused.
class Heap : public Allocation {
 public:
  static constexpr const char* class_name = "MTLHeap";
  static constexpr UInteger alignment = 256;

  Heap(Device* device, const HeapDescriptor& descriptor);

  UInteger allocated_size() const override { return size_; }
  UInteger size() const { return size_; }
  UInteger used_size() const { return used_; }
  UInteger max_available(UInteger alignment) const;
  MTL::ResourceOptions options() const { return options_; }
  MTL::StorageMode storage_mode() const { return static_cast<MTL::StorageMode>(options_ >> 4 & 0xF); }
  MTL::CPUCacheMode cache_mode() const { return static_cast<MTL::CPUCacheMode>(options_ & 0xF); }
  MTL::HazardTrackingMode hazard_tracking() const {
    return static_cast<MTL::HazardTrackingMode>(options_ >> 8 & 3);
  }
  MTL::HeapType type() const { return MTL::HeapTypeAutomatic; }
  MTL::PurgeableState set_purgeable(MTL::PurgeableState) { return MTL::PurgeableStateNonVolatile; }
  Object* new_buffer(UInteger length, MTL::ResourceOptions options);
  Object* new_buffer_at(UInteger length, MTL::ResourceOptions options, UInteger offset);

  /// A buffer of this length was destroyed.
  void give_back(UInteger length);

 private:
  MTL::ResourceOptions options_;
  UInteger size_;
  std::atomic<UInteger> used_{0};
};

void register_heap_classes();

}  // namespace metalsim::device
