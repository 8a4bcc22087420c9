#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace minfer {

/// A counter that threads wait on. A waiter spins for a while, then sleeps; an advance that finds no sleeper
/// costs one atomic addition. Nobody yields in between: on a busy machine a yield gives a whole time slice
/// away (milliseconds), while a sleeper that is woken runs almost at once.
class Epoch {
 public:
  uint32_t now() const { return value_.load(std::memory_order_acquire); }

  /// Ends every wait for the present value. What this thread wrote before is visible to those that waited.
  void advance();

  /// Returns once the value differs from `seen`; burns its core for at most `spin` before it sleeps.
  void wait_beyond(uint32_t seen, std::chrono::nanoseconds spin);

 private:
  bool spun_beyond(uint32_t seen, std::chrono::nanoseconds spin) const;

  // The waiter announces itself in sleepers_ and then looks at value_; advance does it the other way round.
  // Both in one total order (seq_cst), so at least one of the two sees the other.
  alignas(64) std::atomic<uint32_t> value_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace minfer
