#pragma once
#include <cstddef>
#include <utility>

namespace minfer::cpu {

/// Zero-filled memory on a 64-byte boundary; all but small pieces ask the system for huge pages.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Throws Error{out_of_memory} naming `bytes`.
  explicit AlignedMemory(size_t bytes);
  ~AlignedMemory();
  AlignedMemory(AlignedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        map_(std::exchange(other.map_, nullptr)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  AlignedMemory& operator=(AlignedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(map_, other.map_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  void* map_ = nullptr;  ///< the mapping that holds data_; null if the memory came from the heap
  size_t mapped_ = 0;
};

}  // namespace minfer::cpu
