#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace minfer {

/// How long a waiting thread burns its core, and then offers it to others, before it sleeps.
struct Patience {
  std::chrono::nanoseconds spin;
  std::chrono::nanoseconds yield;  ///< counted from the end of `spin`
};

/// A counter that threads wait on. A waiter spins, then yields, then sleeps; an advance that finds no sleeper
/// costs one atomic addition.
class Epoch {
 public:
  uint32_t now() const { return value_.load(std::memory_order_acquire); }

  /// Ends every wait for the present value. What this thread wrote before is visible to those that waited.
  void advance();

  /// Returns once the value differs from `seen`.
  void wait_beyond(uint32_t seen, const Patience& patience);

 private:
  bool spun_beyond(uint32_t seen, const Patience& patience) const;

  // The waiter announces itself in sleepers_ and then looks at value_; advance does it the other way round.
  // Both in one total order (seq_cst), so at least one of the two sees the other.
  alignas(64) std::atomic<uint32_t> value_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace minfer
