#pragma once

#include "MTLBuffer.hpp"

namespace MTL {

enum HeapType : NS::Integer {
  HeapTypeAutomatic = 0,
  HeapTypePlacement = 1,
  HeapTypeSparse = 2,
};

class HeapDescriptor : public NS::Copying<HeapDescriptor> {
 public:
  static HeapDescriptor* alloc() {
    return NS::Private::send<HeapDescriptor*, "alloc">(NS::Private::class_named<"MTLHeapDescriptor">());
  }
  CPUCacheMode cpuCacheMode() const { return NS::Private::send<CPUCacheMode, "cpuCacheMode">(this); }
  HazardTrackingMode hazardTrackingMode() const {
    return NS::Private::send<HazardTrackingMode, "hazardTrackingMode">(this);
  }
  HeapDescriptor* init() { return NS::Private::send<HeapDescriptor*, "init">(this); }
  ResourceOptions resourceOptions() const {
    return NS::Private::send<ResourceOptions, "resourceOptions">(this);
  }
  void setCpuCacheMode(MTL::CPUCacheMode cpuCacheMode) {
    NS::Private::send<void, "setCpuCacheMode:">(this, cpuCacheMode);
  }
  void setHazardTrackingMode(MTL::HazardTrackingMode hazardTrackingMode) {
    NS::Private::send<void, "setHazardTrackingMode:">(this, hazardTrackingMode);
  }
  void setResourceOptions(MTL::ResourceOptions resourceOptions) {
    NS::Private::send<void, "setResourceOptions:">(this, resourceOptions);
  }
  void setSize(NS::UInteger size) { NS::Private::send<void, "setSize:">(this, size); }
  void setStorageMode(MTL::StorageMode storageMode) {
    NS::Private::send<void, "setStorageMode:">(this, storageMode);
  }
  void setType(MTL::HeapType type) { NS::Private::send<void, "setType:">(this, type); }
  NS::UInteger size() const { return NS::Private::send<NS::UInteger, "size">(this); }
  StorageMode storageMode() const { return NS::Private::send<StorageMode, "storageMode">(this); }
  HeapType type() const { return NS::Private::send<HeapType, "type">(this); }
};

class Heap : public NS::Referencing<Heap, Allocation> {
 public:
  CPUCacheMode cpuCacheMode() const { return NS::Private::send<CPUCacheMode, "cpuCacheMode">(this); }
  NS::UInteger currentAllocatedSize() const {
    return NS::Private::send<NS::UInteger, "currentAllocatedSize">(this);
  }
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  HazardTrackingMode hazardTrackingMode() const {
    return NS::Private::send<HazardTrackingMode, "hazardTrackingMode">(this);
  }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  NS::UInteger maxAvailableSize(NS::UInteger alignment) {
    return NS::Private::send<NS::UInteger, "maxAvailableSizeWithAlignment:">(this, alignment);
  }
  Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options) {
    return NS::Private::send<Buffer*, "newBufferWithLength:options:">(this, length, options);
  }
  Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options, NS::UInteger offset) {
    return NS::Private::send<Buffer*, "newBufferWithLength:options:offset:">(this, length, options, offset);
  }
  ResourceOptions resourceOptions() const {
    return NS::Private::send<ResourceOptions, "resourceOptions">(this);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
  PurgeableState setPurgeableState(MTL::PurgeableState state) {
    return NS::Private::send<PurgeableState, "setPurgeableState:">(this, state);
  }
  NS::UInteger size() const { return NS::Private::send<NS::UInteger, "size">(this); }
  StorageMode storageMode() const { return NS::Private::send<StorageMode, "storageMode">(this); }
  HeapType type() const { return NS::Private::send<HeapType, "type">(this); }
  NS::UInteger usedSize() const { return NS::Private::send<NS::UInteger, "usedSize">(this); }
};

}  // namespace MTL
