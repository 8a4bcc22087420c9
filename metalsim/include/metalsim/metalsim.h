/// What a host program may ask of the software Metal device besides Metal's own API: reports, options, debug
/// hooks and counters. Nothing here exists on a Mac; guard its use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace metalsim {

// --- Reports
// ---------------------------------------------------------------------------------------------------------

enum class ReportKind {
  device_out_of_bounds,       ///< outside every bound range
  threadgroup_out_of_bounds,  ///< outside every threadgroup argument or array
  read_only_write,            ///< to setBytes data, or through a parameter declared const or constant
  threadgroup_race,           ///< threadgroup memory, threads of one threadgroup, no barrier between
  device_race,                ///< device memory, threads of one threadgroup, no barrier between
  cross_group_race,           ///< device memory, different threadgroups of one dispatch
  missing_barrier,     ///< device memory, two dispatches of a concurrent encoder, no memoryBarrier between
  barrier_divergence,  ///< threads of a threadgroup at different barriers, or not all at one
  simd_divergence,     ///< lanes of a simdgroup at different simd operations
  uninitialised_threadgroup,  ///< threadgroup memory read before this threadgroup wrote it
  uninitialised_device,       ///< device memory read that neither host nor kernel has written
  misaligned,
  arithmetic_overflow,  ///< signed overflow, index narrowing, shift out of range
  array_bounds,         ///< index outside a thread's own array
  order_dependence,     ///< the result depends on the order of lanes or threadgroups
  not_finite,           ///< a NaN or infinity was written (Options::check_finite)
  kernel_misuse,        ///< a library function called with what it forbids
  host_misuse,          ///< a mistake of the host program
};

/// The name of a kind as it stands at the head of a report, such as "threadgroup race".
const char* name_of(ReportKind kind);

/// Where in the kernels' source, and who. `line` 0: unknown.
struct ReportPlace {
  std::string file;
  uint32_t line = 0;
  uint32_t group[3] = {0, 0, 0};
  uint32_t thread = 0;  ///< thread_index_in_threadgroup
};

struct Report {
  ReportKind kind;
  std::string message;  ///< what happened, a sentence
  std::string hint;     ///< what to do about it
  std::string kernel;   ///< host name of the kernel; empty for host mistakes
  std::string label;    ///< of the buffer; empty if none is concerned
  int64_t offset = 0;   ///< bytes from the buffer's or array's begin
  ReportPlace place;    ///< the access or call that was noticed
  ReportPlace other;    ///< the earlier one it conflicts with; `line` 0 if there is none
  uint64_t times = 1;   ///< how often: equal kind and lines are one report

  /// The whole report, several lines, ending without a newline.
  std::string text() const;
};

/// All reports so far, at most Options::max_reports, in the order found.
std::vector<Report> reports();
void clear_reports();

/// Number of reports ever made, repeated ones not counted again.
uint64_t report_count();

// --- Options
// ---------------------------------------------------------------------------------------------------------

/// Order in which lanes, and threadgroups, take turns. All are legal on a GPU.
enum class Order { ascending, descending, random };

/// First set from the environment, then by the program. Takes effect with the next dispatch.
struct Options {
  uint32_t cores = 0;              ///< METALSIM_THREADS; 0: all of the machine
  Order order = Order::ascending;  ///< METALSIM_ORDER=ascending|descending|random
  uint64_t seed = 1;               ///< METALSIM_SEED, of the random order
  bool compare_orders =
      false;  ///< METALSIM_COMPARE_ORDERS=1: run each dispatch in three orders and compare results
  bool check_finite =
      false;  ///< METALSIM_CHECK_FINITE=1: report NaN and infinity written to float, half, bfloat buffers
  bool unsigned_overflow =
      false;                ///< METALSIM_UNSIGNED_OVERFLOW=1: report unsigned arithmetic that wraps as well
  bool statistics = false;  ///< METALSIM_STATS=1: count, and print a table when the program ends
  uint32_t max_reports = 100;  ///< METALSIM_MAX_REPORTS
  bool print_reports = true;   ///< METALSIM_QUIET=1 clears it: reports go to standard error as they are found
};
Options options();
void set_options(const Options& options);

// --- Counters
// --------------------------------------------------------------------------------------------------------

/// Costs of one kernel: one dispatch, or the sum over its dispatches. Exact but for the estimates. Bytes and
/// flops are known for checked kernels only; the rest for both.
struct KernelCounters {
  std::string kernel;
  uint64_t dispatches = 0, threadgroups = 0, threads = 0;
  uint64_t device_bytes_read = 0, device_bytes_written = 0;
  uint64_t device_bytes_read_distinct = 0, device_bytes_written_distinct = 0;  ///< each byte once a dispatch
  uint64_t constant_bytes_read = 0;                                            ///< from setBytes data
  uint64_t threadgroup_bytes_read = 0, threadgroup_bytes_written = 0;
  uint64_t threadgroup_barriers = 0, simdgroup_barriers = 0, simd_operations = 0;
  uint64_t matrix_multiplies = 0, matrix_loads = 0, matrix_stores = 0, atomics = 0;
  uint64_t flops_f32 = 0, flops_f16 = 0, flops_bf16 = 0;  ///< of scalar code; a matrix multiply has 1024 more
  uint64_t bank_conflicts_estimate = 0;                   ///< extra turns of 32 lanes on 32 banks of 4 bytes
  uint64_t uncoalesced_estimate = 0;  ///< extra 128-byte lines that 32 lanes touched at one place of the code
  double seconds = 0;                 ///< host time
};

struct EncoderCounters {
  std::string label;
  uint64_t dispatches = 0, barriers = 0, bytes_copied = 0, bytes_filled = 0;
};

struct Counters {
  std::vector<KernelCounters> dispatches;  ///< in order, the newest 65,536
  std::vector<KernelCounters> kernels;     ///< sums, by first use
  std::vector<EncoderCounters> encoders;
  uint64_t buffer_bytes = 0, peak_buffer_bytes = 0;
};

/// What was counted since the last clear_counters. Counting is off unless Options::statistics is set.
Counters counters();
void clear_counters();

/// The same as a table, as METALSIM_STATS=1 prints it.
std::string counters_table(const Counters& counters);

// --- Debug hooks
// -----------------------------------------------------------------------------------------------------

/// From now on a binding of `buffer` (an MTL::Buffer) at `offset`, or at a place inside the range, ends at
/// offset + bytes, so that an overrun inside one large buffer is seen. `label` stands in reports. A later
/// call for the same offset replaces the range; bytes 0 removes it.
void narrow(const void* buffer, size_t offset, size_t bytes, const char* label);

/// Declares bytes of a buffer not written yet (bytes SIZE_MAX: to the end), as if it were new and never
/// mapped.
void mark_unwritten(const void* buffer, size_t offset, size_t bytes);

/// Declares bytes written, for memory that something other than the host or a kernel fills.
void mark_written(const void* buffer, size_t offset, size_t bytes);

}  // namespace metalsim
