#pragma once

#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

class Object;
class String;

template <class _Class, class _Base = Object>
class Referencing : public _Base {
 public:
  _Class* retain() { return Private::send<_Class*, "retain">(this); }
  void release() { Private::send<void, "release">(this); }
  _Class* autorelease() { return Private::send<_Class*, "autorelease">(this); }
  UInteger retainCount() const { return Private::send<UInteger, "retainCount">(this); }
};

template <class _Class, class _Base = Object>
class Copying : public Referencing<_Class, _Base> {
 public:
  _Class* copy() const { return Private::send<_Class*, "copy">(this); }
};

template <class _Class, class _Base = Object>
class SecureCoding : public Referencing<_Class, _Base> {};

class Object : public Referencing<Object, objc_object> {
 public:
  UInteger hash() const { return Private::send<UInteger, "hash">(this); }
  bool isEqual(const Object* pObject) const { return Private::send<bool, "isEqual:">(this, pObject); }
  String* description() const { return Private::send<String*, "description">(this); }
  String* debugDescription() const { return Private::send<String*, "debugDescription">(this); }

 private:
  Object() = delete;
  Object(const Object&) = delete;
  ~Object() = delete;
  Object& operator=(const Object&) = delete;
};

}  // namespace NS
