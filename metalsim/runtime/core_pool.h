/// The cores on which threadgroups run.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace metalsim {

/// Threads that all run one job. The caller is one of them, so a pool of one core has no thread of its own. Between jobs
/// a thread looks for the next one for a while before it sleeps.
class CorePool {
 public:
  ~CorePool();

  /// Runs `job` on `cores` cores at once and returns when all have returned. From one thread at a time.
  void run(uint32_t cores, const std::function<void()>& job);

 private:
  void resize(uint32_t helpers);
  void serve(uint64_t seen);

  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void()>* job_ = nullptr;
  std::atomic<uint64_t> round_ = 0;  ///< jobs so far
  std::atomic<size_t> busy_ = 0;     ///< helpers that have not returned from the job
  std::atomic<bool> stop_ = false;
};

}  // namespace metalsim
