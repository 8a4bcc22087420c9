#pragma once

#include "MTLGPUAddress.hpp"
#include "MTLResource.hpp"

namespace MTL {

class Buffer : public NS::Referencing<Buffer, Resource> {
 public:
  void addDebugMarker(const NS::String* marker, NS::Range range) {
    NS::Private::send<void, "addDebugMarker:range:">(this, marker, range);
  }
  void* contents() { return NS::Private::send<void*, "contents">(this); }
  void didModifyRange(NS::Range range) { NS::Private::send<void, "didModifyRange:">(this, range); }
  GPUAddress gpuAddress() const { return NS::Private::send<GPUAddress, "gpuAddress">(this); }
  NS::UInteger length() const { return NS::Private::send<NS::UInteger, "length">(this); }
  void removeAllDebugMarkers() { NS::Private::send<void, "removeAllDebugMarkers">(this); }
};

}  // namespace MTL
