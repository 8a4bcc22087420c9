#pragma once

#include "NSObjCRuntime.hpp"
#include "NSObject.hpp"
#include "NSRange.hpp"

namespace NS {

enum StringEncoding : NS::UInteger {
  ASCIIStringEncoding = 1,
  UTF8StringEncoding = 4,
};

using StringCompareOptions = NS::UInteger;
enum : StringCompareOptions {
  CaseInsensitiveSearch = 1,
  LiteralSearch = 2,
  BackwardsSearch = 4,
};

using unichar = unsigned short;

class String : public Copying<String> {
 public:
  static String* string() { return Private::send<String*, "string">(Private::class_named<"NSString">()); }
  static String* string(const String* pString) {
    return Private::send<String*, "stringWithString:">(Private::class_named<"NSString">(), pString);
  }
  static String* string(const char* pString, StringEncoding encoding) {
    return Private::send<String*, "stringWithCString:encoding:">(Private::class_named<"NSString">(), pString,
                                                                 encoding);
  }
  static String* alloc() { return Private::send<String*, "alloc">(Private::class_named<"NSString">()); }
  String* init() { return Private::send<String*, "init">(this); }
  String* init(const String* pString) { return Private::send<String*, "initWithString:">(this, pString); }
  String* init(const char* pString, StringEncoding encoding) {
    return Private::send<String*, "initWithCString:encoding:">(this, pString, encoding);
  }
  String* init(void* pBytes, UInteger len, StringEncoding encoding, bool freeBuffer) {
    return Private::send<String*, "initWithBytesNoCopy:length:encoding:freeWhenDone:">(this, pBytes, len,
                                                                                       encoding, freeBuffer);
  }
  unichar character(UInteger index) const { return Private::send<unichar, "characterAtIndex:">(this, index); }
  UInteger length() const { return Private::send<UInteger, "length">(this); }
  const char* cString(StringEncoding encoding) const {
    return Private::send<const char*, "cStringUsingEncoding:">(this, encoding);
  }
  const char* utf8String() const { return Private::send<const char*, "UTF8String">(this); }
  UInteger maximumLengthOfBytes(StringEncoding encoding) const {
    return Private::send<UInteger, "maximumLengthOfBytesUsingEncoding:">(this, encoding);
  }
  UInteger lengthOfBytes(StringEncoding encoding) const {
    return Private::send<UInteger, "lengthOfBytesUsingEncoding:">(this, encoding);
  }
  bool isEqualToString(const String* pString) const {
    return Private::send<bool, "isEqualToString:">(this, pString);
  }
  Range rangeOfString(const String* pString, StringCompareOptions options) const {
    return Private::send<Range, "rangeOfString:options:">(this, pString, options);
  }
  const char* fileSystemRepresentation() const {
    return Private::send<const char*, "fileSystemRepresentation">(this);
  }
  String* stringByAppendingString(const String* pString) const {
    return Private::send<String*, "stringByAppendingString:">(this, pString);
  }
  ComparisonResult caseInsensitiveCompare(const String* pString) const {
    return Private::send<ComparisonResult, "caseInsensitiveCompare:">(this, pString);
  }
};

namespace Private {

/// One string for each text, which lives as long as the program.
inline String* constant_string(const char* text) {
  return send<String*, "metalsimConstantString:">(class_named<"NSString">(), text);
}

}  // namespace Private

}  // namespace NS

/// The string of a literal; never to be released.
#define MTLSTR(literal) NS::Private::constant_string("" literal "")
