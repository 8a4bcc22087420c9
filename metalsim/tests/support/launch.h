/// Running one kernel straight on the runtime, with buffers that the checker knows.
#pragma once
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/memory.h"
#include "metalsim/metalsim.h"
#include "runtime/dispatch.h"

namespace metalsim::test {

/// A device buffer with its record. It ends at (a multiple of 16 before) inaccessible pages, and so begins
/// after some: an overrun reaches no other buffer.
class Buffer {
 public:
  /// `bytes` long, filled with `fill`; not `written`: as Metal hands it out, before anyone writes it.
  explicit Buffer(size_t bytes, int fill = 0, bool written = true, const char* label = "")
      : bytes_(bytes), whole_((bytes + page - 1) / page * page) {
    void* guarded =
        mmap(nullptr, whole_ + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (guarded == MAP_FAILED) throw std::bad_alloc();
    guarded_ = static_cast<unsigned char*>(guarded);
    if (mprotect(guarded_ + guard, whole_, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
    data_ = guarded_ + guard + whole_ - (bytes + 15) / 16 * 16;
    std::memset(data_, fill, bytes);
    memory_ = memory_create(data_, bytes, written);
    memory_set_label(memory_, label);
  }
  ~Buffer() {
    memory_destroy(memory_);
    munmap(guarded_, whole_ + 2 * guard);
  }
  Buffer(const Buffer&) = delete;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }
  Memory* memory() { return memory_; }

 private:
  static constexpr size_t page = 4096, guard = 32 << 20;
  size_t bytes_, whole_;
  unsigned char *guarded_, *data_;
  Memory* memory_;
};

inline const Kernel* find_kernel(const std::string& name) {
  for (KernelUnit* unit = kernel_units(); unit; unit = unit->next)
    for (Kernel* kernel = unit->kernels; kernel; kernel = kernel->next)
      if (name == kernel->name) return kernel;
  return nullptr;
}

/// One dispatch, put together step by step.
class Launch {
 public:
  explicit Launch(const std::string& kernel) {
    dispatch_.kernel = find_kernel(kernel);
    if (!dispatch_.kernel) throw std::runtime_error("no kernel " + kernel);
    constants_.resize(64);
    dispatch_.constants = constants_.data();
  }
  Launch& buffer(uint32_t index, Buffer& buffer, size_t offset = 0) {
    memory_bind(buffer.memory(), offset, dispatch_.kernel->writable >> index & 1, dispatch_.buffers[index]);
    return *this;
  }
  template <class T>
  Launch& bytes(uint32_t index, const T& value) {
    const auto* begin = reinterpret_cast<const unsigned char*>(&value);
    bytes_.push_back(std::make_unique<Bytes>());
    std::memcpy(bytes_.back()->data, begin, sizeof(T));
    Binding& binding = dispatch_.buffers[index];
    binding.data = bytes_.back()->data;
    binding.bytes = sizeof(T);
    binding.constant_bytes = true;
    return *this;
  }
  template <class T>
  Launch& constant(uint32_t slot, T value) {
    std::memcpy(constants_[slot].bytes, &value, sizeof(T));
    constants_[slot].defined = true;
    return *this;
  }
  Launch& threadgroup(uint32_t index, uint32_t bytes) {
    dispatch_.threadgroup_bytes[index] = bytes;
    return *this;
  }
  Launch& threads(uint32_t x) {  ///< of the grid, for threadgroups that do not divide it
    dispatch_.threads[0] = x;
    dispatch_.threads[1] = dispatch_.threads[2] = 1;
    return *this;
  }
  /// One dimension each. Returns whether the checker found nothing.
  bool run(uint32_t groups, uint32_t threads_per_group, BarrierRegion* region = nullptr) {
    return run(groups, 1, 1, threads_per_group, region);
  }
  bool run(uint32_t groups_x, uint32_t groups_y, uint32_t groups_z, uint32_t threads_per_group,
           BarrierRegion* region = nullptr) {
    dispatch_.groups[0] = groups_x;
    dispatch_.groups[1] = groups_y;
    dispatch_.groups[2] = groups_z;
    dispatch_.threads_per_group[0] = threads_per_group;
    BarrierRegion own;
    return run_dispatch(dispatch_, region ? *region : own);
  }

 private:
  struct Bytes {
    alignas(16) unsigned char data[256];
  };
  Dispatch dispatch_;
  std::vector<FunctionConstantValue> constants_;
  std::vector<std::unique_ptr<Bytes>> bytes_;
};

}  // namespace metalsim::test
