#pragma once

#include "MTLDataType.hpp"

namespace MTL {

class FunctionConstantValues : public NS::Copying<FunctionConstantValues> {
 public:
  static FunctionConstantValues* alloc() {
    return NS::Private::send<FunctionConstantValues*, "alloc">(
        NS::Private::class_named<"MTLFunctionConstantValues">());
  }
  FunctionConstantValues* init() { return NS::Private::send<FunctionConstantValues*, "init">(this); }
  void reset() { NS::Private::send<void, "reset">(this); }
  void setConstantValue(const void* value, MTL::DataType type, NS::UInteger index) {
    NS::Private::send<void, "setConstantValue:type:atIndex:">(this, value, type, index);
  }
  void setConstantValue(const void* value, MTL::DataType type, const NS::String* name) {
    NS::Private::send<void, "setConstantValue:type:withName:">(this, value, type, name);
  }
  void setConstantValues(const void* values, MTL::DataType type, NS::Range range) {
    NS::Private::send<void, "setConstantValues:type:withRange:">(this, values, type, range);
  }
};

}  // namespace MTL
