#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

class Allocation : public NS::Referencing<Allocation> {
 public:
  NS::UInteger allocatedSize() const { return NS::Private::send<NS::UInteger, "allocatedSize">(this); }
};

}  // namespace MTL
