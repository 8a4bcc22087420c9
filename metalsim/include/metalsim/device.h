// What a test may ask of the simulated device besides Metal's own API: planned failures, and the objects
// still alive. Nothing here exists on a Mac; guard its use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace metalsim {

/// What goes wrong. All but `no_buffer` end a command buffer with status Error and the named code.
enum class FaultKind {
  fail,  ///< CommandBufferErrorInternal
  hang,  ///< does not finish for `milliseconds`, then CommandBufferErrorTimeout, as the system's watchdog
         ///< does
  out_of_memory,  ///< CommandBufferErrorOutOfMemory
  page_fault,     ///< CommandBufferErrorPageFault
  no_buffer,      ///< a newBuffer answers null
};

struct Fault {
  FaultKind kind;
  uint64_t at = 1;  ///< the how-many-th command buffer committed, or buffer made, from now on; 1 is the next
  uint32_t milliseconds = 0;  ///< of a hang
};

/// Plans a fault; several may be planned at once. METALSIM_FAULT plans them from outside, as a list such as
/// `fail@3,hang@5:200,oom@7,pagefault@8,nobuffer@2`.
void inject_fault(const Fault& fault);

/// Forgets all planned faults that have not happened yet.
void clear_faults();

/// The runtime's objects that are not destroyed yet, oldest first, each with class, label and address: at the
/// end of a program these leaked. METALSIM_LEAKS=1 prints them when the program ends.
std::vector<std::string> live_objects();

}  // namespace metalsim
