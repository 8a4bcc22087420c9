// Runs a kernel of the program by its host name, without Metal's classes.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "checker/memory.h"
#include "runtime/abi.h"
#include "runtime/dispatch.h"

namespace metalsim::test {

class KernelRun {
 public:
  explicit KernelRun(const std::string& name) {
    for (KernelUnit* unit = kernel_units(); unit; unit = unit->next)
      for (Kernel* kernel = unit->kernels; kernel; kernel = kernel->next)
        if (name == kernel->name) dispatch_.kernel = kernel;
    INFO("kernel ", name);
    REQUIRE(dispatch_.kernel != nullptr);
    constants_.resize(dispatch_.kernel->unit->constant_slots + 1);
    dispatch_.constants = constants_.data();
  }
  ~KernelRun() {
    for (Memory* memory : memories_) memory_destroy(memory);
  }
  KernelRun(const KernelRun&) = delete;

  template <class T>
  KernelRun& buffer(int index, std::vector<T>& values) {
    return bytes(index, values.data(), values.size() * sizeof(T));
  }
  KernelRun& bytes(int index, void* data, size_t size) {
    Memory* memory = memory_create(data, size, true);
    memories_.push_back(memory);
    memory_bind(memory, 0, dispatch_.kernel->writable >> index & 1, dispatch_.buffers[index]);
    dispatch_.buffers[index].data = static_cast<unsigned char*>(data);
    dispatch_.buffers[index].bytes = size;
    return *this;
  }
  KernelRun& threadgroup(int index, uint32_t size) {
    dispatch_.threadgroup_bytes[index] = size;
    return *this;
  }
  template <class T>
  KernelRun& constant(const std::string& name, const T& value) {
    for (FunctionConstantEntry* entry = dispatch_.kernel->unit->constants; entry; entry = entry->next) {
      if (name != entry->name) continue;
      REQUIRE(entry->bytes == sizeof(T));
      std::memcpy(constants_[entry->slot].bytes, &value, sizeof(T));
      constants_[entry->slot].defined = true;
    }
    return *this;
  }

  /// `threads` in threadgroups of `group`; the last one may be smaller.
  void threads(uint32_t threads, uint32_t group) { grid({threads, 1, 1}, {group, 1, 1}); }

  struct Size {
    uint32_t x, y, z;
  };
  void grid(Size threads, Size group) {
    const uint32_t all[3] = {threads.x, threads.y, threads.z}, each[3] = {group.x, group.y, group.z};
    for (int i = 0; i < 3; ++i) {
      dispatch_.threads[i] = all[i];
      dispatch_.threads_per_group[i] = each[i];
      dispatch_.groups[i] = (all[i] + each[i] - 1) / each[i];
    }
    BarrierRegion region;
    INFO("kernel ", dispatch_.kernel->name);
    REQUIRE(run_dispatch(dispatch_, region));
  }
  const Kernel& kernel() const { return *dispatch_.kernel; }

 private:
  Dispatch dispatch_;
  std::vector<FunctionConstantValue> constants_;
  std::list<Memory*> memories_;
};

}  // namespace metalsim::test
