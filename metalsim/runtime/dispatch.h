/// Running one dispatch: all threadgroups, over all cores.
#pragma once
#include "abi.h"
#include "metalsim/metalsim.h"

namespace metalsim {

/// Dispatches between two barriers of one encoder. A concurrent encoder passes the same region to consecutive
/// dispatches and calls `barrier` for memoryBarrier with buffer scope; a serial one calls `barrier` after
/// every dispatch.
struct BarrierRegion {
  uint32_t first = 0;  ///< number of its first dispatch; 0: none yet
  void barrier() { first = 0; }
};

/// Runs `dispatch` to its end. Dispatches of different queues take turns. Sets Dispatch::number and
/// region_first. Returns false if it made a new report; the result in memory is then whatever was written.
bool run_dispatch(Dispatch& dispatch, BarrierRegion& region);

/// Number of the newest dispatch; 0 before the first.
uint32_t newest_dispatch();

/// Inside of run_dispatch, for the checker: one pass over all threadgroups, as `options` order them.
void run_groups(Dispatch& dispatch, const Options& options, OperationCounts& counts);

/// Begins another pass over a dispatch under a number of its own, so that records of the two can be told
/// apart.
void renumber(Dispatch& dispatch);

}  // namespace metalsim
