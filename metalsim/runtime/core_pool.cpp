#include "core_pool.h"

namespace metalsim {

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
  {
    std::lock_guard lock(mutex_);
    job_ = &job;
    busy_ = helpers_.size();
    ++round_;
  }
  begin_.notify_all();
  job();
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return busy_ == 0; });
}

void CorePool::serve(uint64_t seen) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    const std::function<void()>& job = *job_;
    lock.unlock();
    job();
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

}  // namespace metalsim
