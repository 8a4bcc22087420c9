/// What the runtime tells the checker about the progress of a dispatch. Only for checked kernels.
#pragma once
#include "../runtime/abi.h"
#include "metalsim/metalsim.h"

namespace metalsim {

/// Bytes left unused after each threadgroup argument and array of a checked kernel, so that an overrun hits
/// none.
inline constexpr uint32_t checked_array_gap = 256;

void checker_begin_dispatch(Dispatch& dispatch, const Options& options);

/// Fills in the byte counters.
void checker_end_dispatch(Dispatch& dispatch, const Options& options, KernelCounters& counters);

/// On each core, before its first threadgroup and after its last. `shared`: other cores run at the same time.
void checker_begin_core(Dispatch& dispatch, bool shared);
void checker_end_core();

void checker_begin_group(Threadgroup& group);

/// A threadgroup array of the kernel's body came into being.
void checker_add_array(Threadgroup& group, uint32_t id, uint32_t offset, uint32_t bytes);

/// The dispatch begins again under a new number; the passes from `first_pass` on did not happen, as far as
/// order goes.
void checker_begin_pass(Dispatch& dispatch, uint32_t first_pass);

/// Runs the dispatch in ascending, descending and random order from the same memory, reports differences, and
/// leaves the result of the ascending run.
void run_in_all_orders(Dispatch& dispatch, const Options& options, OperationCounts& counts);

}  // namespace metalsim
