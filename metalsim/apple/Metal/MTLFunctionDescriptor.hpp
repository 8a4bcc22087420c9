#pragma once

#include "MTLFunctionConstantValues.hpp"

namespace MTL {

using FunctionOptions = NS::UInteger;
enum : FunctionOptions {
  FunctionOptionNone = 0,
  FunctionOptionCompileToBinary = 1,
};

class FunctionDescriptor : public NS::Copying<FunctionDescriptor> {
 public:
  static FunctionDescriptor* alloc() {
    return NS::Private::send<FunctionDescriptor*, "alloc">(
        NS::Private::class_named<"MTLFunctionDescriptor">());
  }
  FunctionConstantValues* constantValues() const {
    return NS::Private::send<FunctionConstantValues*, "constantValues">(this);
  }
  static FunctionDescriptor* functionDescriptor() {
    return NS::Private::send<FunctionDescriptor*, "functionDescriptor">(
        NS::Private::class_named<"MTLFunctionDescriptor">());
  }
  FunctionDescriptor* init() { return NS::Private::send<FunctionDescriptor*, "init">(this); }
  NS::String* name() const { return NS::Private::send<NS::String*, "name">(this); }
  FunctionOptions options() const { return NS::Private::send<FunctionOptions, "options">(this); }
  void setConstantValues(const MTL::FunctionConstantValues* constantValues) {
    NS::Private::send<void, "setConstantValues:">(this, constantValues);
  }
  void setName(const NS::String* name) { NS::Private::send<void, "setName:">(this, name); }
  void setOptions(MTL::FunctionOptions options) { NS::Private::send<void, "setOptions:">(this, options); }
  void setSpecializedName(const NS::String* specializedName) {
    NS::Private::send<void, "setSpecializedName:">(this, specializedName);
  }
  NS::String* specializedName() const { return NS::Private::send<NS::String*, "specializedName">(this); }
};

}  // namespace MTL
