#pragma once

#include <dispatch/dispatch.h>

#include "MTLPrivate.hpp"

namespace MTL {

class Device;
class SharedEvent;

using SharedEventNotificationFunction = std::function<void(SharedEvent* pEvent, std::uint64_t value)>;
#if defined(__BLOCKS__)
using SharedEventNotificationBlock = void (^)(SharedEvent* pEvent, std::uint64_t value);
#endif

class Event : public NS::Referencing<Event> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
};

class SharedEventListener : public NS::Referencing<SharedEventListener> {
 public:
  static SharedEventListener* alloc() {
    return NS::Private::send<SharedEventListener*, "alloc">(
        NS::Private::class_named<"MTLSharedEventListener">());
  }
  SharedEventListener* init() { return NS::Private::send<SharedEventListener*, "init">(this); }
  static SharedEventListener* sharedListener() {
    return NS::Private::send<SharedEventListener*, "sharedListener">(
        NS::Private::class_named<"MTLSharedEventListener">());
  }
};

class SharedEvent : public NS::Referencing<SharedEvent, Event> {
 public:
#if defined(__BLOCKS__)
  void notifyListener(const MTL::SharedEventListener* listener, uint64_t value,
                      const MTL::SharedEventNotificationBlock block) {
    NS::Private::send<void, "notifyListener:atValue:block:">(this, listener, value, block);
  }
#endif
  void notifyListener(const MTL::SharedEventListener* listener, uint64_t value,
                      const MTL::SharedEventNotificationFunction& function) {
    const NS::Private::FunctionBlock<SharedEvent*, std::uint64_t> block(function);
    NS::Private::send<void, "notifyListener:atValue:block:">(this, listener, value, block.get());
  }
  void setSignaledValue(uint64_t signaledValue) {
    NS::Private::send<void, "setSignaledValue:">(this, signaledValue);
  }
  uint64_t signaledValue() const { return NS::Private::send<uint64_t, "signaledValue">(this); }
  bool waitUntilSignaledValue(uint64_t value, uint64_t milliseconds) {
    return NS::Private::send<bool, "waitUntilSignaledValue:timeoutMS:">(this, value, milliseconds);
  }
};

}  // namespace MTL
