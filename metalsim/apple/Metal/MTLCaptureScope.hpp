#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

class CommandQueue;
class Device;

class CaptureScope : public NS::Referencing<CaptureScope> {
 public:
  class Device* device() const {
    return NS::Private::send<class Device*, "device">(this);
  }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void setLabel(const NS::String* pLabel) { NS::Private::send<void, "setLabel:">(this, pLabel); }
  class CommandQueue* commandQueue() const {
    return NS::Private::send<class CommandQueue*, "commandQueue">(this);
  }
  void beginScope() { NS::Private::send<void, "beginScope">(this); }
  void endScope() { NS::Private::send<void, "endScope">(this); }
};

}  // namespace MTL
