#pragma once

#include "MTLAllocation.hpp"

namespace MTL {

class Device;
class Heap;

enum PurgeableState : NS::UInteger {
  PurgeableStateKeepCurrent = 1,
  PurgeableStateNonVolatile = 2,
  PurgeableStateVolatile = 3,
  PurgeableStateEmpty = 4,
};

enum CPUCacheMode : NS::UInteger {
  CPUCacheModeDefaultCache = 0,
  CPUCacheModeWriteCombined = 1,
};

enum StorageMode : NS::UInteger {
  StorageModeShared = 0,
  StorageModeManaged = 1,
  StorageModePrivate = 2,
  StorageModeMemoryless = 3,
};

enum HazardTrackingMode : NS::UInteger {
  HazardTrackingModeDefault = 0,
  HazardTrackingModeUntracked = 1,
  HazardTrackingModeTracked = 2,
};

using ResourceOptions = NS::UInteger;
enum : ResourceOptions {
  ResourceCPUCacheModeDefaultCache = 0,
  ResourceCPUCacheModeWriteCombined = 1,
  ResourceStorageModeShared = 0,
  ResourceStorageModeManaged = 1 << 4,
  ResourceStorageModePrivate = 1 << 5,
  ResourceHazardTrackingModeDefault = 0,
  ResourceHazardTrackingModeUntracked = 1 << 8,
  ResourceHazardTrackingModeTracked = 1 << 9,
  ResourceOptionCPUCacheModeDefault = 0,
  ResourceOptionCPUCacheModeWriteCombined = 1,
};

class Resource : public NS::Referencing<Resource, Allocation> {
 public:
  NS::UInteger allocatedSize() const { return NS::Private::send<NS::UInteger, "allocatedSize">(this); }
  CPUCacheMode cpuCacheMode() const { return NS::Private::send<CPUCacheMode, "cpuCacheMode">(this); }
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  HazardTrackingMode hazardTrackingMode() const {
    return NS::Private::send<HazardTrackingMode, "hazardTrackingMode">(this);
  }
  Heap* heap() const { return NS::Private::send<Heap*, "heap">(this); }
  NS::UInteger heapOffset() const { return NS::Private::send<NS::UInteger, "heapOffset">(this); }
  bool isAliasable() { return NS::Private::send<bool, "isAliasable">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  ResourceOptions resourceOptions() const {
    return NS::Private::send<ResourceOptions, "resourceOptions">(this);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
  PurgeableState setPurgeableState(MTL::PurgeableState state) {
    return NS::Private::send<PurgeableState, "setPurgeableState:">(this, state);
  }
  StorageMode storageMode() const { return NS::Private::send<StorageMode, "storageMode">(this); }
};

}  // namespace MTL
