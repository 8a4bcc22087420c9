// The object model under objc_msgSend: classes, reference counts, autorelease pools.
//
// A class of the runtime is an ordinary C++ class derived from Object; its table of selectors names C++
// member functions (see class_builder.h). An object that is released for the last time is destroyed, but its
// memory is kept for a while as a tombstone, so that a message to it is reported with the name of what it was
// instead of crashing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace metalsim::objc {

struct Selector {
  std::string name;
};

class ClassInfo;

class Object {
 public:
  Object() = default;
  Object(const Object& other) : isa(other.isa), label(other.label) {}  // a copy has a count of its own
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  /// Class, label and address, for reports: `MTLBuffer "weights" (0x…)`.
  std::string describe() const;

  const ClassInfo* isa = nullptr;
  std::atomic<int64_t> references{1};
  std::string label;
};

/// Adds to or takes from the count. Null is allowed. The last release destroys the object.
void retain(Object* object);
void release(Object* object);

/// Gives one reference to the innermost pool of this thread. Without a pool that is a mistake of the host: it
/// is reported, and the object leaks, as on a device.
void autorelease(Object* object);

/// Counts the object among those alive, and gives it its class. Called once for each new object.
void adopt(Object* object, const ClassInfo* isa);

/// Takes an object out of the books of those alive: it stays for the life of the program, and retain and
/// release do nothing.
void make_immortal(Object* object);

/// Objects not yet destroyed, as `describe` names them, oldest first.
std::vector<std::string> living_objects();

/// The class named by T::class_name. Defined in class_builder.h's terms; looked up once.
const ClassInfo* find_class(const char* name);

/// A new object of class T with one reference, which the caller owns.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  static const ClassInfo* const isa = find_class(T::class_name);
  T* object = new T(std::forward<Arguments>(arguments)...);
  adopt(object, isa);
  return object;
}

/// The same, given to the innermost pool: what methods without `new`, `alloc` or `copy` in their name return.
template <class T, class... Arguments>
T* make_autoreleased(Arguments&&... arguments) {
  T* object = make<T>(std::forward<Arguments>(arguments)...);
  autorelease(object);
  return object;
}

/// Owns one reference for C++ code.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* object) : object_(object) { retain(object); }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { release(object_); }

  /// Takes over a reference that the caller owns.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

/// What NS::AutoreleasePool is: references that are released together. Pools of one thread form a stack;
/// draining one drains those above it first.
class AutoreleasePool : public Object {
 public:
  static constexpr const char* class_name = "NSAutoreleasePool";

  AutoreleasePool();
  ~AutoreleasePool() override;

  void add(Object* object) { objects_.push_back(object); }
  void drain_and_release() { release(this); }  // without garbage collection, draining a pool ends it

 private:
  void drain();

  std::vector<Object*> objects_;
  uint64_t thread_;
};

}  // namespace metalsim::objc
