#pragma once

#include "NSArray.hpp"
#include "NSDictionary.hpp"
#include "NSString.hpp"

namespace NS {

using ErrorDomain = class String*;
using ErrorUserInfoKey = class String*;

class Error : public Copying<Error> {
 public:
  static Error* error(ErrorDomain domain, Integer code, class Dictionary* pDictionary) {
    return Private::send<Error*, "errorWithDomain:code:userInfo:">(Private::class_named<"NSError">(), domain,
                                                                   code, pDictionary);
  }
  static Error* alloc() { return Private::send<Error*, "alloc">(Private::class_named<"NSError">()); }
  Error* init() { return Private::send<Error*, "init">(this); }
  Error* init(ErrorDomain domain, Integer code, class Dictionary* pDictionary) {
    return Private::send<Error*, "initWithDomain:code:userInfo:">(this, domain, code, pDictionary);
  }
  Integer code() const { return Private::send<Integer, "code">(this); }
  ErrorDomain domain() const { return Private::send<ErrorDomain, "domain">(this); }
  class Dictionary* userInfo() const {
    return Private::send<Dictionary*, "userInfo">(this);
  }
  class String* localizedDescription() const {
    return Private::send<String*, "localizedDescription">(this);
  }
  class Array* localizedRecoveryOptions() const {
    return Private::send<Array*, "localizedRecoveryOptions">(this);
  }
  class String* localizedRecoverySuggestion() const {
    return Private::send<String*, "localizedRecoverySuggestion">(this);
  }
  class String* localizedFailureReason() const {
    return Private::send<String*, "localizedFailureReason">(this);
  }
};

}  // namespace NS
