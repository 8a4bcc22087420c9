/// What the runtime tells the counters when a dispatch has run.
#pragma once
#include "../runtime/abi.h"
#include "metalsim/metalsim.h"

namespace metalsim {

void add_counts(OperationCounts& to, const OperationCounts& from);

/// `bytes` carries the byte counters, zero for fast kernels.
void count_dispatch(const Dispatch& dispatch, const OperationCounts& counts, double seconds,
                    const KernelCounters& bytes);

}  // namespace metalsim
