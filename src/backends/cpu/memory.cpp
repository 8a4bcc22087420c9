#include "backends/cpu/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

#include "base/error.h"

namespace minfer::cpu {
namespace {

constexpr std::align_val_t alignment{64};
constexpr size_t huge_page = size_t(2) << 20;
constexpr size_t smallest_mapping = size_t(64) << 10;  ///< below, a page of its own wastes too much

[[noreturn]] void refuse(size_t bytes) {
  throw Error(ErrorCode::out_of_memory,
              fmt::format("allocating {} bytes of memory: the system refused", bytes),
              "use a smaller context, a smaller model or a packed KV format");
}

}  // namespace

AlignedMemory::AlignedMemory(size_t bytes) {
  if (bytes > SIZE_MAX / 2) refuse(bytes);
  if (bytes < smallest_mapping) {
    data_ = static_cast<std::byte*>(::operator new(bytes + size_t(alignment), alignment, std::nothrow));
    if (data_ == nullptr) refuse(bytes);
    std::memset(data_, 0, bytes);
    return;
  }
  // A mapping is zero by itself and takes memory where it is touched, not before: most of a KV cache costs
  // nothing until tokens come. Only whole aligned huge pages can be huge, so a mapping of several begins at a
  // multiple. Smaller ones lie side by side and the system sees one: the regions of a small model's layers
  // share huge pages.
  const size_t spare = bytes < huge_page ? 0 : huge_page;
  void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) refuse(bytes);
  map_ = mapped;
  mapped_ = bytes + spare;
  data_ = static_cast<std::byte*>(mapped);
  if (spare != 0) data_ += (huge_page - reinterpret_cast<uintptr_t>(mapped) % huge_page) % huge_page;
#ifdef MADV_HUGEPAGE
  madvise(data_, bytes, MADV_HUGEPAGE);  // advice: without it the memory is only slower
#endif
}

AlignedMemory::~AlignedMemory() {
  if (map_ != nullptr) {
    munmap(map_, mapped_);
  } else {
    ::operator delete(data_, alignment);
  }
}

}  // namespace minfer::cpu
