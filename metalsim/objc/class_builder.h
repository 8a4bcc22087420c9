// How a class of the runtime gets its methods: a table of selectors, each with a C++ function.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "objc/object.h"

namespace metalsim::objc {

using Method = void (*)();  // cast to the real type by whoever calls

/// A class, or the metaclass whose methods are a class's own functions such as `alloc`. Immutable once
/// registered.
class ClassInfo : public Object {
 public:
  ClassInfo(std::string class_name, const ClassInfo* parent)
      : name(std::move(class_name)), superclass(parent) {}

  /// The method that answers the selector, here or in a superclass; null if none does.
  Method find(const Selector* selector) const;

  const std::string name;
  const ClassInfo* const superclass;
  std::unordered_map<const Selector*, Method> methods;
  Object* (*allocate)() = nullptr;  // null: instances come from elsewhere, `alloc` is refused
};

/// The one selector of that name.
const Selector* intern_selector(const char* name);

/// Registers a class and its metaclass. `superclass` must be there already; null for the root.
ClassInfo* register_class(const char* name, const char* superclass);

/// A class that is registered already; for use while classes are being registered, when `find_class` would
/// wait.
ClassInfo* find_registered(const char* name);

/// Defined by whoever owns the classes: registers all of them. Called once, before the first class is looked
/// up.
void register_all_classes();

/// Fills the table of one class.
///
///   ClassBuilder<Buffer>("MTLResource").method<&Buffer::length>("length");
template <class T>
class ClassBuilder {
 public:
  explicit ClassBuilder(const char* superclass = "NSObject")
      : class_(register_class(T::class_name, superclass)) {}

  /// An instance method: a member function of T or of a C++ base of it.
  template <auto function>
  ClassBuilder& method(const char* selector) {
    class_->methods[intern_selector(selector)] = instance_method<function>(function);
    return *this;
  }

  /// A class method: a free or static function.
  template <auto function>
  ClassBuilder& class_method(const char* selector) {
    metaclass()->methods[intern_selector(selector)] = class_method_of<function>(function);
    return *this;
  }

  /// Lets the host create instances with `alloc`.
  ClassBuilder& creatable() {
    class_->allocate = [] { return static_cast<Object*>(new T()); };
    return *this;
  }

  /// `copy` answers a new object with the same properties.
  ClassBuilder& copyable() {
    class_->methods[intern_selector("copy")] = reinterpret_cast<Method>(&copy_of);
    return *this;
  }

 private:
  ClassInfo* metaclass() { return const_cast<ClassInfo*>(class_->isa); }

  template <auto function, class Result, class Owner, class... Arguments>
  static Method instance_method(Result (Owner::*)(Arguments...)) {
    return reinterpret_cast<Method>(+[](T* self, const Selector*, Arguments... arguments) -> Result {
      return (self->*function)(arguments...);
    });
  }
  template <auto function, class Result, class Owner, class... Arguments>
  static Method instance_method(Result (Owner::*)(Arguments...) const) {
    return reinterpret_cast<Method>(+[](const T* self, const Selector*, Arguments... arguments) -> Result {
      return (self->*function)(arguments...);
    });
  }
  template <auto function, class Result, class... Arguments>
  static Method class_method_of(Result (*)(Arguments...)) {
    return reinterpret_cast<Method>(+[](const ClassInfo*, const Selector*, Arguments... arguments) -> Result {
      return function(arguments...);
    });
  }
  static Object* copy_of(const T* self, const Selector*) {
    T* copy = new T(*self);
    adopt(copy, self->isa);
    return copy;
  }

  ClassInfo* class_;
};

}  // namespace metalsim::objc
