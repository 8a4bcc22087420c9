#pragma once

#include "MTLCommandBuffer.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class ComputePipelineState;
class CounterSampleBuffer;
class Fence;
class Heap;
class Resource;

struct DispatchThreadgroupsIndirectArguments {
  uint32_t threadgroupsPerGrid[3];
} _MTL_PACKED;

class ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder, CommandEncoder> {
 public:
  void dispatchThreadgroups(MTL::Size threadgroupsPerGrid, MTL::Size threadsPerThreadgroup) {
    NS::Private::send<void, "dispatchThreadgroups:threadsPerThreadgroup:">(this, threadgroupsPerGrid,
                                                                           threadsPerThreadgroup);
  }
  void dispatchThreadgroups(const MTL::Buffer* indirectBuffer, NS::UInteger indirectBufferOffset,
                            MTL::Size threadsPerThreadgroup) {
    NS::Private::send<void,
                      "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:">(
        this, indirectBuffer, indirectBufferOffset, threadsPerThreadgroup);
  }
  void dispatchThreads(MTL::Size threadsPerGrid, MTL::Size threadsPerThreadgroup) {
    NS::Private::send<void, "dispatchThreads:threadsPerThreadgroup:">(this, threadsPerGrid,
                                                                      threadsPerThreadgroup);
  }
  DispatchType dispatchType() const { return NS::Private::send<DispatchType, "dispatchType">(this); }
  void memoryBarrier(MTL::BarrierScope scope) {
    NS::Private::send<void, "memoryBarrierWithScope:">(this, scope);
  }
  void memoryBarrier(const MTL::Resource* const resources[], NS::UInteger count) {
    NS::Private::send<void, "memoryBarrierWithResources:count:">(this, resources, count);
  }
  void sampleCountersInBuffer(const MTL::CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex,
                              bool barrier) {
    NS::Private::send<void, "sampleCountersInBuffer:atSampleIndex:withBarrier:">(this, sampleBuffer,
                                                                                 sampleIndex, barrier);
  }
  void setBuffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
    NS::Private::send<void, "setBuffer:offset:atIndex:">(this, buffer, offset, index);
  }
  void setBufferOffset(NS::UInteger offset, NS::UInteger index) {
    NS::Private::send<void, "setBufferOffset:atIndex:">(this, offset, index);
  }
  void setBuffers(const MTL::Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
    NS::Private::send<void, "setBuffers:offsets:withRange:">(this, buffers, offsets, range);
  }
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) {
    NS::Private::send<void, "setBytes:length:atIndex:">(this, bytes, length, index);
  }
  void setComputePipelineState(const MTL::ComputePipelineState* state) {
    NS::Private::send<void, "setComputePipelineState:">(this, state);
  }
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) {
    NS::Private::send<void, "setThreadgroupMemoryLength:atIndex:">(this, length, index);
  }
  void updateFence(const MTL::Fence* fence) { NS::Private::send<void, "updateFence:">(this, fence); }
  void useHeap(const MTL::Heap* heap) { NS::Private::send<void, "useHeap:">(this, heap); }
  void useHeaps(const MTL::Heap* const heaps[], NS::UInteger count) {
    NS::Private::send<void, "useHeaps:count:">(this, heaps, count);
  }
  void useResource(const MTL::Resource* resource, MTL::ResourceUsage usage) {
    NS::Private::send<void, "useResource:usage:">(this, resource, usage);
  }
  void useResources(const MTL::Resource* const resources[], NS::UInteger count, MTL::ResourceUsage usage) {
    NS::Private::send<void, "useResources:count:usage:">(this, resources, count, usage);
  }
  void waitForFence(const MTL::Fence* fence) { NS::Private::send<void, "waitForFence:">(this, fence); }
};

}  // namespace MTL
