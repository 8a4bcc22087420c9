#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "NSObject.hpp"

namespace NS {

/// Owns one reference to an object of the runtime. Moving changes no count; a null pointer is never messaged.
template <class _Class>
class SharedPtr {
 public:
  SharedPtr() = default;
  SharedPtr(std::nullptr_t) noexcept {}
  ~SharedPtr() { reset(); }

  SharedPtr(const SharedPtr& other) noexcept : object_(retained(other.object_)) {}
  SharedPtr(SharedPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}

  template <class _Other>
  SharedPtr(const SharedPtr<_Other>& other,
            typename std::enable_if_t<std::is_convertible_v<_Other*, _Class*>>* = nullptr) noexcept
      : object_(retained(static_cast<_Class*>(other.get()))) {}
  template <class _Other>
  SharedPtr(SharedPtr<_Other>&& other,
            typename std::enable_if_t<std::is_convertible_v<_Other*, _Class*>>* = nullptr) noexcept
      : object_(other.get()) {
    other.detach();
  }

  SharedPtr& operator=(const SharedPtr& other) {
    SharedPtr copy(other);
    std::swap(object_, copy.object_);
    return *this;
  }
  SharedPtr& operator=(SharedPtr&& other) {
    SharedPtr taken(std::move(other));
    std::swap(object_, taken.object_);
    return *this;
  }
  template <class _Other>
  typename std::enable_if_t<std::is_convertible_v<_Other*, _Class*>, SharedPtr&> operator=(
      const SharedPtr<_Other>& other) {
    return *this = SharedPtr(other);
  }
  template <class _Other>
  typename std::enable_if_t<std::is_convertible_v<_Other*, _Class*>, SharedPtr&> operator=(
      SharedPtr<_Other>&& other) {
    return *this = SharedPtr(std::move(other));
  }

  _Class* get() const { return object_; }
  _Class* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

  void reset() {
    if (_Class* const object = std::exchange(object_, nullptr)) object->release();
  }

  /// Forgets the object without releasing it.
  void detach() { object_ = nullptr; }

  template <class _Other>
  friend SharedPtr<_Other> RetainPtr(_Other* ptr);
  template <class _Other>
  friend SharedPtr<_Other> TransferPtr(_Other* ptr);

 private:
  static _Class* retained(_Class* object) {
    if (object) object->retain();
    return object;
  }

  _Class* object_ = nullptr;
};

/// Shares an object that somebody else owns as well.
template <class _Class>
SharedPtr<_Class> RetainPtr(_Class* pObject) {
  SharedPtr<_Class> pointer;
  pointer.object_ = SharedPtr<_Class>::retained(pObject);
  return pointer;
}

/// Takes over the reference that the caller owns, such as the result of a `new` or `alloc` method.
template <class _Class>
SharedPtr<_Class> TransferPtr(_Class* pObject) {
  SharedPtr<_Class> pointer;
  pointer.object_ = pObject;
  return pointer;
}

template <class _Left, class _Right>
bool operator==(const SharedPtr<_Left>& left, const SharedPtr<_Right>& right) {
  return left.get() == right.get();
}
template <class _Left, class _Right>
bool operator!=(const SharedPtr<_Left>& left, const SharedPtr<_Right>& right) {
  return left.get() != right.get();
}

}  // namespace NS
