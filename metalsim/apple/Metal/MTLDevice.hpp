#pragma once

#include "MTLBuffer.hpp"
#include "MTLCounters.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class CommandQueue;
class CommandQueueDescriptor;
class CompileOptions;
class ComputePipelineDescriptor;
class ComputePipelineReflection;
class ComputePipelineState;
class CounterSampleBuffer;
class Device;
class Event;
class Fence;
class Function;
class HeapDescriptor;
class Library;
class ResidencySet;
class ResidencySetDescriptor;
class SharedEvent;

enum GPUFamily : NS::Integer {
  GPUFamilyApple1 = 1001,
  GPUFamilyApple2 = 1002,
  GPUFamilyApple3 = 1003,
  GPUFamilyApple4 = 1004,
  GPUFamilyApple5 = 1005,
  GPUFamilyApple6 = 1006,
  GPUFamilyApple7 = 1007,
  GPUFamilyApple8 = 1008,
  GPUFamilyApple9 = 1009,
  GPUFamilyApple10 = 1010,
  GPUFamilyMac1 = 2001,
  GPUFamilyMac2 = 2002,
  GPUFamilyCommon1 = 3001,
  GPUFamilyCommon2 = 3002,
  GPUFamilyCommon3 = 3003,
  GPUFamilyMacCatalyst1 = 4001,
  GPUFamilyMacCatalyst2 = 4002,
  GPUFamilyMetal3 = 5001,
  GPUFamilyMetal4 = 5002,
};

enum DeviceLocation : NS::UInteger {
  DeviceLocationBuiltIn = 0,
  DeviceLocationSlot = 1,
  DeviceLocationExternal = 2,
  DeviceLocationUnspecified = NS::UIntegerMax,
};

enum ArgumentBuffersTier : NS::UInteger {
  ArgumentBuffersTier1 = 0,
  ArgumentBuffersTier2 = 1,
};

enum CounterSamplingPoint : NS::UInteger {
  CounterSamplingPointAtStageBoundary = 0,
  CounterSamplingPointAtDrawBoundary = 1,
  CounterSamplingPointAtDispatchBoundary = 2,
  CounterSamplingPointAtTileDispatchBoundary = 3,
  CounterSamplingPointAtBlitBoundary = 4,
};

using PipelineOption = NS::UInteger;
enum : PipelineOption {
  PipelineOptionNone = 0,
};

using AutoreleasedComputePipelineReflection = MTL::ComputePipelineReflection*;
using NewComputePipelineStateCompletionHandlerFunction =
    std::function<void(MTL::ComputePipelineState*, NS::Error*)>;
using Timestamp = std::uint64_t;

Device* CreateSystemDefaultDevice();
NS::Array* CopyAllDevices();

class Device : public NS::Referencing<Device> {
 public:
  ArgumentBuffersTier argumentBuffersSupport() const {
    return NS::Private::send<ArgumentBuffersTier, "argumentBuffersSupport">(this);
  }
  NS::Array* counterSets() const { return NS::Private::send<NS::Array*, "counterSets">(this); }
  NS::UInteger currentAllocatedSize() const {
    return NS::Private::send<NS::UInteger, "currentAllocatedSize">(this);
  }
  bool hasUnifiedMemory() const { return NS::Private::send<bool, "hasUnifiedMemory">(this); }
  SizeAndAlign heapBufferSizeAndAlign(NS::UInteger length, MTL::ResourceOptions options) {
    return NS::Private::send<SizeAndAlign, "heapBufferSizeAndAlignWithLength:options:">(this, length,
                                                                                        options);
  }
  bool isHeadless() const { return NS::Private::send<bool, "isHeadless">(this); }
  bool isLowPower() const { return NS::Private::send<bool, "isLowPower">(this); }
  bool isRemovable() const { return NS::Private::send<bool, "isRemovable">(this); }
  DeviceLocation location() const { return NS::Private::send<DeviceLocation, "location">(this); }
  NS::UInteger maxBufferLength() const { return NS::Private::send<NS::UInteger, "maxBufferLength">(this); }
  NS::UInteger maxThreadgroupMemoryLength() const {
    return NS::Private::send<NS::UInteger, "maxThreadgroupMemoryLength">(this);
  }
  Size maxThreadsPerThreadgroup() const { return NS::Private::send<Size, "maxThreadsPerThreadgroup">(this); }
  uint64_t maxTransferRate() const { return NS::Private::send<uint64_t, "maxTransferRate">(this); }
  NS::String* name() const { return NS::Private::send<NS::String*, "name">(this); }
  Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options) {
    return NS::Private::send<Buffer*, "newBufferWithLength:options:">(this, length, options);
  }
  Buffer* newBuffer(const void* pointer, NS::UInteger length, MTL::ResourceOptions options) {
    return NS::Private::send<Buffer*, "newBufferWithBytes:length:options:">(this, pointer, length, options);
  }
#if defined(__BLOCKS__)
  Buffer* newBuffer(const void* pointer, NS::UInteger length, MTL::ResourceOptions options,
                    void (^deallocator)(void*, NS::UInteger)) {
    return NS::Private::send<Buffer*, "newBufferWithBytesNoCopy:length:options:deallocator:">(
        this, pointer, length, options, deallocator);
  }
#else
  Buffer* newBuffer(const void* pointer, NS::UInteger length, MTL::ResourceOptions options,
                    std::nullptr_t deallocator) {
    return NS::Private::send<Buffer*, "newBufferWithBytesNoCopy:length:options:deallocator:">(
        this, pointer, length, options, deallocator);
  }
