#pragma once

#include "MTLResource.hpp"

namespace MTL {

enum CounterSampleBufferError : NS::Integer {
  CounterSampleBufferErrorOutOfMemory = 0,
  CounterSampleBufferErrorInvalid = 1,
  CounterSampleBufferErrorInternal = 2,
};

class Counter : public NS::Referencing<Counter> {
 public:
  NS::String* name() const { return NS::Private::send<NS::String*, "name">(this); }
};

class CounterSet : public NS::Referencing<CounterSet> {
 public:
  NS::Array* counters() const { return NS::Private::send<NS::Array*, "counters">(this); }
  NS::String* name() const { return NS::Private::send<NS::String*, "name">(this); }
};

class CounterSampleBufferDescriptor : public NS::Copying<CounterSampleBufferDescriptor> {
 public:
  static CounterSampleBufferDescriptor* alloc() {
    return NS::Private::send<CounterSampleBufferDescriptor*, "alloc">(
        NS::Private::class_named<"MTLCounterSampleBufferDescriptor">());
  }
  CounterSet* counterSet() const { return NS::Private::send<CounterSet*, "counterSet">(this); }
  CounterSampleBufferDescriptor* init() {
    return NS::Private::send<CounterSampleBufferDescriptor*, "init">(this);
  }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  NS::UInteger sampleCount() const { return NS::Private::send<NS::UInteger, "sampleCount">(this); }
  void setCounterSet(const MTL::CounterSet* counterSet) {
    NS::Private::send<void, "setCounterSet:">(this, counterSet);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
  void setSampleCount(NS::UInteger sampleCount) {
    NS::Private::send<void, "setSampleCount:">(this, sampleCount);
  }
  void setStorageMode(MTL::StorageMode storageMode) {
    NS::Private::send<void, "setStorageMode:">(this, storageMode);
  }
  StorageMode storageMode() const { return NS::Private::send<StorageMode, "storageMode">(this); }
};

class CounterSampleBuffer : public NS::Referencing<CounterSampleBuffer> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  NS::Data* resolveCounterRange(NS::Range range) {
    return NS::Private::send<NS::Data*, "resolveCounterRange:">(this, range);
  }
  NS::UInteger sampleCount() const { return NS::Private::send<NS::UInteger, "sampleCount">(this); }
};

}  // namespace MTL
