#include "device/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

constexpr const char* error_domain = "MTLLibraryErrorDomain";

/// The loaded object (program or shared library) that an address lies in.
const link_map* object_of(const void* address) {
  Dl_info info{};
  link_map* object = nullptr;
  return dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) ? object : nullptr;
}

/// Objects that newLibrary loaded: their kernels are not part of the default library.
struct Loaded {
  std::mutex mutex;
  std::vector<const link_map*> objects;
};

Loaded& loaded() {
  static auto* const instance = new Loaded;
  return *instance;
}

std::vector<const KernelUnit*> units_of(const link_map* object) {
  std::vector<const KernelUnit*> units;
  for (const KernelUnit* unit = kernel_units(); unit; unit = unit->next)
    if (object_of(unit) == object) units.push_back(unit);
  return units;
}

std::vector<const KernelUnit*> linked_units() {
  Loaded& all = loaded();
  std::lock_guard lock(all.mutex);
  std::vector<const KernelUnit*> units;
  for (const KernelUnit* unit = kernel_units(); unit; unit = unit->next)
    if (std::find(all.objects.begin(), all.objects.end(), object_of(unit)) == all.objects.end())
      units.push_back(unit);
  return units;
}

/// Names of the libraries linked into the program, for error texts.
std::string linked_names() {
  std::string names;
  for (const KernelUnit* unit : linked_units())
    if (names.find(unit->library) == std::string::npos)
      names += (names.empty() ? "" : ", ") + std::string(unit->library);
  return names.empty() ? "none" : names;
}

bool requires_constant(const Kernel& kernel, const FunctionConstantEntry& constant) {
  return kernel.required_constants >> constant.slot & 1;
}

Object* load_file(Device* device, const std::string& path, Error** error) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    objc::set_error(error, error_domain, MTL::LibraryErrorUnsupported,
                    "cannot load " + path + ": " + std::string(dlerror()),
                    "the file must be built by add_metal_library for the simulator; a metallib of Apple's "
                    "compiler cannot run "
                    "here, and a checked library needs a program that links the runtime");
    return nullptr;
  }
  link_map* object = nullptr;
  dlinfo(handle, RTLD_DI_LINKMAP, &object);
  {
    std::lock_guard lock(loaded().mutex);
    loaded().objects.push_back(object);
  }
  auto units = units_of(object);
  if (units.empty()) {
    objc::set_error(error, error_domain, MTL::LibraryErrorUnsupported, path + " has no kernels",
                    "build it with add_metal_library(NAME kernels/*.metal)");
    return nullptr;
  }
  return objc::make<Library>(device, std::move(units));
}

Object* library_at(Device* device, const std::string& path, Error** error) {
  if (error) *error = nullptr;
  if (std::filesystem::exists(path)) {
    // dlopen looks a name without a slash up in the system's folders.
    return load_file(device, std::filesystem::absolute(path).string(), error);
  }
  // The same host code as on a Mac, where the file lies beside the program: a library of that name may be
  // linked in.
  const std::string name = std::filesystem::path(path).stem().string();
  std::vector<const KernelUnit*> units;
  for (const KernelUnit* unit : linked_units())
    if (name == unit->library) units.push_back(unit);
  if (!units.empty()) return objc::make<Library>(device, std::move(units));
  objc::set_error(
      error, error_domain, MTL::LibraryErrorFileNotFound,
      "no file " + path + ", and no library " + name +
          " is linked into the program (there: " + linked_names() + ")",
      "build the kernels with add_metal_library(" + name + " …) and link them or pass the file's path");
  return nullptr;
}

}  // namespace

std::string Function::missing_constant() const {
  for (const FunctionConstantEntry* entry = kernel->unit->constants; entry; entry = entry->next)
    if (requires_constant(*kernel, *entry) && !constants[entry->slot].defined)
      return "kernel " + name_ + ": function constant " + std::to_string(entry->index) + " (" + entry->name +
             ") has no value";
  return {};
}

Object* Function::constants_dictionary() const {
  auto* const dictionary = objc::make_autoreleased<objc::Dictionary>();
  for (const FunctionConstantEntry* entry = kernel->unit->constants; entry; entry = entry->next) {
    const auto info = Ref<FunctionConstantInfo>::adopt(
        objc::make<FunctionConstantInfo>(*entry, requires_constant(*kernel, *entry)));
    dictionary->set(info.get(), objc::make_string(entry->name).get());
  }
  return dictionary;
}

const Kernel* Library::find(const std::string& name) const {
  for (const KernelUnit* unit : units_)
    for (const Kernel* kernel = unit->kernels; kernel; kernel = kernel->next)
      if (name == kernel->name) return kernel;
  return nullptr;
}

Function* Library::make_function(const std::string& name, const FunctionConstantValues* values,
                                 Error** error) {
  if (error) *error = nullptr;
  const Kernel* const kernel = find(name);
  if (!kernel) {
    objc::set_error(
        error, error_domain, MTL::LibraryErrorFunctionNotFound, "no kernel \"" + name + "\" in the library",
        "functionNames lists those that are there; a template needs an instantiation with [[host_name]]");
    return nullptr;
  }
  auto* const function = objc::make<Function>(owner(), kernel, name);
  function->constants.resize(kernel->unit->constant_slots);
  for (const FunctionConstantEntry* entry = kernel->unit->constants; values && entry; entry = entry->next) {
    const auto* const value = values->find(*entry);
    if (!value) continue;
    const std::string mismatch = constant_mismatch(*entry, value->type);
    if (!mismatch.empty()) {
      objc::set_error(error, error_domain, MTL::LibraryErrorInternal, "kernel " + name + ": " + mismatch,
                      "pass the MTL::DataType of the declaration in the .metal file");
      objc::release(function);
      return nullptr;
    }
    FunctionConstantValue& slot = function->constants[entry->slot];
    std::memcpy(slot.bytes, value->bytes, sizeof slot.bytes);
    slot.defined = true;
  }
  return function;
}

