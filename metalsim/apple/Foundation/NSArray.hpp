#pragma once

#include "NSEnumerator.hpp"
#include "NSObject.hpp"

namespace NS {

class Array : public Copying<Array> {
 public:
  static Array* array() { return Private::send<Array*, "array">(Private::class_named<"NSArray">()); }
  static Array* array(const Object* pObject) {
    return Private::send<Array*, "arrayWithObject:">(Private::class_named<"NSArray">(), pObject);
  }
  static Array* array(const Object* const* pObjects, UInteger count) {
    return Private::send<Array*, "arrayWithObjects:count:">(Private::class_named<"NSArray">(), pObjects,
                                                            count);
  }
  static Array* alloc() { return Private::send<Array*, "alloc">(Private::class_named<"NSArray">()); }
  Array* init() { return Private::send<Array*, "init">(this); }
  Array* init(const Object* const* pObjects, UInteger count) {
    return Private::send<Array*, "initWithObjects:count:">(this, pObjects, count);
  }
  template <class _Object = Object>
  _Object* object(UInteger index) const {
    return Private::send<_Object*, "objectAtIndex:">(this, index);
  }
  UInteger count() const { return Private::send<UInteger, "count">(this); }
  Enumerator<Object>* objectEnumerator() const {
    return Private::send<Enumerator<Object>*, "objectEnumerator">(this);
  }
};

}  // namespace NS
