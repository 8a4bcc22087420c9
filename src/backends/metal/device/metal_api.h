#pragma once
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

namespace minfer::metal {

/// A counted reference to a Metal object: `Ref<MTL::Buffer> b = adopt(device->newBuffer(...))`.
template <class T>
using Ref = NS::SharedPtr<T>;

/// Takes over what a method named new, alloc or copy returned.
template <class T>
Ref<T> adopt(T* object) {
  return NS::TransferPtr(object);
}
/// Keeps what any other method returned, which dies with the innermost pool otherwise.
template <class T>
Ref<T> keep(T* object) {
  return NS::RetainPtr(object);
}

/// Objects that methods return without `new` in their name live until the pool that is open then closes.
/// Every call into Metal happens below one, on whatever thread.
class AutoreleasePool {
 public:
  AutoreleasePool() : pool_(NS::AutoreleasePool::alloc()->init()) {}
  ~AutoreleasePool() { pool_->release(); }
  AutoreleasePool(const AutoreleasePool&) = delete;
  AutoreleasePool& operator=(const AutoreleasePool&) = delete;

 private:
  NS::AutoreleasePool* pool_;
};

}  // namespace minfer::metal
