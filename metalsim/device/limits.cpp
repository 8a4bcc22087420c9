#include "device/limits.h"

#include <cstdlib>

namespace metalsim::device {
namespace {

constexpr uint64_t gibibyte = uint64_t{1} << 30;
constexpr uint64_t family_threadgroup_bytes = 32 << 10;  // the same for all three

/// A size such as 16G, 512M or 1048576; 0 if it is none.
uint64_t parse_size(const std::string& text) {
  char* end = nullptr;
  const uint64_t number = std::strtoull(text.c_str(), &end, 10);
  const std::string unit = end;
  if (end == text.c_str() || text[0] == '-') return 0;
  if (unit.empty()) return number;
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  if (unit == "G") return number << 30;
  return 0;
}

/// As macOS does it: the GPU may keep two thirds of a small machine's memory and three quarters of a large
/// one's. One buffer may take half of the memory (measured values lie between that and two thirds).
void apply_memory(Limits& limits, uint64_t memory) {
  limits.memory_bytes = memory;
  limits.working_set_bytes = memory <= 36 * gibibyte ? memory / 3 * 2 : memory / 4 * 3;
  limits.buffer_bytes = memory / 2;
}

}  // namespace

bool Limits::supports(MTL::GPUFamily asked) const {
  if (asked >= MTL::GPUFamilyApple1 && asked < MTL::GPUFamilyMac1) return asked <= family;
  switch (asked) {
    case MTL::GPUFamilyMac2:
    case MTL::GPUFamilyCommon1:
    case MTL::GPUFamilyCommon2:
    case MTL::GPUFamilyCommon3:
    case MTL::GPUFamilyMetal3:
      return true;
    default:
      return false;
  }
}

bool read_limits(Limits& limits, std::string& problem) {
  const char* const gpu = std::getenv("METALSIM_GPU");
  limits.family_name = gpu ? gpu : "apple7";
  if (limits.family_name == "apple7") {
    limits.family = MTL::GPUFamilyApple7;
  } else if (limits.family_name == "apple8") {
    limits.family = MTL::GPUFamilyApple8;
  } else if (limits.family_name == "apple9") {
    limits.family = MTL::GPUFamilyApple9;
  } else {
    problem = "METALSIM_GPU=" + limits.family_name + ": expected apple7, apple8 or apple9";
    return false;
  }
  limits.ray_tracing = limits.family >= MTL::GPUFamilyApple9;

  const char* const memory = std::getenv("METALSIM_MEMORY");
  const uint64_t bytes = memory ? parse_size(memory) : 16 * gibibyte;
  if (bytes == 0) {
    problem = std::string("METALSIM_MEMORY=") + memory + ": expected a size such as 16G or 512M";
    return false;
  }
  apply_memory(limits, bytes);

  const char* const threadgroup = std::getenv("METALSIM_THREADGROUP_MEMORY");
  limits.threadgroup_bytes = threadgroup ? parse_size(threadgroup) : family_threadgroup_bytes;
  if (limits.threadgroup_bytes == 0 || limits.threadgroup_bytes > family_threadgroup_bytes) {
    problem = std::string("METALSIM_THREADGROUP_MEMORY=") + threadgroup + ": expected a size up to 32K";
    return false;
  }
  return true;
}

}  // namespace metalsim::device
