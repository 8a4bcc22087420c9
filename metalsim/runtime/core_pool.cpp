#include "core_pool.h"

#include <chrono>

namespace metalsim {
namespace {

/// How long a thread looks for what it waits for before it sleeps: dispatches follow one another faster than a sleeping
/// thread wakes.
constexpr std::chrono::microseconds patience{50};

/// Whether `done` came true in that time.
template <class Done>
bool spin_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    for (int i = 0; i < 256; ++i) {
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

CorePool::~CorePool() { resize(0); }

void CorePool::resize(uint32_t helpers) {
  if (helpers == helpers_.size()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
  helpers_.clear();
  stop_ = false;
  const uint64_t round = round_;
  for (uint32_t i = 0; i < helpers; ++i) helpers_.emplace_back([this, round] { serve(round); });
}

void CorePool::run(uint32_t cores, const std::function<void()>& job) {
  if (cores <= 1) return job();
  resize(cores - 1);
  job_ = &job;
  busy_ = helpers_.size();
  {
    std::lock_guard lock(mutex_);  // so that no helper falls asleep between its last look and this
    ++round_;
  }
  begin_.notify_all();
  job();
  if (spin_until([this] { return busy_ == 0; })) return;
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return busy_ == 0; });
}

void CorePool::serve(uint64_t seen) {
  const auto called = [&] { return stop_ || round_ != seen; };
  for (;;) {
    if (!spin_until(called)) {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, called);
    }
    if (stop_) return;
    seen = round_;
    (*job_)();
    if (--busy_ > 0) continue;
    std::lock_guard lock(mutex_);
    end_.notify_one();
  }
}

}  // namespace metalsim