/// The function, unless a constant that it needs was left out.
Function* Library::specialised(Function* function, Error** error) {
  const std::string missing = function ? function->missing_constant() : std::string();
  if (missing.empty()) return function;
  objc::set_error(error, error_domain, MTL::LibraryErrorCompileFailure, missing, missing_constant_hint);
  objc::release(function);
  return nullptr;
}

Object* Library::new_function(String* name) { return make_function(objc::to_std(name), nullptr, nullptr); }

Object* Library::new_function_with_constants(String* name, Object* values, Error** error) {
  return specialised(make_function(objc::to_std(name), dynamic_cast<FunctionConstantValues*>(values), error),
                     error);
}

Object* Library::new_function_from_descriptor(Object* object, Error** error) {
  const auto* const descriptor = dynamic_cast<FunctionDescriptor*>(object);
  if (!descriptor || !descriptor->name()) {
    objc::set_error(error, error_domain, MTL::LibraryErrorFunctionNotFound,
                    "newFunction: the descriptor has no name");
    return nullptr;
  }
  auto* const values = static_cast<FunctionConstantValues*>(descriptor->constant_values());
  Function* const function =
      make_function(objc::to_std(static_cast<String*>(descriptor->name())), values, error);
  return values ? specialised(function, error) : function;
}

Object* Library::function_names() const {
  auto* const names = objc::make_autoreleased<Array>();
  for (const KernelUnit* unit : units_)
    for (const Kernel* kernel = unit->kernels; kernel; kernel = kernel->next)
      names->items.emplace_back(objc::make_string(kernel->name).get());
  return names;
}

Object* Device::new_default_library() {
  auto units = linked_units();
  return units.empty() ? nullptr : objc::make<Library>(this, std::move(units));
}

Object* Device::new_default_library_of_bundle(Object*, Error** error) {
  if (error) *error = nullptr;
  Object* const library = new_default_library();
  if (!library)
    objc::set_error(error, error_domain, MTL::LibraryErrorFileNotFound,
                    "no kernels are linked into the program",
                    "build them with add_metal_library(NAME kernels/*.metal) and link the result");
  return library;
}

Object* Device::new_library_from_file(String* path, Error** error) {
  return library_at(this, objc::to_std(path), error);
}

Object* Device::new_library_from_url(Object* object, Error** error) {
  const auto* const url = dynamic_cast<objc::Url*>(object);
  return library_at(this, url ? url->path : "", error);
}

Object* Device::new_library_from_source(String*, Object*, Error** error) {
  objc::set_error(error, error_domain, MTL::LibraryErrorUnsupported,
                  "newLibrary from source: the simulator does not compile Metal source at run time",
                  "build the .metal files with add_metal_library(NAME kernels/*.metal) and load them with "
                  "newLibrary(path) or "
                  "newDefaultLibrary()");
  return nullptr;
}

void register_library_classes() {
  objc::ClassBuilder<FunctionConstantValues>()
      .creatable()
      .copyable()
      .method<&FunctionConstantValues::set_at_index>("setConstantValue:type:atIndex:")
      .method<&FunctionConstantValues::set_by_name>("setConstantValue:type:withName:")
      .method<&FunctionConstantValues::set_range>("setConstantValues:type:withRange:")
      .method<&FunctionConstantValues::reset>("reset");
  objc::ClassBuilder<FunctionDescriptor>()
      .creatable()
      .copyable()
      .class_method<&FunctionDescriptor::create>("functionDescriptor")
      .method<&FunctionDescriptor::name>("name")
      .method<&FunctionDescriptor::set_name>("setName:")
      .method<&FunctionDescriptor::specialized_name>("specializedName")
      .method<&FunctionDescriptor::set_specialized_name>("setSpecializedName:")
      .method<&FunctionDescriptor::constant_values>("constantValues")
      .method<&FunctionDescriptor::set_constant_values>("setConstantValues:")
      .method<&FunctionDescriptor::options>("options")
      .method<&FunctionDescriptor::set_options>("setOptions:");
  objc::ClassBuilder<FunctionConstantInfo>()
      .method<&FunctionConstantInfo::name>("name")
      .method<&FunctionConstantInfo::type>("type")
      .method<&FunctionConstantInfo::index>("index")
      .method<&FunctionConstantInfo::required>("required");
  objc::ClassBuilder<Function>()
      .method<&Function::device>("device")
      .method<&Function::name>("name")
      .method<&Function::get_label>("label")
      .method<&Function::set_label>("setLabel:")
      .method<&Function::type>("functionType")
      .method<&Function::options>("options")
      .method<&Function::constants_dictionary>("functionConstantsDictionary");
  objc::ClassBuilder<Library>()
      .method<&Library::device>("device")
      .method<&Library::get_label>("label")
      .method<&Library::set_label>("setLabel:")
      .method<&Library::new_function>("newFunctionWithName:")
      .method<&Library::new_function_with_constants>("newFunctionWithName:constantValues:error:")
      .method<&Library::new_function_from_descriptor>("newFunctionWithDescriptor:error:")
      .method<&Library::function_names>("functionNames")
      .method<&Library::install_name>("installName")
      .method<&Library::type>("type");
  register_compile_options();
}

}  // namespace metalsim::device
