#include "backends/metal/program.h"

/// Barriers are derived from the bytes that dispatches touch; nothing else orders them in a concurrent
/// encoder.
namespace minfer::metal {
namespace {

bool overlap(const Span& a, const Span& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// Whether `next` must not start before `earlier` is done.
bool depends(const Dispatch& next, const Dispatch& earlier) {
  for (const Argument& mine : next.arguments) {
    for (const Argument& theirs : earlier.arguments) {
      if ((mine.written || theirs.written) && overlap(mine.span, theirs.span)) return true;
    }
  }
  return false;
}

}  // namespace

void plan_barriers(std::deque<Dispatch>& dispatches, BarrierMode mode) {
  size_t since = 0;  // the first dispatch after the last barrier
  for (size_t i = 0; i < dispatches.size(); ++i) {
    bool needed = mode == BarrierMode::all && i > 0;
    for (size_t j = since; j < i && !needed; ++j) needed = depends(dispatches[i], dispatches[j]);
    dispatches[i].barrier_before = needed;
    if (needed) since = i;
  }
}

}  // namespace minfer::metal
