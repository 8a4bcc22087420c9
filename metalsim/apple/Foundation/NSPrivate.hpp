// How a method of these headers becomes a message. Apple's headers keep selectors and classes in variables
// that one source file of the program defines (NS_PRIVATE_IMPLEMENTATION); here each is a function-local
// constant, so that macro may be defined and does nothing.
#pragma once

#include <objc/message.h>
#include <objc/runtime.h>

#include <cstddef>
#include <type_traits>

namespace NS::Private {

/// A string literal as a template argument.
template <std::size_t size>
struct Name {
  constexpr Name(const char (&literal)[size]) {
    for (std::size_t i = 0; i < size; ++i) text[i] = literal[i];
  }
  char text[size];
};

template <Name name>
SEL selector() {
  static const SEL found = sel_registerName(name.text);
  return found;
}

/// The class object, which class messages such as `alloc` go to.
template <Name name>
const void* class_named() {
  static const Class found = objc_lookUpClass(name.text);
  return found;
}

/// Sends one message. On x86-64 the caller chooses the entry point by where the result is returned.
template <class Result, Name name, class... Arguments>
Result send(const void* object, Arguments... arguments) {
#if defined(__x86_64__)
  if constexpr (std::is_floating_point_v<Result>) {
    using Function = Result (*)(const void*, SEL, Arguments...);
    return reinterpret_cast<Function>(&objc_msgSend_fpret)(object, selector<name>(), arguments...);
  } else if constexpr (!std::is_void_v<Result>) {
    if constexpr (sizeof(Result) > 2 * sizeof(void*)) {
      using Function = void (*)(Result*, const void*, SEL, Arguments...);
      Result result{};
      reinterpret_cast<Function> (&objc_msgSend_stret)(&result, object, selector<name>(), arguments...);
      return result;
    } else {
      using Function = Result (*)(const void*, SEL, Arguments...);
      return reinterpret_cast<Function>(&objc_msgSend)(object, selector<name>(), arguments...);
    }
  } else
#endif
  {
    using Function = Result (*)(const void*, SEL, Arguments...);
    return reinterpret_cast<Function>(&objc_msgSend)(object, selector<name>(), arguments...);
  }
}

}  // namespace NS::Private
