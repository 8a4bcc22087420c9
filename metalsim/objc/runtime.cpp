// Classes, selectors, and the look-up behind objc_msgSend.
#include <objc/message.h>
#include <objc/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "objc/class_builder.h"
#include "objc/misuse.h"
#include "objc/tombstone.h"

extern "C" void message_send_nil();

namespace metalsim::objc {
namespace {

std::unordered_map<std::string, ClassInfo*>& classes() {
  static auto* const all = new std::unordered_map<std::string, ClassInfo*>;
  return *all;
}

void register_classes_once() {
  static std::once_flag once;
  std::call_once(once, register_all_classes);
}

const ClassInfo* from_c(Class cls) { return reinterpret_cast<const ClassInfo*>(cls); }
Class to_c(const ClassInfo* cls) { return reinterpret_cast<Class>(const_cast<ClassInfo*>(cls)); }
const Selector* from_c(SEL selector) { return reinterpret_cast<const Selector*>(selector); }

}  // namespace

Method ClassInfo::find(const Selector* selector) const {
  for (const ClassInfo* c = this; c; c = c->superclass) {
    const auto found = c->methods.find(selector);
    if (found != c->methods.end()) return found->second;
  }
  return nullptr;
}

const Selector* intern_selector(const char* name) {
  static std::mutex mutex;
  static auto* const all = new std::unordered_map<std::string, std::unique_ptr<Selector>>;
  std::lock_guard lock(mutex);
  auto& selector = (*all)[name];
  if (!selector) selector = std::make_unique<Selector>(Selector{name});
  return selector.get();
}

ClassInfo* register_class(const char* name, const char* superclass) {
  const ClassInfo* const super = superclass ? find_registered(superclass) : nullptr;
  auto* const metaclass = new ClassInfo(name, super ? super->isa : nullptr);
  auto* const cls = new ClassInfo(name, super);
  cls->isa = metaclass;
  make_immortal(cls);
  make_immortal(metaclass);
  classes()[name] = cls;
  return cls;
}

ClassInfo* find_registered(const char* name) { return classes().at(name); }

const ClassInfo* find_class(const char* name) {
  register_classes_once();
  const auto found = classes().find(name);
  return found == classes().end() ? nullptr : found->second;
}

}  // namespace metalsim::objc

using namespace metalsim::objc;

extern "C" {

Class objc_lookUpClass(const char* name) { return to_c(find_class(name)); }

Protocol* objc_getProtocol(const char*) { return nullptr; }

SEL sel_registerName(const char* name) {
  return reinterpret_cast<SEL>(const_cast<Selector*>(intern_selector(name)));
}

const char* sel_getName(SEL selector) { return from_c(selector)->name.c_str(); }

Class object_getClass(id object) { return object ? to_c(reinterpret_cast<Object*>(object)->isa) : nullptr; }

const char* object_getClassName(id object) { return object ? class_getName(object_getClass(object)) : "nil"; }

const char* class_getName(Class cls) { return cls ? from_c(cls)->name.c_str() : "nil"; }

Class class_getSuperclass(Class cls) { return cls ? to_c(from_c(cls)->superclass) : nullptr; }

bool class_respondsToSelector(Class cls, SEL selector) {
  return cls && from_c(cls)->find(from_c(selector)) != nullptr;
}

/// Called by objc_msgSend: the function to jump to. A message to a destroyed object is reported and answered
/// with zero; an unknown selector ends the program, since nothing sensible could be returned for it.
Method metalsim_find_method(Object* receiver, const Selector* selector) {
  if (!receiver) return message_send_nil;
  if (is_tombstone(receiver)) {
    if (selector->name == "release") {
      release(receiver);  // reports the over-release
    } else {
      metalsim::report_misuse("use of a released object: \"" + selector->name + "\" is sent to " +
                              receiver->label +
                              ", which is destroyed already; retain it for as long as it is used");
    }
    return message_send_nil;
  }
  if (const Method method = receiver->isa->find(selector)) return method;
  std::fprintf(
      stderr,
      "metalsim: class %s does not implement \"%s\". The simulator has the compute part of Metal only; see "
      "the list in metalsim/README.md.\n",
      receiver->isa->name.c_str(), selector->name.c_str());
  std::abort();
}

}  // extern "C"
