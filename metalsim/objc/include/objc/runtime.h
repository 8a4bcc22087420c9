// The C interface of the message runtime: the few functions that metal-cpp calls, with the names and
// signatures they have on macOS. metalsim/objc implements them; nothing here is specific to Metal.
#pragma once

typedef struct objc_class* Class;
typedef struct objc_object* id;
typedef struct objc_selector* SEL;
typedef struct objc_object Protocol;

struct objc_object {
  Class isa;
};

#ifdef __cplusplus
extern "C" {
#endif

/// The class of that name, or null. Classes never go away.
Class objc_lookUpClass(const char* name);

/// Always null: nothing that metal-cpp does needs a protocol object.
Protocol* objc_getProtocol(const char* name);

/// The one selector of that name. The same name gives the same pointer for the life of the program.
SEL sel_registerName(const char* name);
const char* sel_getName(SEL selector);

Class object_getClass(id object);
const char* object_getClassName(id object);
const char* class_getName(Class cls);
Class class_getSuperclass(Class cls);

/// Whether instances of `cls` (or, for a metaclass, the class itself) answer the selector.
bool class_respondsToSelector(Class cls, SEL selector);

#ifdef __cplusplus
}
#endif
