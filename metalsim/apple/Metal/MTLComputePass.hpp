#pragma once

#include "MTLCommandBuffer.hpp"

namespace MTL {

class ComputePassDescriptor : public NS::Copying<ComputePassDescriptor> {
 public:
  static ComputePassDescriptor* alloc() {
    return NS::Private::send<ComputePassDescriptor*, "alloc">(
        NS::Private::class_named<"MTLComputePassDescriptor">());
  }
  static ComputePassDescriptor* computePassDescriptor() {
    return NS::Private::send<ComputePassDescriptor*, "computePassDescriptor">(
        NS::Private::class_named<"MTLComputePassDescriptor">());
  }
  DispatchType dispatchType() const { return NS::Private::send<DispatchType, "dispatchType">(this); }
  ComputePassDescriptor* init() { return NS::Private::send<ComputePassDescriptor*, "init">(this); }
  void setDispatchType(MTL::DispatchType dispatchType) {
    NS::Private::send<void, "setDispatchType:">(this, dispatchType);
  }
};

}  // namespace MTL
