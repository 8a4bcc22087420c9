#include "base/epoch.h"

namespace minfer {
namespace {

/// Tells the core that this is a wait loop: it saves power and lets a sibling thread run.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

constexpr int relaxes_a_look = 16;  // reading the clock costs as much as a few relaxes

}  // namespace

void Epoch::advance() {
  value_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex_);
  wake_.notify_all();
}

bool Epoch::spun_beyond(uint32_t seen, std::chrono::nanoseconds spin) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + spin;
  while (Clock::now() < end) {
    for (int i = 0; i < relaxes_a_look; ++i) {
      if (now() != seen) return true;
      relax();
    }
  }
  return now() != seen;
}

void Epoch::wait_beyond(uint32_t seen, std::chrono::nanoseconds spin) {
  if (now() != seen || spun_beyond(seen, spin)) return;
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (value_.load(std::memory_order_seq_cst) == seen) wake_.wait(lock);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace minfer
