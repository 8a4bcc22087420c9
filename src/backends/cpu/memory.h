#pragma once
#include <cstddef>
#include <utility>

namespace minfer::cpu {

/// Zero-filled memory on a 64-byte boundary; large pieces ask the system for huge pages.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Throws Error{out_of_memory} naming `bytes`.
  explicit AlignedMemory(size_t bytes);
  ~AlignedMemory();
  AlignedMemory(AlignedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}
  AlignedMemory& operator=(AlignedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t mapped_ = 0;  ///< bytes to unmap; 0 if the memory came from the heap
};

}  // namespace minfer::cpu
