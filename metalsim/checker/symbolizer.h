/// From code addresses of kernels to lines of .metal files, by the debug information of the running program.
#pragma once
#include <cstdint>
#include <string>

namespace metalsim {

struct SourceLine {
  std::string file;
  uint32_t line = 0;  ///< 0: unknown
};

/// The line of the kernel's source in which `code` stands: of inlined library functions, the line that called
/// them.
SourceLine line_of_code(uintptr_t code);

/// The whole address of which `low` is the low half, among the code of the loaded modules; 0 if there is
/// none.
uintptr_t code_from_low_half(uint32_t low);

/// Whether an address lies in a loaded module's data or code.
bool in_loaded_module(uintptr_t address, size_t bytes);

}  // namespace metalsim
