/// Reports of threads that cannot meet. None returns: the threadgroup is abandoned.
#pragma once
#include "abi_state.h"

namespace metalsim {

/// No thread of the group can run; `thread` is the last that could.
[[noreturn]] void report_deadlock(const Threadgroup& group, const Thread& thread);

/// `thread` is at a threadgroup barrier, others at another one.
[[noreturn]] void report_barrier_divergence(const Threadgroup& group, const Thread& thread);

/// `thread` is at a threadgroup barrier that threads which have returned will never reach.
[[noreturn]] void report_missing_threads(const Threadgroup& group, const Thread& thread);

/// `thread` returned although others wait at a threadgroup barrier.
[[noreturn]] void report_return_before_barrier(const Threadgroup& group, const Thread& thread);

/// `thread` is at a simd operation, other lanes of its simdgroup at another one.
[[noreturn]] void report_simd_divergence(const Threadgroup& group, const Thread& thread);

/// `thread` is elsewhere, or has returned, while other lanes of its simdgroup went through an operation that
/// comes next for it.
[[noreturn]] void report_missed_operation(const Threadgroup& group, const Thread& thread);

/// `thread` is at a simdgroup matrix function, and its simdgroup has fewer than 32 live lanes.
[[noreturn]] void report_partial_matrix(const Threadgroup& group, const Thread& thread);

}  // namespace metalsim
