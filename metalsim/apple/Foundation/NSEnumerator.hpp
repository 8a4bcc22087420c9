#pragma once

#include "NSObject.hpp"

namespace NS {

class Array;

class FastEnumeration : public Referencing<FastEnumeration> {};

template <class _ObjectType>
class Enumerator : public Referencing<Enumerator<_ObjectType>, FastEnumeration> {
 public:
  _ObjectType* nextObject() { return Private::send<_ObjectType*, "nextObject">(this); }
  Array* allObjects() { return Private::send<Array*, "allObjects">(this); }
};

}  // namespace NS
