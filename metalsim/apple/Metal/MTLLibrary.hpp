#pragma once

#include "MTLFunctionConstantValues.hpp"
#include "MTLFunctionDescriptor.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;

enum FunctionType : NS::UInteger {
  FunctionTypeVertex = 1,
  FunctionTypeFragment = 2,
  FunctionTypeKernel = 3,
};

enum LanguageVersion : NS::UInteger {
  LanguageVersion1_0 = 65536,
  LanguageVersion1_1 = 65537,
  LanguageVersion1_2 = 65538,
  LanguageVersion2_0 = 131072,
  LanguageVersion2_1 = 131073,
  LanguageVersion2_2 = 131074,
  LanguageVersion2_3 = 131075,
  LanguageVersion2_4 = 131076,
  LanguageVersion3_0 = 196608,
  LanguageVersion3_1 = 196609,
  LanguageVersion3_2 = 196610,
};

enum LibraryType : NS::Integer {
  LibraryTypeExecutable = 0,
  LibraryTypeDynamic = 1,
};

enum LibraryOptimizationLevel : NS::Integer {
  LibraryOptimizationLevelDefault = 0,
  LibraryOptimizationLevelSize = 1,
};

enum MathMode : NS::Integer {
  MathModeSafe = 0,
  MathModeRelaxed = 1,
  MathModeFast = 2,
};

enum MathFloatingPointFunctions : NS::Integer {
  MathFloatingPointFunctionsFast = 0,
  MathFloatingPointFunctionsPrecise = 1,
};

enum LibraryError : NS::UInteger {
  LibraryErrorUnsupported = 1,
  LibraryErrorInternal = 2,
  LibraryErrorCompileFailure = 3,
  LibraryErrorCompileWarning = 4,
  LibraryErrorFunctionNotFound = 5,
  LibraryErrorFileNotFound = 6,
};

class FunctionConstant : public NS::Referencing<FunctionConstant> {
 public:
  NS::UInteger index() const { return NS::Private::send<NS::UInteger, "index">(this); }
  NS::String* name() const { return NS::Private::send<NS::String*, "name">(this); }
  bool required() const { return NS::Private::send<bool, "required">(this); }
  DataType type() const { return NS::Private::send<DataType, "type">(this); }
};

class Function : public NS::Referencing<Function> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  NS::Dictionary* functionConstantsDictionary() const {
    return NS::Private::send<NS::Dictionary*, "functionConstantsDictionary">(this);
  }
  FunctionType functionType() const { return NS::Private::send<FunctionType, "functionType">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  NS::String* name() const { return NS::Private::send<NS::String*, "name">(this); }
  FunctionOptions options() const { return NS::Private::send<FunctionOptions, "options">(this); }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
};

class CompileOptions : public NS::Copying<CompileOptions> {
 public:
  static CompileOptions* alloc() {
    return NS::Private::send<CompileOptions*, "alloc">(NS::Private::class_named<"MTLCompileOptions">());
  }
  bool fastMathEnabled() const { return NS::Private::send<bool, "fastMathEnabled">(this); }
  CompileOptions* init() { return NS::Private::send<CompileOptions*, "init">(this); }
  LanguageVersion languageVersion() const {
    return NS::Private::send<LanguageVersion, "languageVersion">(this);
  }
  LibraryType libraryType() const { return NS::Private::send<LibraryType, "libraryType">(this); }
  MathFloatingPointFunctions mathFloatingPointFunctions() const {
    return NS::Private::send<MathFloatingPointFunctions, "mathFloatingPointFunctions">(this);
  }
  MathMode mathMode() const { return NS::Private::send<MathMode, "mathMode">(this); }
  LibraryOptimizationLevel optimizationLevel() const {
    return NS::Private::send<LibraryOptimizationLevel, "optimizationLevel">(this);
  }
  NS::Dictionary* preprocessorMacros() const {
    return NS::Private::send<NS::Dictionary*, "preprocessorMacros">(this);
  }
  bool preserveInvariance() const { return NS::Private::send<bool, "preserveInvariance">(this); }
  void setFastMathEnabled(bool fastMathEnabled) {
    NS::Private::send<void, "setFastMathEnabled:">(this, fastMathEnabled);
  }
  void setLanguageVersion(MTL::LanguageVersion languageVersion) {
    NS::Private::send<void, "setLanguageVersion:">(this, languageVersion);
  }
  void setLibraryType(MTL::LibraryType libraryType) {
    NS::Private::send<void, "setLibraryType:">(this, libraryType);
  }
  void setMathFloatingPointFunctions(MTL::MathFloatingPointFunctions mathFloatingPointFunctions) {
    NS::Private::send<void, "setMathFloatingPointFunctions:">(this, mathFloatingPointFunctions);
  }
  void setMathMode(MTL::MathMode mathMode) { NS::Private::send<void, "setMathMode:">(this, mathMode); }
  void setOptimizationLevel(MTL::LibraryOptimizationLevel optimizationLevel) {
    NS::Private::send<void, "setOptimizationLevel:">(this, optimizationLevel);
  }
  void setPreprocessorMacros(const NS::Dictionary* preprocessorMacros) {
    NS::Private::send<void, "setPreprocessorMacros:">(this, preprocessorMacros);
  }
  void setPreserveInvariance(bool preserveInvariance) {
    NS::Private::send<void, "setPreserveInvariance:">(this, preserveInvariance);
  }
};

class Library : public NS::Referencing<Library> {
 public:
  Device* device() const { return NS::Private::send<Device*, "device">(this); }
  NS::Array* functionNames() const { return NS::Private::send<NS::Array*, "functionNames">(this); }
  NS::String* installName() const { return NS::Private::send<NS::String*, "installName">(this); }
  NS::String* label() const { return NS::Private::send<NS::String*, "label">(this); }
  Function* newFunction(const NS::String* functionName) {
    return NS::Private::send<Function*, "newFunctionWithName:">(this, functionName);
  }
  Function* newFunction(const NS::String* name, const MTL::FunctionConstantValues* constantValues,
                        NS::Error** error) {
    return NS::Private::send<Function*, "newFunctionWithName:constantValues:error:">(this, name,
                                                                                     constantValues, error);
  }
  Function* newFunction(const MTL::FunctionDescriptor* descriptor, NS::Error** error) {
    return NS::Private::send<Function*, "newFunctionWithDescriptor:error:">(this, descriptor, error);
  }
  void setLabel(const NS::String* label) { NS::Private::send<void, "setLabel:">(this, label); }
  LibraryType type() const { return NS::Private::send<LibraryType, "type">(this); }
};

}  // namespace MTL
