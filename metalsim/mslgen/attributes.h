/// Metal's attributes: [[buffer(0)]], [[thread_position_in_grid]] ...
#pragma once
#include <string_view>

namespace metalsim::mslgen {

enum class AttributeUse {
  unknown,
  standard,     ///< C++'s own, left in place
  binding,      ///< of a kernel parameter: buffer, threadgroup
  position,     ///< of a kernel parameter: where the thread is
  kernel,       ///< of a kernel: kernel, host_name, max_total_threads_per_threadgroup
  constant,     ///< function_constant
  unsupported,  ///< Metal has it, metalsim does not
};

AttributeUse use_of_attribute(std::string_view name);

/// Words that the simulator cannot take: why, as the rest of a sentence that begins with the word. Empty if
/// there is nothing against it.
std::string_view why_refused(std::string_view word);

/// Types of textures and their kin, which metalsim does not have.
bool is_texture_type(std::string_view word);

/// Types that a function constant may have.
bool is_constant_type(std::string_view type);

/// Functions whose call makes a thread wait for others.
bool is_waiting_function(std::string_view word);

}  // namespace metalsim::mslgen
