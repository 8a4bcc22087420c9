#pragma once

#include "NSString.hpp"
#include "NSURL.hpp"

namespace NS {

class Bundle : public Referencing<Bundle> {
 public:
  static Bundle* mainBundle() {
    return Private::send<Bundle*, "mainBundle">(Private::class_named<"NSBundle">());
  }
  static Bundle* bundle(const class String* pPath) {
    return Private::send<Bundle*, "bundleWithPath:">(Private::class_named<"NSBundle">(), pPath);
  }
  static Bundle* alloc() { return Private::send<Bundle*, "alloc">(Private::class_named<"NSBundle">()); }
  Bundle* init(const class String* pPath) { return Private::send<Bundle*, "initWithPath:">(this, pPath); }
  class URL* bundleURL() const {
    return Private::send<URL*, "bundleURL">(this);
  }
  class URL* resourceURL() const {
    return Private::send<URL*, "resourceURL">(this);
  }
  class URL* executableURL() const {
    return Private::send<URL*, "executableURL">(this);
  }
  class String* bundlePath() const {
    return Private::send<String*, "bundlePath">(this);
  }
  class String* resourcePath() const {
    return Private::send<String*, "resourcePath">(this);
  }
  class String* executablePath() const {
    return Private::send<String*, "executablePath">(this);
  }
  class String* bundleIdentifier() const {
    return Private::send<String*, "bundleIdentifier">(this);
  }
  class Object* objectForInfoDictionaryKey(const class String* pKey) {
    return Private::send<Object*, "objectForInfoDictionaryKey:">(this, pKey);
  }
};

}  // namespace NS
