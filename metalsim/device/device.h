// MTLDevice, and what all objects of a device share.
#pragma once

#include <Metal/MTLTypes.hpp>

#include <mutex>

#include "device/limits.h"
#include "objc/foundation.h"
#include "objc/object.h"

namespace metalsim::device {

using NS::UInteger;
using objc::Array;
using objc::Error;
using objc::Object;
using objc::Ref;
using objc::String;

class Device : public Object {
 public:
  static constexpr const char* class_name = "MTLDevice";

  explicit Device(const Limits& allowed) : limits(allowed) {}

  /// The machine's one device. It is never destroyed, so retain and release of it do nothing and it is no
  /// leak. Null, with the reason on standard error, if the environment asks for something that is not there.
  static Device* create_system_default();

  // Facts.
  Object* name() const;
  bool has_unified_memory() const { return true; }
  bool supports_family(MTL::GPUFamily family) const { return limits.supports(family); }
  UInteger max_threadgroup_memory() const { return limits.threadgroup_bytes; }
  MTL::Size max_threads_per_threadgroup() const;
  UInteger max_buffer_length() const { return limits.buffer_bytes; }
  uint64_t recommended_working_set() const { return limits.working_set_bytes; }
  UInteger current_allocated_size() const;
  uint64_t registry_id() const { return 1; }
  uint64_t max_transfer_rate() const { return 0; }  // 0: built in, no bus between
  MTL::DeviceLocation location() const { return MTL::DeviceLocationBuiltIn; }
  MTL::ArgumentBuffersTier argument_buffers() const { return MTL::ArgumentBuffersTier2; }
  bool is_headless() const { return false; }
  bool is_low_power() const { return false; }
  bool is_removable() const { return false; }
  bool supports_ray_tracing() const { return limits.ray_tracing; }
  bool not_supported() const { return false; }
  void sample_timestamps(uint64_t* cpu, uint64_t* gpu) const;

  // Memory: buffer.cpp, heap.cpp, residency_set.cpp.
  Object* new_buffer(UInteger length, MTL::ResourceOptions options);
  Object* new_buffer_with_bytes(const void* bytes, UInteger length, MTL::ResourceOptions options);
  Object* new_buffer_no_copy(void* bytes, UInteger length, MTL::ResourceOptions options,
                             const void* deallocator);
  Object* new_heap(Object* descriptor);
  MTL::SizeAndAlign heap_buffer_size(UInteger length, MTL::ResourceOptions options) const;
  Object* new_residency_set(Object* descriptor, Error** error);

  // Kernels: library.cpp, pipeline.cpp.
  Object* new_default_library();
  Object* new_default_library_of_bundle(Object* bundle, Error** error);
  Object* new_library_from_file(String* path, Error** error);
  Object* new_library_from_url(Object* url, Error** error);
  Object* new_library_from_source(String* source, Object* options, Error** error);
  Object* new_pipeline(Object* function, Error** error);
  Object* new_pipeline_with_options(Object* function, UInteger options, void* reflection, Error** error);
  Object* new_pipeline_from_descriptor(Object* descriptor, UInteger options, void* reflection, Error** error);
  void new_pipeline_with_handler(Object* function, const void* handler);

  // Work: command_queue.cpp, event.cpp, counters.cpp.
  Object* new_command_queue();
  Object* new_command_queue_of_size(UInteger max_command_buffers);
  Object* new_command_queue_from_descriptor(Object* descriptor);
  Object* new_event();
  Object* new_shared_event();
  Object* new_fence();
  Object* new_counter_sample_buffer(Object* descriptor, Error** error);
  Object* counter_sets() const;
  bool supports_counter_sampling(UInteger) const { return false; }

  const Limits limits;
};

/// The base of everything that a device makes: knows the device and has a label.
class DeviceObject : public Object {
 public:
  explicit DeviceObject(Device* device) : device_(device) {}

  Object* device() const { return device_.get(); }
  Device* owner() const { return device_.get(); }
  Object* get_label() const { return label.empty() ? nullptr : objc::string_from(label); }
  void set_label(String* text) { label = objc::to_std(text); }

 private:
  Ref<Device> device_;
};

void register_device_class();

}  // namespace metalsim::device
