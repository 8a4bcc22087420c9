#pragma once

#include "NSString.hpp"

namespace NS {

class URL : public Copying<URL> {
 public:
  static URL* fileURLWithPath(const class String* pPath) {
    return Private::send<URL*, "fileURLWithPath:">(Private::class_named<"NSURL">(), pPath);
  }
  static URL* alloc() { return Private::send<URL*, "alloc">(Private::class_named<"NSURL">()); }
  URL* init() { return Private::send<URL*, "init">(this); }
  URL* init(const class String* pString) { return Private::send<URL*, "initWithString:">(this, pString); }
  URL* initFileURLWithPath(const class String* pPath) {
    return Private::send<URL*, "initFileURLWithPath:">(this, pPath);
  }
  const char* fileSystemRepresentation() const {
    return Private::send<const char*, "fileSystemRepresentation">(this);
  }
};

}  // namespace NS
