#include "divergence.h"

#include "reports.h"
#include "worker.h"

namespace metalsim {

namespace {

std::string text_of(const SourceLocation& at) {
  if (!at.file) return "an unknown place";
  return std::string(at.file) + ":" + std::to_string(at.line);
}

std::string counted(uint32_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

ReportPlace place_of(const Threadgroup& group, const Thread& thread, const SourceLocation& at) {
  ReportPlace place;
  if (at.file) place.file = at.file;
  place.line = at.line;
  for (int i = 0; i < 3; ++i) place.group[i] = group.position[i];
  place.thread = thread.index;
  return place;
}

/// A thread that waits at the threadgroup barrier, or null.
const Thread* at_barrier(const Threadgroup& group) {
  for (uint32_t i = 0; i < group.count; ++i)
    if (group.simdgroups[i / simd_width].waits_group >> (i % simd_width) & 1) return &group.threads[i];
  return nullptr;
}

const Thread* at_simd(const Simdgroup& simdgroup, const Threadgroup& group) {
  if (!simdgroup.waits_simd) return nullptr;
  return &group.threads[simdgroup.first + uint32_t(__builtin_ctz(simdgroup.waits_simd))];
}

[[noreturn]] void abandon_with(ReportKind kind, const Threadgroup& group, const Thread& thread,
                               const Thread* other, std::string message, std::string hint) {
  Report report{};
  report.kind = kind;
  report.message = std::move(message);
  report.hint = std::move(hint);
  report.kernel = group.dispatch->kernel->name;
  report.place = place_of(group, thread, thread.at);
  if (other) report.other = place_of(group, *other, other->at);
  add_report(std::move(report));
  abandon_group();
}

const char* const barrier_hint =
    "every thread of a threadgroup must reach the same threadgroup_barrier the same number of times: move it "
    "out of "
    "the branch or loop, and let surplus threads pass it instead of returning";

}  // namespace

void report_deadlock(const Threadgroup& group, const Thread& thread) {
  uint32_t simd_waiters = 0;
  const Thread* simd_thread = nullptr;
  for (uint32_t s = 0; s * simd_width < group.count; ++s) {
    const Simdgroup& simdgroup = group.simdgroups[s];
    simd_waiters += uint32_t(__builtin_popcount(simdgroup.waits_simd));
    if (const Thread* t = at_simd(simdgroup, group); t && !simd_thread) simd_thread = t;
  }
  const Thread* barrier_thread = at_barrier(group);
  std::string message;
  if (simd_thread) {
    message =
        counted(simd_waiters, "thread") + " wait at the simdgroup operation of " + text_of(simd_thread->at);
    if (barrier_thread)
      message += " for lanes that are among " + counted(group.arrived, "thread") +
                 " at the threadgroup_barrier of " + text_of(barrier_thread->at);
    abandon_with(
        ReportKind::simd_divergence, group, *simd_thread, barrier_thread, message,
        "all live lanes of a simdgroup must reach the same simd, quad or matrix operation together: take it "
        "out of the branch, and give lanes with nothing to do a neutral value");
  }
  const Thread& at = barrier_thread ? *barrier_thread : thread;
  message = counted(group.arrived, "thread") + " wait at the threadgroup_barrier of " + text_of(at.at) +
            ", " + counted(group.count - group.live, "thread") + " of " + std::to_string(group.count) +
            " have returned";
  abandon_with(ReportKind::barrier_divergence, group, at, nullptr, message, barrier_hint);
}

void report_barrier_divergence(const Threadgroup& group, const Thread& thread) {
  abandon_with(ReportKind::barrier_divergence, group, thread, at_barrier(group),
               "a thread is at the threadgroup_barrier of " + text_of(thread.at) + " while " +
                   counted(group.arrived, "thread") + " wait at another, " + text_of(group.at),
               barrier_hint);
}

void report_missing_threads(const Threadgroup& group, const Thread& thread) {
  abandon_with(ReportKind::barrier_divergence, group, thread, nullptr,
               "threadgroup_barrier after " + counted(group.count - group.live, "thread") + " of " +
                   std::to_string(group.count) + " have returned",
               barrier_hint);
}

void report_return_before_barrier(const Threadgroup& group, const Thread& thread) {
  const Thread* waiting = at_barrier(group);
  abandon_with(ReportKind::barrier_divergence, group, waiting ? *waiting : thread, nullptr,
               "thread " + std::to_string(thread.index) + " returned while " +
                   counted(group.arrived, "thread") + " wait at the threadgroup_barrier",
               barrier_hint);
}

void report_simd_divergence(const Threadgroup& group, const Thread& thread) {
  const Thread* other = at_simd(*thread.simdgroup, group);
  abandon_with(
      ReportKind::simd_divergence, group, thread, other,
      "lane " + std::to_string(thread.lane) + " is at the simdgroup operation of " + text_of(thread.at) +
          " while other lanes of its simdgroup are at that of " + text_of(thread.simdgroup->at),
      "all live lanes of a simdgroup must reach the same operation together: take it out of the branch");
}

void report_missed_operation(const Threadgroup& group, const Thread& thread) {
  const Simdgroup& simdgroup = *thread.simdgroup;
  const PassedOperation& missed = simdgroup.passed_at[thread.passed % pass_window];
  const Thread* first = &group.threads[simdgroup.first];
  // The first that is ahead of it. Lanes that have not begun still hold an old count.
  while ((simdgroup.fresh >> first->lane & 1) || first->passed <= thread.passed) ++first;
  Thread ahead = *first, place = thread;
  ahead.at = missed.at;
  const bool returned = !(simdgroup.live_mask >> thread.lane & 1);
  if (returned) place.at = missed.at;
  abandon_with(ReportKind::simd_divergence, group, place, returned ? nullptr : &ahead,
               "lane " + std::to_string(thread.lane) +
                   (returned ? " has returned" : " is at " + text_of(thread.at)) + " while lane " +
                   std::to_string(ahead.lane) + " went through the simdgroup operation of " +
                   text_of(missed.at),
               "all live lanes of a simdgroup must reach the same operation together, and all 32 a matrix "
               "function: take it out of the branch, and let no lane return before the last of them");
}

void report_partial_matrix(const Threadgroup& group, const Thread& thread) {
  const uint32_t live = uint32_t(__builtin_popcount(thread.simdgroup->live_mask));
  abandon_with(
      ReportKind::simd_divergence, group, thread, nullptr,
      "a simdgroup matrix function in a simdgroup of " + std::to_string(live) + " live lanes",
      "matrix functions spread a matrix over 32 lanes: dispatch whole simdgroups, and let no lane return "
      "before the last of them");
}

void kernel_defect(const char* message, SourceLocation at) {
  current_thread->at = at;
  abandon_with(ReportKind::kernel_misuse, *current_group, *current_thread, nullptr, message,
               "see the Metal Shading Language specification for what the function allows");
}

}  // namespace metalsim
