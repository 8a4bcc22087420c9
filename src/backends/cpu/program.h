#pragma once
#include <algorithm>
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

bool overlap(const Access& a, const Access& b);

/// What of a step's work has been taken, a counter a worker on a cache line of its own.
struct alignas(64) Taken {
  std::atomic<int64_t> pieces{0};
};

/// One worker inside a step, with scratch memory of its own.
struct Lane {
  const Worker& worker;
  std::byte* scratch;
  Taken* taken;  ///< one a worker

  /// Calls work(range) on pieces of [0, n), whole multiples of `step` but for the last: the worker's own
  /// share first, then what others have not come to. Cores are not alike: they differ in kind, and in what
  /// else the machine runs on them.
  template <class Work>
  void share_out(int64_t n, int64_t step, Work&& work) const;
};

/// A step's work token by token: what it writes for a token depends on what it reads for that token alone,
/// and in every access made of rows token t has row t.
struct RowWork {
  int64_t rows = 0;  ///< tokens; 0 if the step is no such work
  std::function<void(Range rows, std::byte* scratch)> work;
  bool closes = false;  ///< it writes no rows of floats: no other step may follow in its run
};

/// One resolved call. Every worker enters it and does its share.
struct Step {
  std::string_view name;
  std::function<void(const Lane&)> work;
  std::vector<Access> reads, writes;
  RowWork by_rows = {};
  bool solo = false;            ///< so little work that one worker does it as a team of one
  bool barrier_before = false;  ///< set by plan_barriers; a solo step is done inside of it
};

/// A step that solo workers do faster than a team can share: below this many elements a barrier costs more.
inline constexpr int64_t solo_elements = 8192;

template <class Work>
void Lane::share_out(int64_t n, int64_t step, Work&& work) const {
  for (int i = 0; i < worker.count; ++i) {
    const int owner = (worker.index + i) % worker.count;
    const Range all = share(n, step, {owner, worker.count, worker.pool});
    for (;;) {
      const int64_t begin = all.begin + step * taken[owner].pieces.fetch_add(1, std::memory_order_relaxed);
      if (begin >= all.end) break;
      work(Range{begin, std::min(begin + step, all.end)});
    }
  }
}

/// Makes one step of steps that follow each other and work token by token: a residual, its norm and the
/// quantised tokens of that are done for a tile of tokens while these are in the cache, not for all tokens
/// one after the other. The same bits. Steps of so few tokens that not each worker has a tile stay apart.
void join_rows(std::vector<Step>& steps, int workers);

/// Puts a barrier before each step that touches what a step since the last barrier wrote, or writes what one
/// read. If that is a solo step, the last worker to arrive does it, and the solo steps right after it, before
/// anyone passes: what follows them needs no barrier of its own.
void plan_barriers(std::vector<Step>& steps);

/// One source's quantised tokens (isa/quant_tokens.h): one store a program, refilled whenever the source
/// changes.
struct Q8Store {
  size_t bytes = 0;
  std::byte* data = nullptr;  ///< while the program runs
};

/// Memory that programs need while they run: all of a backend share it, since one runs at a time.
class Workspace {
 public:
  /// At least so much for the store, and for all workers' scratch. Throws Error{out_of_memory}.
  void hold(size_t q8_bytes, size_t scratch_bytes) {
    hold(q8_, q8_bytes_, q8_bytes);
    hold(scratch_, scratch_bytes_, scratch_bytes);
  }
  std::byte* q8() const { return q8_.data(); }
  std::byte* scratch() const { return scratch_.data(); }

 private:
  static void hold(AlignedMemory& memory, size_t& held, size_t wanted) {
    if (wanted <= held) return;
    memory = AlignedMemory(wanted);
    held = wanted;
  }
  AlignedMemory q8_, scratch_;
  size_t q8_bytes_ = 0, scratch_bytes_ = 0;
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
  size_t scratch_bytes = 0;      ///< of one worker
  std::byte* scratch = nullptr;  ///< of all, while the program runs

  /// Ends at a barrier once `*cancel` is true, with some steps not done. Null: never.
  void run(ThreadPool& pool, const std::atomic<bool>* cancel);

 private:
  void forget_taken(size_t workers);
  std::vector<Taken> taken_;  ///< of each step, one a worker
};

}  // namespace minfer::cpu
