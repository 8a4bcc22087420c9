#include "dispatch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "../checker/checker.h"
#include "../counters/kernel_counters.h"
#include "core_pool.h"
#include "reports.h"
#include "worker.h"

namespace metalsim {

namespace {

std::mutex device_mutex;  // the device runs one dispatch at a time
std::atomic<uint32_t> dispatches{0};

CorePool& pool() {
  static CorePool pool;
  return pool;
}

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) std::swap(a %= b, b);
  return a;
}

/// The order of threadgroups: the n-th to begin.
class GroupOrder {
 public:
  GroupOrder(uint64_t total, Order order, uint64_t seed) : total_(total) {
    if (order == Order::descending) {
      step_ = total - 1;
      first_ = total - 1;
    } else if (order == Order::random) {
      step_ = (seed * 0x9e3779b97f4a7c15u) % total | 1;
      while (greatest_common_divisor(step_, total) != 1) ++step_;
      first_ = seed % total;
    }
  }
  uint32_t at(uint64_t n) const { return uint32_t((first_ + n % total_ * (step_ % total_)) % total_); }

 private:
  uint64_t total_, step_ = 1, first_ = 0;
};

/// Threadgroups are handed out in runs, so that small ones cost less than the handing out.
uint64_t run_length(uint64_t total, uint32_t cores) {
  return std::clamp<uint64_t>(total / (cores * 16), 1, 32);
}

}  // namespace

uint32_t newest_dispatch() { return dispatches; }

void renumber(Dispatch& dispatch) { dispatch.number = ++dispatches; }

uint32_t cores_to_use(const Options& set) {
  static const uint32_t machine = std::max(1u, std::thread::hardware_concurrency());
  return set.cores ? set.cores : machine;
}

void run_groups(Dispatch& dispatch, const Options& set, OperationCounts& counts) {
  const uint64_t total = uint64_t(dispatch.groups[0]) * dispatch.groups[1] * dispatch.groups[2];
  if (total == 0) return;
  const uint32_t cores = uint32_t(std::min<uint64_t>(cores_to_use(set), total));
  const uint64_t run = run_length(total, cores);
  const GroupOrder order(total, set.order, set.seed);
  std::atomic<uint64_t> next{0};
  std::mutex counts_mutex;
  pool().run(cores, [&] {
    Worker& worker = this_worker();
    prepare_worker(worker, dispatch, set);
    if (worker.group.checked) checker_begin_core(dispatch, cores > 1);
    for (;;) {
      const uint64_t begin = next.fetch_add(run), end = std::min(begin + run, total);
      if (begin >= total) break;
      for (uint64_t i = begin; i < end; ++i) run_group(worker, dispatch, order.at(i));
    }
    if (worker.group.checked) checker_end_core();
    std::lock_guard lock(counts_mutex);
    add_counts_of_core(counts, worker);
  });
}

bool run_dispatch(Dispatch& dispatch, BarrierRegion& region) {
  std::lock_guard lock(device_mutex);
  const Options set = options();
  const uint64_t events_before = report_events();
  dispatch.number = ++dispatches;
  if (region.first == 0) region.first = dispatch.number;
  dispatch.region_first = region.first;
  const bool checked = dispatch.kernel->unit->checked;
  if (checked) checker_begin_dispatch(dispatch, set);
  const auto begin = std::chrono::steady_clock::now();
  OperationCounts counts;
  if (checked && set.compare_orders) {
    run_in_all_orders(dispatch, set, counts);
  } else {
    run_groups(dispatch, set, counts);
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  KernelCounters counted;
  if (checked) checker_end_dispatch(dispatch, set, counted);
  if (set.statistics) count_dispatch(dispatch, counts, time.count(), counted);
  return report_events() == events_before;
}

}  // namespace metalsim
