#pragma once

#include "MTLAllocation.hpp"
#include "MTLPipeline.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;
class Function;

class ComputePipelineReflection : public NS::Referencing<ComputePipelineReflection> {};

class ComputePipelineDescriptor : public NS::Copying<ComputePipelineDescriptor> {
 public:
  static ComputePipelineDescriptor* alloc() {
    return NS::Private::send<ComputePipelineDescriptor*, "alloc">(
        NS::Private::class_named<"MTLComputePipelineDescriptor">());
  }
  PipelineBufferDescriptorArray* buffers() const {
    return NS::Private::send<PipelineBufferDescriptorArray*, "buffers">(this);
  }
  Function* computeFunction() const { return NS::Private::send<Function*, "computeFunction">(this); }
  ComputePipelineDescriptor* init() { return NS::Private::send<ComputePipelineDescriptor*, "init">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  NS::UInteger maxTotalThreadsPerThreadgroup() const {
    return NS::Private::send<NS::UInteger, "maxTotalThreadsPerThreadgroup">(this);
  }
  void reset() { NS::Private::send<void, "reset">(this); }
  void setComputeFunction(const MTL::Function* computeFunction) {
    NS::Private::send<void, "setComputeFunction:">(this, computeFunction);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup) {
    NS::Private::send<void, "setMaxTotalThreadsPerThreadgroup:">(this, maxTotalThreadsPerThreadgroup);
  }
  void setShaderValidation(MTL::ShaderValidation shaderValidation) {
    NS::Private::send<void, "setShaderValidation:">(this, shaderValidation);
  }
  void setSupportIndirectCommandBuffers(bool supportIndirectCommandBuffers) {
    NS::Private::send<void, "setSupportIndirectCommandBuffers:">(this, supportIndirectCommandBuffers);
  }
  void setThreadGroupSizeIsMultipleOfThreadExecutionWidth(
      bool threadGroupSizeIsMultipleOfThreadExecutionWidth) {
    NS::Private::send<void, "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:">(
        this, threadGroupSizeIsMultipleOfThreadExecutionWidth);
  }
  ShaderValidation shaderValidation() const {
    return NS::Private::send<ShaderValidation, "shaderValidation">(this);
  }
  bool supportIndirectCommandBuffers() const {
    return NS::Private::send<bool, "supportIndirectCommandBuffers">(this);
  }
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth() const {
    return NS::Private::send<bool, "threadGroupSizeIsMultipleOfThreadExecutionWidth">(this);
  }
};

class ComputePipelineState : public NS::Referencing<ComputePipelineState, Allocation> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  ResourceID gpuResourceID() const { return NS::Private::send<ResourceID, "gpuResourceID">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  NS::UInteger maxTotalThreadsPerThreadgroup() const {
    return NS::Private::send<NS::UInteger, "maxTotalThreadsPerThreadgroup">(this);
  }
  ShaderValidation shaderValidation() const {
    return NS::Private::send<ShaderValidation, "shaderValidation">(this);
  }
  NS::UInteger staticThreadgroupMemoryLength() const {
    return NS::Private::send<NS::UInteger, "staticThreadgroupMemoryLength">(this);
  }
  bool supportIndirectCommandBuffers() const {
    return NS::Private::send<bool, "supportIndirectCommandBuffers">(this);
  }
  NS::UInteger threadExecutionWidth() const {
    return NS::Private::send<NS::UInteger, "threadExecutionWidth">(this);
  }
};

}  // namespace MTL
