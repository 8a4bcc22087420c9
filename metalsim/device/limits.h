// What a GPU family allows. METALSIM_GPU chooses the family, METALSIM_MEMORY the size of the machine's
// memory, METALSIM_THREADGROUP_MEMORY a device with less of that than any.
#pragma once

#include <Metal/MTLDevice.hpp>

#include <cstdint>
#include <string>

namespace metalsim::device {

/// Numbers from Apple's Metal feature set tables, but for those that depend on the machine's memory: there
/// the rule is in limits.cpp.
struct Limits {
  std::string family_name;  // "apple7"
  MTL::GPUFamily family;    // and with it all families below
  bool ray_tracing;
  uint64_t memory_bytes;
  uint64_t working_set_bytes;
  uint64_t buffer_bytes;
  uint64_t threadgroup_bytes;

  // The same for all three families.
  static constexpr uint32_t threadgroup_bytes_multiple = 16;
  static constexpr uint32_t threads_per_threadgroup = 1024;
  static constexpr uint32_t buffers = 31;
  static constexpr uint32_t set_bytes = 4096;
  static constexpr uint32_t simd_width = 32;
  static constexpr uint32_t copy_multiple = 4;     // offsets and sizes of blits on macOS
  static constexpr uint32_t command_buffers = 64;  // not completed, of one queue, unless it asks for more

  bool supports(MTL::GPUFamily asked) const;
};

/// Reads the environment: METALSIM_GPU=apple7|apple8|apple9 (default apple7), METALSIM_MEMORY, such as 16G
/// (default) or 512M, and METALSIM_THREADGROUP_MEMORY, up to 32K (default). False if a value cannot be used;
/// `problem` then says which and what is expected.
bool read_limits(Limits& limits, std::string& problem);

}  // namespace metalsim::device
