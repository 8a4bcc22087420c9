#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>

#include "device_counters.h"
#include "kernel_counters.h"

namespace metalsim {

namespace {

constexpr size_t dispatches_kept = 65536;

struct Store {
  std::mutex mutex;
  std::deque<KernelCounters> dispatches;
  std::vector<KernelCounters> kernels;
  std::vector<EncoderCounters> encoders;
  uint64_t buffer_bytes = 0, peak_buffer_bytes = 0;
};
Store& store() {
  static Store& store = *new Store;
  return store;
}

/// Every number of KernelCounters but `seconds`, so that sums and tables name each once.
constexpr uint64_t KernelCounters::*numbers[] = {
    &KernelCounters::dispatches,
    &KernelCounters::threadgroups,
    &KernelCounters::threads,
    &KernelCounters::device_bytes_read,
    &KernelCounters::device_bytes_written,
    &KernelCounters::device_bytes_read_distinct,
    &KernelCounters::device_bytes_written_distinct,
    &KernelCounters::constant_bytes_read,
    &KernelCounters::threadgroup_bytes_read,
    &KernelCounters::threadgroup_bytes_written,
    &KernelCounters::threadgroup_barriers,
    &KernelCounters::simdgroup_barriers,
    &KernelCounters::simd_operations,
    &KernelCounters::matrix_multiplies,
    &KernelCounters::matrix_loads,
    &KernelCounters::matrix_stores,
    &KernelCounters::atomics,
    &KernelCounters::flops_f32,
    &KernelCounters::flops_f16,
    &KernelCounters::flops_bf16,
    &KernelCounters::bank_conflicts_estimate,
    &KernelCounters::uncoalesced_estimate,
};

void add(KernelCounters& to, const KernelCounters& from) {
  for (auto number : numbers) to.*number += from.*number;
  to.seconds += from.seconds;
}

/// Prints the table when the program ends, if METALSIM_STATS asked for it.
struct AtExit {
  ~AtExit() {
    if (!options().statistics) return;
    const Counters all = counters();
    if (!all.kernels.empty()) std::fprintf(stderr, "%s", counters_table(all).c_str());
  }
};

}  // namespace

void add_counts(OperationCounts& to, const OperationCounts& from) {
  to.threadgroup_barriers += from.threadgroup_barriers;
  to.simdgroup_barriers += from.simdgroup_barriers;
  to.simd_operations += from.simd_operations;
  to.matrix_multiplies += from.matrix_multiplies;
  to.matrix_loads += from.matrix_loads;
  to.matrix_stores += from.matrix_stores;
  to.atomics += from.atomics;
  to.flops_f32 += from.flops_f32;
  to.flops_f16 += from.flops_f16;
  to.flops_bf16 += from.flops_bf16;
}

void count_dispatch(const Dispatch& dispatch, const OperationCounts& counts, double seconds,
                    const KernelCounters& bytes) {
  static AtExit at_exit;
  KernelCounters counted = bytes;
  counted.kernel = dispatch.kernel->name;
  counted.dispatches = 1;
  counted.threadgroups = uint64_t(dispatch.groups[0]) * dispatch.groups[1] * dispatch.groups[2];
  counted.threads = 1;
  for (int i = 0; i < 3; ++i)
    counted.threads *=
        dispatch.threads[i] ? dispatch.threads[i] : dispatch.groups[i] * dispatch.threads_per_group[i];
  counted.threadgroup_barriers = counts.threadgroup_barriers;
  counted.simdgroup_barriers = counts.simdgroup_barriers;
  counted.simd_operations = counts.simd_operations;
  counted.matrix_multiplies = counts.matrix_multiplies;
  counted.matrix_loads = counts.matrix_loads;
  counted.matrix_stores = counts.matrix_stores;
  counted.atomics = counts.atomics;
  counted.flops_f32 = counts.flops_f32;
  counted.flops_f16 = counts.flops_f16;
  counted.flops_bf16 = counts.flops_bf16;
  counted.seconds = seconds;
  Store& s = store();
  std::lock_guard lock(s.mutex);
  if (s.dispatches.size() == dispatches_kept) s.dispatches.pop_front();
  s.dispatches.push_back(counted);
  auto kernel = std::find_if(s.kernels.begin(), s.kernels.end(),
                             [&](const KernelCounters& k) { return k.kernel == counted.kernel; });
  if (kernel == s.kernels.end())
    s.kernels.push_back(counted);
  else
    add(*kernel, counted);
}

void count_encoder(const EncoderCounters& encoder) {
  if (!options().statistics) return;
  std::lock_guard lock(store().mutex);
  store().encoders.push_back(encoder);
}

void count_buffer_allocated(size_t bytes) {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  s.buffer_bytes += bytes;
  s.peak_buffer_bytes = std::max(s.peak_buffer_bytes, s.buffer_bytes);
}

void count_buffer_released(size_t bytes) {
  std::lock_guard lock(store().mutex);
  store().buffer_bytes -= bytes;
}

Counters counters() {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  return {
      {s.dispatches.begin(), s.dispatches.end()}, s.kernels, s.encoders, s.buffer_bytes, s.peak_buffer_bytes};
}

void clear_counters() {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  s.dispatches.clear();
  s.kernels.clear();
  s.encoders.clear();
  s.peak_buffer_bytes = s.buffer_bytes;
}

}  // namespace metalsim
