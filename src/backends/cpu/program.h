#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/memory.h"
#include "base/thread_pool.h"

namespace minfer::cpu {

/// Bytes that a step reads or writes: what barriers are derived from.
struct Access {
  const void* begin;
  size_t bytes;
};

/// One worker inside a step, with scratch memory of its own.
struct Lane {
  const Worker& worker;
  std::byte* scratch;
};

/// One resolved call. Every worker enters it and does its fixed share.
struct Step {
  std::string_view name;
  std::function<void(const Lane&)> work;
  std::vector<Access> reads, writes;
  bool solo = false;            ///< so little work that worker 0 does it as a team of one
  bool barrier_before = false;  ///< set by plan_barriers
};

/// A step that solo workers do faster than a team can share: below this many elements a barrier costs more.
inline constexpr int64_t solo_elements = 4096;

/// Puts a barrier before each step that touches what a step since the last barrier wrote, or writes what one
/// read. Two solo steps need none between them: one worker runs both, in order.
void plan_barriers(std::vector<Step>& steps);

/// The token rows of one source quantised to Q8: one store a program, refilled whenever the source changes.
struct Q8Store {
  size_t bytes = 0;
  AlignedMemory memory;
};

/// A split as the CPU replays it: checks of the data, then preparations, then the steps on all workers.
class CpuProgram final : public Program {
 public:
  std::vector<std::function<void()>> checks;    ///< throw Error{bad_request}; change nothing
  std::vector<std::function<void()>> prepares;  ///< derive what depends on data alone, once a run
  std::vector<Step> steps;
  std::vector<AlignedMemory> owned;               ///< tables and states that steps point into
  std::vector<std::shared_ptr<void>> structures;  ///< plans that steps and preparations share
  Q8Store q8;
  size_t scratch_bytes = 0;  ///< of one worker
  AlignedMemory scratch;

  /// Ends at a barrier once `*cancel` is true, with some steps not done. Null: never.
  void run(ThreadPool& pool, const std::atomic<bool>* cancel);
};

}  // namespace minfer::cpu
