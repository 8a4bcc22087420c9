#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

class Device;

class Fence : public NS::Referencing<Fence> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
};

}  // namespace MTL
