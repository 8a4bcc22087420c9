#pragma once

#include "NSEnumerator.hpp"
#include "NSObject.hpp"

namespace NS {

class Dictionary : public NS::Copying<Dictionary> {
 public:
  static Dictionary* dictionary() {
    return Private::send<Dictionary*, "dictionary">(Private::class_named<"NSDictionary">());
  }
  static Dictionary* dictionary(const Object* pObject, const Object* pKey) {
    return Private::send<Dictionary*, "dictionaryWithObject:forKey:">(Private::class_named<"NSDictionary">(),
                                                                      pObject, pKey);
  }
  static Dictionary* dictionary(const Object* const* pObjects, const Object* const* pKeys, UInteger count) {
    return Private::send<Dictionary*, "dictionaryWithObjects:forKeys:count:">(
        Private::class_named<"NSDictionary">(), pObjects, pKeys, count);
  }
  static Dictionary* alloc() {
    return Private::send<Dictionary*, "alloc">(Private::class_named<"NSDictionary">());
  }
  Dictionary* init() { return Private::send<Dictionary*, "init">(this); }
  Dictionary* init(const Object* const* pObjects, const Object* const* pKeys, UInteger count) {
    return Private::send<Dictionary*, "initWithObjects:forKeys:count:">(this, pObjects, pKeys, count);
  }
  template <class _KeyType = Object>
  Enumerator<_KeyType>* keyEnumerator() const {
    return Private::send<Enumerator<_KeyType>*, "keyEnumerator">(this);
  }
  template <class _Object = Object>
  _Object* object(const Object* pKey) const {
    return Private::send<_Object*, "objectForKey:">(this, pKey);
  }
  UInteger count() const { return Private::send<UInteger, "count">(this); }
};

}  // namespace NS
