#pragma once
#include <string_view>

#include "backends/cpu/isa/kernels.h"

/// What kernels.cpp chooses from. A table stands in isa/NAME.cpp; the build defines MINFER_ISA_X86 or
/// MINFER_ISA_NEON where those files take part (CMakeLists.txt).
namespace minfer::cpu {

namespace scalar {
extern const KernelTable table;
}
#ifdef MINFER_ISA_X86
namespace avx2 {
extern const KernelTable table;
}
namespace avx512 {
extern const KernelTable table;
}
#endif
#ifdef MINFER_ISA_NEON
namespace neon {
extern const KernelTable table;
}
#endif

/// Whether the processor has the instructions and the operating system saves their registers.
bool cpu_runs_avx2();
bool cpu_runs_avx512();
bool cpu_runs_neon();

/// The fastest table that runs here, or the one called `pinned` if that is not empty. Throws as kernels()
/// does.
const KernelTable& choose_table(std::string_view pinned);

}  // namespace minfer::cpu
