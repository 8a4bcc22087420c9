// Counter sample buffers: this device has none and says so. The simulator's own counters are in
// metalsim/metalsim.h.
#pragma once

#include <Metal/MTLResource.hpp>

#include "device/device.h"

namespace metalsim::device {

class CounterSampleBufferDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLCounterSampleBufferDescriptor";

  Object* counter_set() const { return set_.get(); }
  void set_counter_set(Object* set) { set_ = set; }
  Object* get_label() const { return label.empty() ? nullptr : objc::string_from(label); }
  void set_label(String* text) { label = objc::to_std(text); }
  UInteger sample_count() const { return sample_count_; }
  void set_sample_count(UInteger count) { sample_count_ = count; }
  MTL::StorageMode storage_mode() const { return storage_mode_; }
  void set_storage_mode(MTL::StorageMode mode) { storage_mode_ = mode; }

 private:
  Ref<Object> set_;
  UInteger sample_count_ = 0;
  MTL::StorageMode storage_mode_ = MTL::StorageModeShared;
};

void register_counter_sample_classes();

}  // namespace metalsim::device
