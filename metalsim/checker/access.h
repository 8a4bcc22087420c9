/// One load or store of kernel code, looked at before it happens.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../runtime/abi_state.h"

namespace metalsim {

/// Where an access stands in the source: a code address, or a place that the library handed over.
struct Site {
  uint32_t number = 0;  ///< low half of the code address, or index of the site table
  bool located = false;
};

/// The site of a library call. Equal places have equal numbers.
Site site_of(const SourceLocation& at);

struct Access {
  uintptr_t address;
  size_t bytes;
  size_t alignment;  ///< that the access needs, in bytes
  bool write = false;
  bool atomic = false;
  bool collective = false;  ///< of the simdgroup as a whole
  Site site;
};

/// Finds the memory, checks bounds, alignment, contents and order with earlier accesses, and remembers it.
/// Abandons the threadgroup, after a report, if the access would leave its memory; otherwise returns.
void check_access(const Access& access);

}  // namespace metalsim
