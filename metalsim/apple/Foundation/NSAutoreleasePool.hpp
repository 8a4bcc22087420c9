#pragma once

#include "NSObject.hpp"

namespace NS {

class AutoreleasePool : public Object {
 public:
  static AutoreleasePool* alloc() {
    return Private::send<AutoreleasePool*, "alloc">(Private::class_named<"NSAutoreleasePool">());
  }
  AutoreleasePool* init() { return Private::send<AutoreleasePool*, "init">(this); }
  void drain() { Private::send<void, "drain">(this); }
  void addObject(Object* pObject) { Private::send<void, "addObject:">(this, pObject); }
  static void showPools() { Private::send<void, "showPools">(Private::class_named<"NSAutoreleasePool">()); }
};

}  // namespace NS
