#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

class BlitCommandEncoder;
class CommandBuffer;
class CommandQueue;
class ComputeCommandEncoder;
class ComputePassDescriptor;
class Device;
class Event;
class ResidencySet;

enum CommandBufferStatus : NS::UInteger {
  CommandBufferStatusNotEnqueued = 0,
  CommandBufferStatusEnqueued = 1,
  CommandBufferStatusCommitted = 2,
  CommandBufferStatusScheduled = 3,
  CommandBufferStatusCompleted = 4,
  CommandBufferStatusError = 5,
};

enum CommandBufferError : NS::UInteger {
  CommandBufferErrorNone = 0,
  CommandBufferErrorInternal = 1,
  CommandBufferErrorTimeout = 2,
  CommandBufferErrorPageFault = 3,
  CommandBufferErrorBlacklisted = 4,
  CommandBufferErrorAccessRevoked = 4,
  CommandBufferErrorNotPermitted = 7,
  CommandBufferErrorOutOfMemory = 8,
  CommandBufferErrorInvalidResource = 9,
  CommandBufferErrorMemoryless = 10,
  CommandBufferErrorDeviceRemoved = 11,
  CommandBufferErrorStackOverflow = 12,
};

enum CommandEncoderErrorState : NS::Integer {
  CommandEncoderErrorStateUnknown = 0,
  CommandEncoderErrorStateCompleted = 1,
  CommandEncoderErrorStateAffected = 2,
  CommandEncoderErrorStatePending = 3,
  CommandEncoderErrorStateFaulted = 4,
};

enum DispatchType : NS::UInteger {
  DispatchTypeSerial = 0,
  DispatchTypeConcurrent = 1,
};

using CommandBufferErrorOption = NS::UInteger;
enum : CommandBufferErrorOption {
  CommandBufferErrorOptionNone = 0,
  CommandBufferErrorOptionEncoderExecutionStatus = 1,
};

using HandlerFunction = std::function<void(CommandBuffer*)>;
#if defined(__BLOCKS__)
using CommandBufferHandler = void (^)(CommandBuffer*);
#endif

class CommandBufferDescriptor : public NS::Copying<CommandBufferDescriptor> {
 public:
  static CommandBufferDescriptor* alloc() {
    return NS::Private::send<CommandBufferDescriptor*, "alloc">(
        NS::Private::class_named<"MTLCommandBufferDescriptor">());
  }
  CommandBufferErrorOption errorOptions() const {
    return NS::Private::send<CommandBufferErrorOption, "errorOptions">(this);
  }
  CommandBufferDescriptor* init() { return NS::Private::send<CommandBufferDescriptor*, "init">(this); }
  bool retainedReferences() const { return NS::Private::send<bool, "retainedReferences">(this); }
  void setErrorOptions(MTL::CommandBufferErrorOption errorOptions) {
    NS::Private::send<void, "setErrorOptions:">(this, errorOptions);
  }
  void setRetainedReferences(bool retainedReferences) {
    NS::Private::send<void, "setRetainedReferences:">(this, retainedReferences);
  }
};

class CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  CFTimeInterval GPUEndTime() const { return NS::Private::send<CFTimeInterval, "GPUEndTime">(this); }
  CFTimeInterval GPUStartTime() const { return NS::Private::send<CFTimeInterval, "GPUStartTime">(this); }
#if defined(__BLOCKS__)
  void addCompletedHandler(const MTL::CommandBufferHandler block) {
    NS::Private::send<void, "addCompletedHandler:">(this, block);
  }
  void addScheduledHandler(const MTL::CommandBufferHandler block) {
    NS::Private::send<void, "addScheduledHandler:">(this, block);
  }
#endif
  void addCompletedHandler(const MTL::HandlerFunction& function) {
    NS::Private::send<void, "addCompletedHandler:">(
        this, NS::Private::FunctionBlock<CommandBuffer*>(function).get());
  }
  void addScheduledHandler(const MTL::HandlerFunction& function) {
    NS::Private::send<void, "addScheduledHandler:">(
        this, NS::Private::FunctionBlock<CommandBuffer*>(function).get());
  }
  BlitCommandEncoder* blitCommandEncoder() {
    return NS::Private::send<BlitCommandEncoder*, "blitCommandEncoder">(this);
  }
  CommandQueue* commandQueue() const { return NS::Private::send<CommandQueue*, "commandQueue">(this); }
  void commit() { NS::Private::send<void, "commit">(this); }
  ComputeCommandEncoder* computeCommandEncoder(const MTL::ComputePassDescriptor* computePassDescriptor) {
    return NS::Private::send<ComputeCommandEncoder*, "computeCommandEncoderWithDescriptor:">(
        this, computePassDescriptor);
  }
  ComputeCommandEncoder* computeCommandEncoder() {
    return NS::Private::send<ComputeCommandEncoder*, "computeCommandEncoder">(this);
  }
  ComputeCommandEncoder* computeCommandEncoder(MTL::DispatchType dispatchType) {
    return NS::Private::send<ComputeCommandEncoder*, "computeCommandEncoderWithDispatchType:">(this,
                                                                                               dispatchType);
  }
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  void encodeSignalEvent(const MTL::Event* event, uint64_t value) {
    NS::Private::send<void, "encodeSignalEvent:value:">(this, event, value);
  }
  void encodeWait(const MTL::Event* event, uint64_t value) {
    NS::Private::send<void, "encodeWaitForEvent:value:">(this, event, value);
  }
  void enqueue() { NS::Private::send<void, "enqueue">(this); }
  NS::Error* error() const { return NS::Private::send<NS::Error*, "error">(this); }
  CommandBufferErrorOption errorOptions() const {
    return NS::Private::send<CommandBufferErrorOption, "errorOptions">(this);
  }
  CFTimeInterval kernelEndTime() const { return NS::Private::send<CFTimeInterval, "kernelEndTime">(this); }
  CFTimeInterval kernelStartTime() const {
    return NS::Private::send<CFTimeInterval, "kernelStartTime">(this);
  }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void popDebugGroup() { NS::Private::send<void, "popDebugGroup">(this); }
  void pushDebugGroup(const NS::String* string) { NS::Private::send<void, "pushDebugGroup:">(this, string); }
  bool retainedReferences() const { return NS::Private::send<bool, "retainedReferences">(this); }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
  CommandBufferStatus status() const { return NS::Private::send<CommandBufferStatus, "status">(this); }
  void useResidencySet(const MTL::ResidencySet* residencySet) {
    NS::Private::send<void, "useResidencySet:">(this, residencySet);
  }
  void useResidencySets(const MTL::ResidencySet* const residencySets[], NS::UInteger count) {
    NS::Private::send<void, "useResidencySets:count:">(this, residencySets, count);
  }
  void waitUntilCompleted() { NS::Private::send<void, "waitUntilCompleted">(this); }
  void waitUntilScheduled() { NS::Private::send<void, "waitUntilScheduled">(this); }
};

}  // namespace MTL
