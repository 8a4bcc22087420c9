#pragma once

#include "NSObjCRuntime.hpp"
#include "NSString.hpp"

namespace NS {

class Value : public Copying<Value> {};

class Number : public Copying<Number, Value> {
 public:
  static Number* number(char value) {
    return Private::send<Number*, "numberWithChar:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(unsigned char value) {
    return Private::send<Number*, "numberWithUnsignedChar:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(short value) {
    return Private::send<Number*, "numberWithShort:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(unsigned short value) {
    return Private::send<Number*, "numberWithUnsignedShort:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(int value) {
    return Private::send<Number*, "numberWithInt:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(unsigned int value) {
    return Private::send<Number*, "numberWithUnsignedInt:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(long value) {
    return Private::send<Number*, "numberWithLong:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(unsigned long value) {
    return Private::send<Number*, "numberWithUnsignedLong:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(long long value) {
    return Private::send<Number*, "numberWithLongLong:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(unsigned long long value) {
    return Private::send<Number*, "numberWithUnsignedLongLong:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(float value) {
    return Private::send<Number*, "numberWithFloat:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(double value) {
    return Private::send<Number*, "numberWithDouble:">(Private::class_named<"NSNumber">(), value);
  }
  static Number* number(bool value) {
    return Private::send<Number*, "numberWithBool:">(Private::class_named<"NSNumber">(), value);
  }
  Number* init(char value) { return Private::send<Number*, "initWithChar:">(this, value); }
  Number* init(unsigned char value) { return Private::send<Number*, "initWithUnsignedChar:">(this, value); }
  Number* init(short value) { return Private::send<Number*, "initWithShort:">(this, value); }
  Number* init(unsigned short value) { return Private::send<Number*, "initWithUnsignedShort:">(this, value); }
  Number* init(int value) { return Private::send<Number*, "initWithInt:">(this, value); }
  Number* init(unsigned int value) { return Private::send<Number*, "initWithUnsignedInt:">(this, value); }
  Number* init(long value) { return Private::send<Number*, "initWithLong:">(this, value); }
  Number* init(unsigned long value) { return Private::send<Number*, "initWithUnsignedLong:">(this, value); }
  Number* init(long long value) { return Private::send<Number*, "initWithLongLong:">(this, value); }
  Number* init(unsigned long long value) {
    return Private::send<Number*, "initWithUnsignedLongLong:">(this, value);
  }
  Number* init(float value) { return Private::send<Number*, "initWithFloat:">(this, value); }
  Number* init(double value) { return Private::send<Number*, "initWithDouble:">(this, value); }
  Number* init(bool value) { return Private::send<Number*, "initWithBool:">(this, value); }
  char charValue() const { return Private::send<char, "charValue">(this); }
  unsigned char unsignedCharValue() const { return Private::send<unsigned char, "unsignedCharValue">(this); }
  short shortValue() const { return Private::send<short, "shortValue">(this); }
  unsigned short unsignedShortValue() const {
    return Private::send<unsigned short, "unsignedShortValue">(this);
  }
  int intValue() const { return Private::send<int, "intValue">(this); }
  unsigned int unsignedIntValue() const { return Private::send<unsigned int, "unsignedIntValue">(this); }
  long longValue() const { return Private::send<long, "longValue">(this); }
  unsigned long unsignedLongValue() const { return Private::send<unsigned long, "unsignedLongValue">(this); }
  long long longLongValue() const { return Private::send<long long, "longLongValue">(this); }
  unsigned long long unsignedLongLongValue() const {
    return Private::send<unsigned long long, "unsignedLongLongValue">(this);
  }
  float floatValue() const { return Private::send<float, "floatValue">(this); }
  double doubleValue() const { return Private::send<double, "doubleValue">(this); }
  bool boolValue() const { return Private::send<bool, "boolValue">(this); }
  Integer integerValue() const { return Private::send<Integer, "integerValue">(this); }
  UInteger unsignedIntegerValue() const { return Private::send<UInteger, "unsignedIntegerValue">(this); }
  class String* stringValue() const {
    return Private::send<String*, "stringValue">(this);
  }
  ComparisonResult compare(const Number* pOtherNumber) const {
    return Private::send<ComparisonResult, "compare:">(this, pOtherNumber);
  }
  bool isEqualToNumber(const Number* pNumber) const {
    return Private::send<bool, "isEqualToNumber:">(this, pNumber);
  }
  static Number* alloc() { return Private::send<Number*, "alloc">(Private::class_named<"NSNumber">()); }
};

}  // namespace NS
