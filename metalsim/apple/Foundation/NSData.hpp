#pragma once

#include "NSObject.hpp"

namespace NS {

class Data : public Copying<Data> {
 public:
  void* mutableBytes() const { return Private::send<void*, "mutableBytes">(this); }
  UInteger length() const { return Private::send<UInteger, "length">(this); }
};

}  // namespace NS
