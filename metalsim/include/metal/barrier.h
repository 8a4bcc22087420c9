// Barriers, and the memory that the threads of a threadgroup share.
#pragma once

#include "../../runtime/abi.h"
#include "scalar.h"

namespace metal {

enum class mem_flags : uint {
  mem_none = metalsim::fence_none,
  mem_device = metalsim::fence_device,
  mem_threadgroup = metalsim::fence_threadgroup,
  mem_texture = metalsim::fence_texture,
};
MSL_FN constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
MSL_FN constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }

MSL_RUNTIME_FN void threadgroup_barrier(mem_flags flags,
                                        metalsim::SourceLocation at = metalsim::SourceLocation::here()) {
  metalsim::threadgroup_fence(uint(flags), at);
}

MSL_RUNTIME_FN void simdgroup_barrier(mem_flags flags,
                                      metalsim::SourceLocation at = metalsim::SourceLocation::here()) {
  if (flags != mem_flags::mem_none) return metalsim::simdgroup_fence(uint(flags), at);
#if defined(METALSIM_CHECKED)
  metalsim::simd_pass(at, metalsim::SimdUse::barrier);  // orders no memory: a hint to the scheduler of a GPU
#endif

}

}  // namespace metal

namespace metalsim {

/// A threadgroup variable of a kernel's body: `threadgroup float tile[64];` in `kernel void k()` becomes
/// `auto& tile = metalsim::threadgroup_variable<float[64], &::k, 0>();`
template <class T, auto kernel, uint32_t id>
MSL_FN T& threadgroup_variable(SourceLocation at = SourceLocation::here()) {
  static_assert(id < max_static_arrays, "too many threadgroup variables in one kernel");
  (void)&StaticThreadgroupMemory<kernel>::template counted<T, id>;
  return *static_cast<T*>(static_threadgroup_memory(id, sizeof(T), at));
}

/// The value of the function constant in `slot`, and whether the host gave one.
template <class T, uint32_t slot>
MSL_RUNTIME_FN T function_constant() {
  return FunctionConstant<T, slot>();
}
template <uint32_t slot>
MSL_RUNTIME_FN bool function_constant_defined() {
  return current_group->dispatch->constants[slot].defined;
}

}  // namespace metalsim
