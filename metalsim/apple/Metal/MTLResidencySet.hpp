#pragma once

#include "MTLAllocation.hpp"

namespace MTL {

class Device;

class ResidencySetDescriptor : public NS::Copying<ResidencySetDescriptor> {
 public:
  static ResidencySetDescriptor* alloc() {
    return NS::Private::send<ResidencySetDescriptor*, "alloc">(
        NS::Private::class_named<"MTLResidencySetDescriptor">());
  }
  ResidencySetDescriptor* init() { return NS::Private::send<ResidencySetDescriptor*, "init">(this); }
  NS::UInteger initialCapacity() const { return NS::Private::send<NS::UInteger, "initialCapacity">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void setInitialCapacity(NS::UInteger initialCapacity) {
    NS::Private::send<void, "setInitialCapacity:">(this, initialCapacity);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
};

class ResidencySet : public NS::Referencing<ResidencySet> {
 public:
  void addAllocation(const MTL::Allocation* allocation) {
    NS::Private::send<void, "addAllocation:">(this, allocation);
  }
  void addAllocations(const MTL::Allocation* const allocations[], NS::UInteger count) {
    NS::Private::send<void, "addAllocations:count:">(this, allocations, count);
  }
  NS::Array* allAllocations() const { return NS::Private::send<NS::Array*, "allAllocations">(this); }
  uint64_t allocatedSize() const { return NS::Private::send<uint64_t, "allocatedSize">(this); }
  NS::UInteger allocationCount() const { return NS::Private::send<NS::UInteger, "allocationCount">(this); }
  void commit() { NS::Private::send<void, "commit">(this); }
  bool containsAllocation(const MTL::Allocation* anAllocation) {
    return NS::Private::send<bool, "containsAllocation:">(this, anAllocation);
  }
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  void endResidency() { NS::Private::send<void, "endResidency">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void removeAllAllocations() { NS::Private::send<void, "removeAllAllocations">(this); }
  void removeAllocation(const MTL::Allocation* allocation) {
    NS::Private::send<void, "removeAllocation:">(this, allocation);
  }
  void removeAllocations(const MTL::Allocation* const allocations[], NS::UInteger count) {
    NS::Private::send<void, "removeAllocations:count:">(this, allocations, count);
  }
  void requestResidency() { NS::Private::send<void, "requestResidency">(this); }
};

}  // namespace MTL
