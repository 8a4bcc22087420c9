#include "backends/cpu/program.h"

#include <algorithm>

namespace minfer::cpu {
namespace {

bool overlap(const Access& a, const Access& b) {
  const auto* a0 = static_cast<const std::byte*>(a.begin);
  const auto* b0 = static_cast<const std::byte*>(b.begin);
  return std::less<>()(a0, b0 + b.bytes) && std::less<>()(b0, a0 + a.bytes);
}

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

}  // namespace

void plan_barriers(std::vector<Step>& steps) {
  size_t open = 0;  // steps [open, i) run without a barrier between them
  for (size_t i = 0; i < steps.size(); ++i) {
    for (size_t j = open; j < i; ++j) {
      if (!must_follow(steps[j], steps[i])) continue;
      steps[i].barrier_before = true;
      open = i;
      break;
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
  // All workers must leave at the same barrier, whenever the flag changes: worker 0 alone looks at it, before
  // the barrier, and names the first step not to do. After it, all know a name that is not later; one written
  // for a later barrier tells nobody to leave now.
  std::atomic<size_t> end = steps.size();
  pool.run([&](const Worker& worker) {
    const Worker sole{0, 1, worker.pool};
    std::byte* mine = scratch.data() + size_t(worker.index) * scratch_bytes;
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      Taken* const taken_here = taken_.data() + i * size_t(worker.count);
      if (step.barrier_before) {
        if (cancel && worker.index == 0 && cancel->load(std::memory_order_relaxed) && i < end) end = i;
        worker.barrier();
        if (i >= end) return;
      }
      if (!step.solo) step.work({worker, mine, taken_here});
      if (step.solo && worker.index == 0) step.work({sole, mine, taken_here});
    }
  });
}

}  // namespace minfer::cpu
