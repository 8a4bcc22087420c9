#include "backends/cpu/program.h"

#include <algorithm>

namespace minfer::cpu {

bool overlap(const Access& a, const Access& b) {
  const auto* a0 = static_cast<const std::byte*>(a.begin);
  const auto* b0 = static_cast<const std::byte*>(b.begin);
  return std::less<>()(a0, b0 + b.bytes) && std::less<>()(b0, a0 + a.bytes);
}

namespace {

bool overlap(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Access& x) {
    return std::any_of(b.begin(), b.end(), [&](const Access& y) { return overlap(x, y); });
  });
}

bool must_follow(const Step& earlier, const Step& later) {
  if (earlier.solo && later.solo) return false;
  return overlap(earlier.writes, later.reads) || overlap(earlier.writes, later.writes) ||
         overlap(earlier.reads, later.writes);
}

/// The first step from `at` on that is a team's.
size_t skip_solo(const std::vector<Step>& steps, size_t at) {
  while (at < steps.size() && steps[at].solo) ++at;
  return at;
}

}  // namespace

void plan_barriers(std::vector<Step>& steps) {
  size_t open = 0;  // steps [open, i) run without a barrier between them
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto follows = [&](const Step& earlier) { return must_follow(earlier, steps[i]); };
    if (std::none_of(steps.begin() + open, steps.begin() + i, follows)) continue;
    steps[i].barrier_before = true;
    open = i;
    if (steps[i].solo) {
      open = skip_solo(steps, i);
      i = open - 1;
    }
  }
}

void CpuProgram::forget_taken(size_t workers) {
  if (taken_.size() != steps.size() * workers) taken_ = std::vector<Taken>(steps.size() * workers);
  for (Taken& count : taken_) count.pieces.store(0, std::memory_order_relaxed);
}

void CpuProgram::run(ThreadPool& pool, const std::atomic<bool>* cancel) {
  for (const auto& check : checks) check();
  for (const auto& prepare : prepares) prepare();
  forget_taken(size_t(pool.threads()));
  bool stopped = false;  // written by the last to arrive at a barrier alone: all leave at the same one
  pool.run([&](const Worker& worker) {
    std::byte* mine = scratch + size_t(worker.index) * scratch_bytes;
    const auto taken_of = [&](size_t i) { return taken_.data() + i * size_t(worker.count); };
    const auto run_solo = [&](size_t i) {
      const Worker sole{0, 1, worker.pool};
      steps[i].work({sole, mine, taken_of(i)});
    };
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].barrier_before) {
        const size_t team = skip_solo(steps, i);
        worker.barrier([&] {
          stopped = cancel != nullptr && cancel->load(std::memory_order_relaxed);
          for (size_t solo = i; solo < team && !stopped; ++solo) run_solo(solo);
        });
        if (stopped) return;
        if (steps[i].solo) {
          i = team - 1;
          continue;
        }
      }
      if (!steps[i].solo) steps[i].work({worker, mine, taken_of(i)});
      if (steps[i].solo && worker.index == 0) run_solo(i);
    }
  });
}

}  // namespace minfer::cpu
