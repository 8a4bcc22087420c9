#pragma once

#include "MTLCommandBuffer.hpp"

namespace MTL {

class CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  void addResidencySet(const MTL::ResidencySet* residencySet) {
    NS::Private::send<void, "addResidencySet:">(this, residencySet);
  }
  void addResidencySets(const MTL::ResidencySet* const residencySets[], NS::UInteger count) {
    NS::Private::send<void, "addResidencySets:count:">(this, residencySets, count);
  }
  CommandBuffer* commandBuffer() { return NS::Private::send<CommandBuffer*, "commandBuffer">(this); }
  CommandBuffer* commandBuffer(const MTL::CommandBufferDescriptor* descriptor) {
    return NS::Private::send<CommandBuffer*, "commandBufferWithDescriptor:">(this, descriptor);
  }
  CommandBuffer* commandBufferWithUnretainedReferences() {
    return NS::Private::send<CommandBuffer*, "commandBufferWithUnretainedReferences">(this);
  }
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  void insertDebugCaptureBoundary() { NS::Private::send<void, "insertDebugCaptureBoundary">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void removeResidencySet(const MTL::ResidencySet* residencySet) {
    NS::Private::send<void, "removeResidencySet:">(this, residencySet);
  }
  void removeResidencySets(const MTL::ResidencySet* const residencySets[], NS::UInteger count) {
    NS::Private::send<void, "removeResidencySets:count:">(this, residencySets, count);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
};

class CommandQueueDescriptor : public NS::Copying<CommandQueueDescriptor> {
 public:
  static CommandQueueDescriptor* alloc() {
    return NS::Private::send<CommandQueueDescriptor*, "alloc">(
        NS::Private::class_named<"MTLCommandQueueDescriptor">());
  }
  CommandQueueDescriptor* init() { return NS::Private::send<CommandQueueDescriptor*, "init">(this); }
  NS::UInteger maxCommandBufferCount() const {
    return NS::Private::send<NS::UInteger, "maxCommandBufferCount">(this);
  }
  void setMaxCommandBufferCount(NS::UInteger maxCommandBufferCount) {
    NS::Private::send<void, "setMaxCommandBufferCount:">(this, maxCommandBufferCount);
  }
};

}  // namespace MTL
