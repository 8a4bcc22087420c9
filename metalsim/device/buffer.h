// MTLAllocation, MTLResource, MTLBuffer.
#pragma once

#include <Metal/MTLResource.hpp>

#include <atomic>
#include <memory>

#include "checker/memory.h"
#include "device/block.h"
#include "device/device.h"

namespace metalsim::device {

class Heap;

/// Anything that takes device memory and can be in a residency set.
class Allocation : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLAllocation";
  using DeviceObject::DeviceObject;

  virtual UInteger allocated_size() const { return 0; }
};

class Resource : public Allocation {
 public:
  static constexpr const char* class_name = "MTLResource";
  Resource(Device* device, MTL::ResourceOptions options) : Allocation(device), options_(options) {}

  MTL::ResourceOptions options() const { return options_; }
  MTL::StorageMode storage_mode() const { return static_cast<MTL::StorageMode>(options_ >> 4 & 0xF); }
  MTL::CPUCacheMode cache_mode() const { return static_cast<MTL::CPUCacheMode>(options_ & 0xF); }
  MTL::HazardTrackingMode hazard_tracking() const;
  Object* heap() const;
  UInteger heap_offset() const { return 0; }
  bool is_aliasable() const { return false; }
  MTL::PurgeableState set_purgeable(MTL::PurgeableState state);
  void set_heap(Heap* heap);

  /// References that command buffers not yet completed hold. If there are no others, the host has released
  /// the resource.
  std::atomic<int64_t> pending_uses{0};

 private:
  MTL::ResourceOptions options_;
  Ref<Object> heap_;
};

/// Pages of the host, or memory that the host brought along.
class Buffer : public Resource {
 public:
  static constexpr const char* class_name = "MTLBuffer";

  /// New memory, zeroed. The end of the buffer, rounded up to 64 bytes, abuts an inaccessible page, so that
  /// even fast kernels cannot run past it unseen. Null if the system has no memory left.
  static Buffer* create(Device* device, UInteger length, MTL::ResourceOptions options, bool written);

  /// Memory of the host; `deallocator` is called with it at the end.
  static Buffer* wrap(Device* device, void* bytes, UInteger length, MTL::ResourceOptions options,
                      Block<void*, UInteger> deallocator);

  Buffer(Device* device, MTL::ResourceOptions options) : Resource(device, options) {}
  ~Buffer() override;

  UInteger length() const { return length_; }
  UInteger allocated_size() const override;
  uint64_t gpu_address() const { return reinterpret_cast<uint64_t>(data_); }

  /// What the host reads and writes through. Null for private storage, as on a device.
  void* contents();

  void set_label(String* text);
  void add_debug_marker(String* marker, objc::Range range);
  void remove_all_debug_markers() {}
  void did_modify_range(objc::Range range);

  unsigned char* data() const { return data_; }
  Memory* memory() const { return memory_; }

  /// Whether [offset, offset + bytes) lies within the buffer; overflow counts as outside.
  bool contains(UInteger offset, UInteger bytes) const {
    return offset <= length_ && bytes <= length_ - offset;
  }

 private:
  unsigned char* data_ = nullptr;
  UInteger length_ = 0;
  void* mapping_ = nullptr;  // with the inaccessible pages around it
  size_t mapping_bytes_ = 0;
  Block<void*, UInteger> deallocator_;
  Memory* memory_ = nullptr;
};

/// Bytes of all buffers alive that the device allocated itself or that wrap host memory.
uint64_t allocated_bytes();

/// `label "…"` with length, for reports.
std::string describe_buffer(const Buffer* buffer);

void register_buffer_classes();

}  // namespace metalsim::device
