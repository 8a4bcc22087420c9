#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

class Device;

using ResourceUsage = NS::UInteger;
enum : ResourceUsage {
  ResourceUsageRead = 1,
  ResourceUsageWrite = 1 << 1,
  ResourceUsageSample = 1 << 2,
};

using BarrierScope = NS::UInteger;
enum : BarrierScope {
  BarrierScopeBuffers = 1,
  BarrierScopeTextures = 1 << 1,
  BarrierScopeRenderTargets = 1 << 2,
};

class CommandEncoder : public NS::Referencing<CommandEncoder> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  void endEncoding() { NS::Private::send<void, "endEncoding">(this); }
  void insertDebugSignpost(const NS::String* string) {
    NS::Private::send<void, "insertDebugSignpost:">(this, string);
  }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  void popDebugGroup() { NS::Private::send<void, "popDebugGroup">(this); }
  void pushDebugGroup(const NS::String* string) { NS::Private::send<void, "pushDebugGroup:">(this, string); }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
};

}  // namespace MTL