#endif
  CommandQueue* newCommandQueue() { return NS::Private::send<CommandQueue*, "newCommandQueue">(this); }
  CommandQueue* newCommandQueue(NS::UInteger maxCommandBufferCount) {
    return NS::Private::send<CommandQueue*, "newCommandQueueWithMaxCommandBufferCount:">(
        this, maxCommandBufferCount);
  }
  CommandQueue* newCommandQueue(const MTL::CommandQueueDescriptor* descriptor) {
    return NS::Private::send<CommandQueue*, "newCommandQueueWithDescriptor:">(this, descriptor);
  }
  ComputePipelineState* newComputePipelineState(const MTL::Function* computeFunction, NS::Error** error) {
    return NS::Private::send<ComputePipelineState*, "newComputePipelineStateWithFunction:error:">(
        this, computeFunction, error);
  }
  ComputePipelineState* newComputePipelineState(const MTL::Function* computeFunction,
                                                MTL::PipelineOption options,
                                                const MTL::AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error) {
    return NS::Private::send<ComputePipelineState*,
                             "newComputePipelineStateWithFunction:options:reflection:error:">(
        this, computeFunction, options, reflection, error);
  }
  ComputePipelineState* newComputePipelineState(const MTL::ComputePipelineDescriptor* descriptor,
                                                MTL::PipelineOption options,
                                                const MTL::AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error) {
    return NS::Private::send<ComputePipelineState*,
                             "newComputePipelineStateWithDescriptor:options:reflection:error:">(
        this, descriptor, options, reflection, error);
  }
  void newComputePipelineState(
      const MTL::Function* pFunction,
      const MTL::NewComputePipelineStateCompletionHandlerFunction& completionHandler) {
    const NS::Private::FunctionBlock<ComputePipelineState*, NS::Error*> block(completionHandler);
    NS::Private::send<void, "newComputePipelineStateWithFunction:completionHandler:">(this, pFunction,
                                                                                      block.get());
  }
  CounterSampleBuffer* newCounterSampleBuffer(const MTL::CounterSampleBufferDescriptor* descriptor,
                                              NS::Error** error) {
    return NS::Private::send<CounterSampleBuffer*, "newCounterSampleBufferWithDescriptor:error:">(
        this, descriptor, error);
  }
  Library* newDefaultLibrary() { return NS::Private::send<Library*, "newDefaultLibrary">(this); }
  Library* newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error) {
    return NS::Private::send<Library*, "newDefaultLibraryWithBundle:error:">(this, bundle, error);
  }
  Event* newEvent() { return NS::Private::send<Event*, "newEvent">(this); }
  Fence* newFence() { return NS::Private::send<Fence*, "newFence">(this); }
  Heap* newHeap(const MTL::HeapDescriptor* descriptor) {
    return NS::Private::send<Heap*, "newHeapWithDescriptor:">(this, descriptor);
  }
  Library* newLibrary(const NS::String* filepath, NS::Error** error) {
    return NS::Private::send<Library*, "newLibraryWithFile:error:">(this, filepath, error);
  }
  Library* newLibrary(const NS::URL* url, NS::Error** error) {
    return NS::Private::send<Library*, "newLibraryWithURL:error:">(this, url, error);
  }
  Library* newLibrary(const NS::String* source, const MTL::CompileOptions* options, NS::Error** error) {
    return NS::Private::send<Library*, "newLibraryWithSource:options:error:">(this, source, options, error);
  }
  ResidencySet* newResidencySet(const MTL::ResidencySetDescriptor* desc, NS::Error** error) {
    return NS::Private::send<ResidencySet*, "newResidencySetWithDescriptor:error:">(this, desc, error);
  }
  SharedEvent* newSharedEvent() { return NS::Private::send<SharedEvent*, "newSharedEvent">(this); }
  uint64_t recommendedMaxWorkingSetSize() const {
    return NS::Private::send<uint64_t, "recommendedMaxWorkingSetSize">(this);
  }
  uint64_t registryID() const { return NS::Private::send<uint64_t, "registryID">(this); }
  void sampleTimestamps(MTL::Timestamp* cpuTimestamp, MTL::Timestamp* gpuTimestamp) {
    NS::Private::send<void, "sampleTimestamps:gpuTimestamp:">(this, cpuTimestamp, gpuTimestamp);
  }
  bool supports32BitFloatFiltering() const {
    return NS::Private::send<bool, "supports32BitFloatFiltering">(this);
  }
  bool supportsCounterSampling(MTL::CounterSamplingPoint samplingPoint) {
    return NS::Private::send<bool, "supportsCounterSampling:">(this, samplingPoint);
  }
  bool supportsDynamicLibraries() const { return NS::Private::send<bool, "supportsDynamicLibraries">(this); }
  bool supportsFamily(MTL::GPUFamily gpuFamily) {
    return NS::Private::send<bool, "supportsFamily:">(this, gpuFamily);
  }
  bool supportsFunctionPointers() const { return NS::Private::send<bool, "supportsFunctionPointers">(this); }
  bool supportsRaytracing() const { return NS::Private::send<bool, "supportsRaytracing">(this); }
};

}  // namespace MTL

extern "C" MTL::Device* MTLCreateSystemDefaultDevice();
extern "C" NS::Array* MTLCopyAllDevices();

inline MTL::Device* MTL::CreateSystemDefaultDevice() { return ::MTLCreateSystemDefaultDevice(); }
inline NS::Array* MTL::CopyAllDevices() { return ::MTLCopyAllDevices(); }
