#include "base/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/epoch.h"
#include "base/error.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace minfer {
namespace {

using namespace std::chrono_literals;

constexpr int most_threads = 1024;

// A barrier's partners are microseconds away unless one was preempted: then the core is worth more to it. An
// idle worker's next job comes within tens of microseconds while a model runs, or not for long.
constexpr auto barrier_spin = 50us;
constexpr auto idle_spin = 50us;

}  // namespace

struct ThreadPool::State {
  const int threads;
  const std::chrono::nanoseconds at_barrier, when_idle;
  std::vector<std::thread> workers;

  // One job: written before `started` advances, read after.
  const std::function<void(const Worker&)>* job = nullptr;
  bool stopping = false;
  std::atomic<bool> busy{false};
  Epoch started, ended;
  alignas(64) std::atomic<int> working{0};  ///< workers other than 0 that have not ended the job

  alignas(64) std::atomic<int> arrived{0};
  Epoch passed;

  explicit State(int n)
      : threads(n),
        // With more threads than cores, whoever spins keeps a partner from running.
        at_barrier(n > usable_cores() ? 0ns : barrier_spin),
        when_idle(n > usable_cores() ? 0ns : idle_spin) {}

  void serve(Worker worker) {
    for (uint32_t seen = 0;; ++seen) {
      started.wait_beyond(seen, when_idle);
      if (stopping) return;
      (*job)(worker);
      if (working.fetch_sub(1, std::memory_order_acq_rel) == 1) ended.advance();
    }
  }

  void stop() {
    stopping = true;
    started.advance();
    for (std::thread& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads) {
  if (threads < 1 || threads > most_threads) {
    throw Error(ErrorCode::bad_request, "starting the thread team: " + std::to_string(threads) +
                                            " threads asked for, expected 1 to " +
                                            std::to_string(most_threads));
  }
  state_ = std::make_unique<State>(threads);
  try {
    for (int i = 1; i < threads; ++i) {
      state_->workers.emplace_back(
          [state = state_.get(), worker = Worker{i, threads, this}] { state->serve(worker); });
    }
  } catch (const std::system_error& e) {
    const size_t running = state_->workers.size() + 1;
    state_->stop();
    throw Error(ErrorCode::out_of_memory,
                "starting the thread team: the system refused thread " + std::to_string(running + 1) +
                    " of " + std::to_string(threads) + ": " + e.what(),
                "ask for fewer threads");
  }
}

ThreadPool::~ThreadPool() { state_->stop(); }

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::run(const std::function<void(const Worker&)>& job) {
  State& s = *state_;
  MINFER_CHECK(!s.busy.exchange(true, std::memory_order_acquire), "a thread pool runs one job at a time");
  const Worker caller{0, s.threads, this};
  if (s.threads == 1) {
    job(caller);
  } else {
    const uint32_t seen = s.ended.now();
    s.job = &job;
    s.working.store(s.threads - 1, std::memory_order_relaxed);
    s.started.advance();
    job(caller);
    s.ended.wait_beyond(seen, s.at_barrier);
  }
  s.busy.store(false, std::memory_order_release);
}

bool Worker::arrive() const {
  if (count == 1) return true;
  ThreadPool::State& s = *pool->state_;
  const uint32_t seen = s.passed.now();
  if (s.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count) return true;
  s.passed.wait_beyond(seen, s.at_barrier);
  return false;
}

void Worker::let_pass() const {
  if (count == 1) return;
  ThreadPool::State& s = *pool->state_;
  s.arrived.store(0, std::memory_order_relaxed);
  s.passed.advance();
}

Range share(int64_t n, int64_t step, const Worker& worker) {
  const int64_t pieces = (n + step - 1) / step;
  const int64_t each = pieces / worker.count, longer = pieces % worker.count;
  const auto begin = [&](int64_t index) {
    return std::min(n, (each * index + std::min(index, longer)) * step);
  };
  return {begin(worker.index), begin(worker.index + 1)};
}

int usable_cores() {
#ifdef __linux__
  // A mask of 1024 cores is not enough for every machine: grow it until the kernel's fits.
  for (int cores = CPU_SETSIZE; cores <= 1 << 16; cores *= 2) {
    cpu_set_t* mask = CPU_ALLOC(size_t(cores));
    if (mask == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(size_t(cores));
    const int allowed = sched_getaffinity(0, bytes, mask) == 0 ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (allowed > 0) return allowed;
  }
#endif
  return std::max(1, int(std::thread::hardware_concurrency()));
}

}  // namespace minfer
