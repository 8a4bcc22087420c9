#pragma once

#include "MTLCommandEncoder.hpp"

namespace MTL {

class Buffer;
class CounterSampleBuffer;
class Fence;
class Resource;

class BlitCommandEncoder : public NS::Referencing<BlitCommandEncoder, CommandEncoder> {
 public:
  void copyFromBuffer(const MTL::Buffer* sourceBuffer, NS::UInteger sourceOffset,
                      const MTL::Buffer* destinationBuffer, NS::UInteger destinationOffset,
                      NS::UInteger size) {
    NS::Private::send<void, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:">(
        this, sourceBuffer, sourceOffset, destinationBuffer, destinationOffset, size);
  }
  void fillBuffer(const MTL::Buffer* buffer, NS::Range range, uint8_t value) {
    NS::Private::send<void, "fillBuffer:range:value:">(this, buffer, range, value);
  }
  void resolveCounters(const MTL::CounterSampleBuffer* sampleBuffer, NS::Range range,
                       const MTL::Buffer* destinationBuffer, NS::UInteger destinationOffset) {
    NS::Private::send<void, "resolveCounters:inRange:destinationBuffer:destinationOffset:">(
        this, sampleBuffer, range, destinationBuffer, destinationOffset);
  }
  void sampleCountersInBuffer(const MTL::CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex,
                              bool barrier) {
    NS::Private::send<void, "sampleCountersInBuffer:atSampleIndex:withBarrier:">(this, sampleBuffer,
                                                                                 sampleIndex, barrier);
  }
  void synchronizeResource(const MTL::Resource* resource) {
    NS::Private::send<void, "synchronizeResource:">(this, resource);
  }
  void updateFence(const MTL::Fence* fence) { NS::Private::send<void, "updateFence:">(this, fence); }
  void waitForFence(const MTL::Fence* fence) { NS::Private::send<void, "waitForFence:">(this, fence); }
};

}  // namespace MTL
