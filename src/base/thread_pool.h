#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace minfer {

/// What one thread of a team knows while a job runs.
struct Worker {
  int index;  ///< 0 .. count-1; 0 is the calling thread
  int count;
  class ThreadPool* pool;
  /// Waits until every worker of the job has arrived and the last of them has called `last`, which all see
  /// done. Spins, backs off to sleep when a partner is preempted.
  template <class Last>
  void barrier(Last&& last) const {
    if (!arrive()) return;
    last();
    let_pass();
  }
  void barrier() const {
    barrier([] {});
  }

 private:
  bool arrive() const;  ///< true at once for the last to arrive; false for the others, when they may pass
  void let_pass() const;
};

struct Range {
  int64_t begin, end;
};
/// The fixed share of worker `index` in [0, n), in whole multiples of `step` (the last share may be ragged).
Range share(int64_t n, int64_t step, const Worker& worker);

/// A fixed team for fork-join work of microseconds. Whoever waits spins for a short while, then sleeps; with
/// more threads than cores it sleeps at once. Results never depend on the number of
/// threads.
class ThreadPool {
 public:
  /// `threads` >= 1, the caller included. Throws Error{bad_request} for other counts.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int threads() const;
  /// Runs `job` on every worker and returns when all have ended. `job` must not throw. One caller at a time.
  void run(const std::function<void(const Worker&)>& job);

 private:
  friend struct Worker;
  struct State;
  std::unique_ptr<State> state_;
};

/// Cores this process may run on (its affinity mask), at least 1.
int usable_cores();

}  // namespace minfer
