// Blocks as the host hands them over: a pointer to a structure whose fourth field is the function to call.
#pragma once

#include <Block.h>

#include <utility>

namespace metalsim::device {

/// A heap copy of a block with the given parameters; released with the last copy of this object's owner.
/// Movable only.
template <class... Arguments>
class Block {
 public:
  Block() = default;
  explicit Block(const void* block) : block_(block ? _Block_copy(block) : nullptr) {}
  Block(Block&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Block() {
    if (block_) _Block_release(block_);
  }

  explicit operator bool() const { return block_ != nullptr; }

  void operator()(Arguments... arguments) const {
    const auto* const literal = static_cast<const Literal*>(block_);
    reinterpret_cast<void (*)(const void*, Arguments...)>(literal->invoke)(block_, arguments...);
  }

 private:
  struct Literal {  // the layout that the block runtime documents
    void* isa;
    int flags;
    int reserved;
    void (*invoke)();
  };

  void* block_ = nullptr;
};

}  // namespace metalsim::device
