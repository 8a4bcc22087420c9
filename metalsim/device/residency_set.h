// MTLResidencySet and its descriptor.
#pragma once

#include <mutex>
#include <vector>

#include "device/buffer.h"

namespace metalsim::device {

class ResidencySetDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLResidencySetDescriptor";

  Object* get_label() const { return label.empty() ? nullptr : objc::string_from(label); }
  void set_label(String* text) { label = objc::to_std(text); }
  UInteger initial_capacity() const { return initial_capacity_; }
  void set_initial_capacity(UInteger capacity) { initial_capacity_ = capacity; }

 private:
  UInteger initial_capacity_ = 0;
};

/// Memory that the GPU is to keep at hand. The simulator has no paging, so the set only keeps its books: what
/// was added and what of it was committed. Using a set whose changes were never committed is reported, since
/// they would have no effect.
class ResidencySet : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLResidencySet";
  using DeviceObject::DeviceObject;

  void add(Object* allocation);
  void add_all(Object* const* allocations, UInteger count);
  void remove(Object* allocation);
  void remove_all_of(Object* const* allocations, UInteger count);
  void remove_everything();
  void commit();
  bool contains(Object* allocation) const;
  UInteger count() const;
  Object* all() const;
  uint64_t allocated_size() const;  // of what is committed
  void request_residency();
  void end_residency() {}

  /// Called when a queue or command buffer begins to use the set.
  void check_committed(const char* user) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Ref<Allocation>> staged_;
  std::vector<Ref<Allocation>> committed_;
  bool changed_ = false;
};

void register_residency_set_classes();

}  // namespace metalsim::device
