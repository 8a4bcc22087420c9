// MTLLibrary, MTLFunction, MTLFunctionConstantValues and the descriptors around them.
#pragma once

#include <Metal/MTLLibrary.hpp>

#include <map>
#include <vector>

#include "device/device.h"
#include "runtime/abi.h"

namespace metalsim::device {

/// Values by index or by name, as the host gave them.
class FunctionConstantValues : public Object {
 public:
  static constexpr const char* class_name = "MTLFunctionConstantValues";

  void set_at_index(const void* value, MTL::DataType type, UInteger index);
  void set_by_name(const void* value, MTL::DataType type, String* name);
  void set_range(const void* values, MTL::DataType type, objc::Range range);
  void reset();

  struct Value {
    MTL::DataType type;
    unsigned char bytes[16];
  };
  const Value* find(const FunctionConstantEntry& constant) const;

 private:
  std::map<UInteger, Value> by_index_;
  std::map<std::string, Value> by_name_;
};

class FunctionDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLFunctionDescriptor";

  static FunctionDescriptor* create() { return objc::make_autoreleased<FunctionDescriptor>(); }
  Object* name() const { return name_.get(); }
  void set_name(String* name) { name_ = name; }
  Object* specialized_name() const { return specialized_name_.get(); }
  void set_specialized_name(String* name) { specialized_name_ = name; }
  Object* constant_values() const { return values_.get(); }
  void set_constant_values(Object* values) { values_ = dynamic_cast<FunctionConstantValues*>(values); }
  UInteger options() const { return options_; }
  void set_options(UInteger options) { options_ = options; }

 private:
  Ref<String> name_;
  Ref<String> specialized_name_;
  Ref<FunctionConstantValues> values_;
  UInteger options_ = 0;
};

/// Options for compiling source. The simulator compiles none at run time, so it only keeps them.
class CompileOptions : public Object {
 public:
  static constexpr const char* class_name = "MTLCompileOptions";

  bool fast_math = true;
  bool preserve_invariance = false;
  MTL::LanguageVersion language_version = MTL::LanguageVersion3_1;
  MTL::LibraryType library_type = MTL::LibraryTypeExecutable;
  MTL::LibraryOptimizationLevel optimization_level = MTL::LibraryOptimizationLevelDefault;
  MTL::MathMode math_mode = MTL::MathModeFast;
  MTL::MathFloatingPointFunctions math_functions = MTL::MathFloatingPointFunctionsFast;
  Ref<Object> macros;

  template <auto member>
  auto get() const {
    return this->*member;
  }
  template <auto member, class Value>
  void set(Value value) {
    this->*member = value;
  }
  Object* get_macros() const { return macros.get(); }
  void set_macros(Object* dictionary) { macros = dictionary; }
};

class Library;

/// What to do about Function::missing_constant.
inline constexpr const char* missing_constant_hint =
    "give it with setConstantValue and newFunction(name, values, error), or let the kernel ask "
    "is_function_constant_defined for it";

/// A kernel with values for its function constants.
class Function : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLFunction";
  Function(Device* device, const Kernel* code, std::string name)
      : DeviceObject(device), kernel(code), name_(std::move(name)) {}

  Object* name() const { return objc::string_from(name_); }
  MTL::FunctionType type() const { return MTL::FunctionTypeKernel; }
  UInteger options() const { return 0; }
  Object* constants_dictionary() const;

  /// Which constant lacks a value that the kernel cannot do without; empty if none does.
  std::string missing_constant() const;

  const Kernel* const kernel;
  std::vector<FunctionConstantValue> constants;  // by slot of the kernel's unit

 private:
  std::string name_;
};

/// `constant T name [[function_constant(index)]]`, as a library describes it.
class FunctionConstantInfo : public Object {
 public:
  static constexpr const char* class_name = "MTLFunctionConstant";
  FunctionConstantInfo(const FunctionConstantEntry& entry, bool required)
      : entry_(entry), required_(required) {}

  Object* name() const { return objc::string_from(entry_.name); }
  MTL::DataType type() const;
  UInteger index() const { return entry_.index; }
  bool required() const { return required_; }

 private:
  const FunctionConstantEntry& entry_;
  bool required_;
};

/// The kernels of some compiled .metal files: those linked into the program, or those of a loaded file. A
/// loaded file is never unloaded, since kernels may be known by address for the rest of the program.
class Library : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLLibrary";
  Library(Device* device, std::vector<const KernelUnit*> units)
      : DeviceObject(device), units_(std::move(units)) {}

  Object* new_function(String* name);
  Object* new_function_with_constants(String* name, Object* values, Error** error);
  Object* new_function_from_descriptor(Object* descriptor, Error** error);
  Object* function_names() const;
  Object* install_name() const { return nullptr; }
  MTL::LibraryType type() const { return MTL::LibraryTypeExecutable; }

 private:
  const Kernel* find(const std::string& name) const;
  Function* make_function(const std::string& name, const FunctionConstantValues* values, Error** error);
  static Function* specialised(Function* function, Error** error);

  std::vector<const KernelUnit*> units_;
};

/// Why a constant cannot take a value that the host gave as that type; empty if it can.
std::string constant_mismatch(const FunctionConstantEntry& constant, MTL::DataType given);

void register_library_classes();
void register_compile_options();

}  // namespace metalsim::device
