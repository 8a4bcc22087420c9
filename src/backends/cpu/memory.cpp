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
constexpr size_t map_from = 4 * huge_page;  ///< smaller pieces would waste most of a huge page

[[noreturn]] void refuse(size_t bytes) {
  throw Error(ErrorCode::out_of_memory,
              fmt::format("allocating {} bytes of memory: the system refused", bytes),
              "use a smaller context, a smaller model or a packed KV format");
}

}  // namespace

AlignedMemory::AlignedMemory(size_t bytes) {
  if (bytes > SIZE_MAX / 2) refuse(bytes);
  if (bytes < map_from) {
    data_ = static_cast<std::byte*>(::operator new(bytes + size_t(alignment), alignment, std::nothrow));
    if (data_ == nullptr) refuse(bytes);
    std::memset(data_, 0, bytes);
    return;
  }
  const size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  void* mapped = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) refuse(bytes);
#ifdef MADV_HUGEPAGE
  madvise(mapped, rounded, MADV_HUGEPAGE);  // advice: without it the memory is only slower
#endif
  data_ = static_cast<std::byte*>(mapped);
  mapped_ = rounded;
}

AlignedMemory::~AlignedMemory() {
  if (mapped_ != 0) {
    munmap(data_, mapped_);
  } else {
    ::operator delete(data_, alignment);
  }
}

}  // namespace minfer::cpu
