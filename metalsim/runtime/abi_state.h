/// The state of running threads, simdgroups and threadgroups, and the rendezvous that kernels call.
///
/// Each GPU thread is a fiber on the stack of a worker (a CPU core). A worker runs one threadgroup at a time,
/// so nothing in Threadgroup, Simdgroup or Thread is shared between cores. Fibers change hands only inside
/// the functions below.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Functions of the library itself: the checked build must not see their loads and stores as the kernel's.
#if defined(__clang__)
#define METALSIM_UNCHECKED \
  __attribute__((no_sanitize("thread", "alignment", "undefined", "integer", "implicit-conversion")))
#else
#define METALSIM_UNCHECKED
#endif

namespace metalsim {

inline constexpr uint32_t simd_width = 32;
inline constexpr uint32_t max_threads_per_threadgroup = 1024;
inline constexpr uint32_t max_buffers = 31;
inline constexpr uint32_t max_threadgroup_arguments = 31;
inline constexpr uint32_t max_static_arrays = 64;  ///< threadgroup arrays declared in the body of one kernel
inline constexpr uint32_t exchange_bytes = 16;     ///< the largest value that a lane can give to another

/// A place in a .metal file. As a defaulted last parameter of a library function it is the place of the
/// kernel's call:
///   inline void threadgroup_barrier(mem_flags flags, metalsim::SourceLocation at =
///   metalsim::SourceLocation::here());
struct SourceLocation {
  const char* file;
  uint32_t line;
  uint32_t column;
  static constexpr SourceLocation here(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(),
#if defined(__clang__)
                                       uint32_t column = __builtin_COLUMN()
#else
                                       uint32_t column = 0
#endif
  ) {
    return {file, line, column};
  }
};

/// Memory that a barrier orders; the values of MSL's mem_flags.
enum FenceFlags : uint32_t { fence_none = 0, fence_device = 1, fence_threadgroup = 2, fence_texture = 4 };

/// Counts the fences that a simdgroup or threadgroup has passed, by kind of memory. Two accesses of different
/// threads are ordered only if a fence of their memory, common to both threads, lies between them.
struct FenceCounts {
  uint32_t device = 0;
  uint32_t threadgroup = 0;
};

/// What a simd rendezvous is for; decides what is counted and how strict the check is.
enum class SimdUse : uint32_t {
  operation,  ///< reduction, shuffle, vote: acts on the live lanes
  matrix,     ///< simdgroup matrix function: needs every lane of a whole simdgroup
  barrier,
};

/// What lanes pass without waiting; see simd_pass.
struct PassedOperation {
  SourceLocation at;
  SimdUse use;
};
inline constexpr uint32_t pass_window = 32;  ///< operations after which lanes meet after all

/// What lanes of one simdgroup share, and where they stand (bit l: lane l). Lanes write `slot[parity][lane]`,
/// meet, and read; the parity changes with every operation, so a lane that is early for the next one cannot
/// overwrite what a late one still reads.
struct alignas(64) Simdgroup {
  uint32_t live_mask = 0;    ///< lanes that exist and have not returned; simd operations act on these
  uint32_t runnable = 0;     ///< of those, not waiting
  uint32_t fresh = 0;        ///< of the runnable ones, not begun: they have no stack contents yet
  uint32_t waits_simd = 0;   ///< at the rendezvous `at`
  uint32_t waits_group = 0;  ///< at the threadgroup barrier
  uint32_t first = 0;        ///< index in the threadgroup of lane 0
  uint32_t lanes = 0;  ///< lanes that exist: 32, fewer in the last simdgroup of an odd-sized threadgroup
  /// The lane (as a bit) that completes a rendezvous whose last missing lane has returned from the kernel; 0:
  /// none.
  uint32_t leader_after_return = 0;
  SourceLocation at{};
  FenceCounts fences;                      ///< fences common to its lanes: its own and the threadgroup's
  uint32_t passed = 0;                     ///< operations that its foremost lane has passed
  uint32_t met = 0;                        ///< of those, before the lanes met last
  PassedOperation passed_at[pass_window];  ///< operation n at n % pass_window
  alignas(16) unsigned char slot[2][simd_width][exchange_bytes];
  alignas(16) unsigned char result[2][exchange_bytes];  ///< of an operation that one lane computes for all
};

struct Thread {
  void* stack_pointer = nullptr;
  Simdgroup* simdgroup = nullptr;
  uint16_t index = 0;  ///< thread_index_in_threadgroup
  uint8_t lane = 0;
  /// It holds a pointer to its elements of a matrix in lane 0, so its matrix operations must meet. A flag of
  /// each lane, because lanes reach thread_elements() one after another and must agree on which operations
  /// meet.
  bool elements_shared = false;
  uint32_t parity = 0;  ///< of the next exchange; use `parity++ & 1`
  uint32_t passed = 0;  ///< operations passed without waiting, see simd_pass
  unsigned char* stack = nullptr;
  SourceLocation at{};  ///< where it waits
  uint32_t position[3] = {0, 0, 0};
};

/// A buffer as one dispatch sees it.
struct Binding {
  unsigned char* data = nullptr;
  size_t bytes = 0;             ///< from `data` to the end of the buffer, or of the range it was narrowed to
  bool constant_bytes = false;  ///< setBytes: no kernel may write it
  void* memory = nullptr;       ///< the checker's record of the whole buffer; see checker/memory.h
  size_t memory_offset = 0;     ///< of `data` in it
};

/// The value of a function constant, and whether the host gave one.
struct FunctionConstantValue {
  alignas(16) unsigned char bytes[16] = {};
  bool defined = false;
};

struct Kernel;

/// Everything that one dispatch needs. Grid sizes are {x, y, z}.
struct Dispatch {
  Binding buffers[max_buffers];
  uint32_t threadgroup_bytes[max_threadgroup_arguments] = {};
  uint32_t groups[3] = {1, 1, 1};             ///< threadgroups, edge ones included
  uint32_t threads_per_group[3] = {1, 1, 1};  ///< of a whole threadgroup
  uint32_t threads[3] = {0, 0, 0};  ///< of the grid (dispatchThreads); 0: groups * threads_per_group
  const FunctionConstantValue* constants = nullptr;  ///< by slot, see FunctionConstantEntry
  const Kernel* kernel = nullptr;
  uint32_t number = 0;  ///< counts dispatches of the process; run_dispatch sets it
  uint32_t region_first =
      0;                   ///< the first dispatch that no barrier separates from this one; 0: this one itself
  const char* label = "";  ///< of the encoder or debug group, for reports
};

/// Counted while kernels run. The runtime and the library add; see counters/ for their sum by dispatch.
struct OperationCounts {
  uint64_t threadgroup_barriers = 0;  ///< one for a threadgroup
  uint64_t simdgroup_barriers = 0;    ///< one for a simdgroup
  uint64_t simd_operations = 0;       ///< one for a simdgroup
  uint64_t matrix_multiplies = 0;     ///< 8x8x8, one for a simdgroup
  uint64_t matrix_loads = 0, matrix_stores = 0;
  uint64_t atomics = 0;  ///< one for a thread
  uint64_t flops_f32 = 0, flops_f16 = 0,
           flops_bf16 = 0;  ///< scalar operations of kernel code; a fused one counts two
};

struct Threadgroup {
  Thread* threads = nullptr;
  Simdgroup* simdgroups = nullptr;
  uint32_t count = 0;    ///< threads in it
  uint32_t live = 0;     ///< of those, not yet returned
  uint32_t arrived = 0;  ///< of those, at the threadgroup barrier
  SourceLocation at{};   ///< that barrier
  uint32_t size[3] = {1, 1, 1};
  uint32_t position[3] = {0, 0, 0};
  uint32_t index = 0;  ///< linear position in the grid
  unsigned char* memory = nullptr;
  uint32_t memory_bytes =
      0;  ///< used so far: arguments first, then arrays of the kernel's body as they are met
  uint32_t argument_offset[max_threadgroup_arguments] = {};
  uint64_t static_known = 0;  ///< bit i: static_offset[i] is set
  uint32_t static_offset[max_static_arrays] = {};
  Dispatch* dispatch = nullptr;
  void* scheduler_stack_pointer = nullptr;
  bool checked = false;
  bool failed = false;
  FenceCounts fences;
  OperationCounts counts;
};

/// The fiber and threadgroup of this core; __thread rather than thread_local, which would be initialised by a
/// call. Null between threadgroups. (initial-exec: one load, also from a kernel library; such a library must
/// therefore be loaded by dlopen into a program that links the runtime.)
extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));
extern __thread Threadgroup* current_group __attribute__((tls_model("initial-exec")));

// --- Rendezvous
// ------------------------------------------------------------------------------------------------------ A
// lane or thread that is not the last to arrive gives the core to another fiber and returns when all have
// arrived. If that can never happen, the threadgroup is abandoned with a report and the call does not return.

/// Meets the live lanes of this simdgroup. Returns true in the last lane to arrive: no other has resumed yet,
/// so it may compute a result for all in Simdgroup::result.
bool simd_meet(SourceLocation at, SimdUse use = SimdUse::operation);

/// Stands for a meeting at which lanes exchange nothing: the first lane to come notes the place, the others
/// compare theirs, and none waits. Lanes that went different ways are found here, at the next true meeting,
/// or when one returns.
void simd_pass(SourceLocation at, SimdUse use);

/// simdgroup_barrier: meets, and orders the named memory among the lanes.
void simdgroup_fence(uint32_t flags, SourceLocation at);

/// threadgroup_barrier: meets all threads of the threadgroup and orders the named memory among them.
void threadgroup_fence(uint32_t flags, SourceLocation at);

/// The memory of a threadgroup array declared in a kernel's body; `id` numbers it in its kernel, below
/// max_static_arrays. The same address for all threads of the threadgroup.
void* static_threadgroup_memory(uint32_t id, size_t bytes, SourceLocation at = SourceLocation::here());

/// A load or store that the library makes for the kernel in code that is not instrumented itself (matrix
/// rows, atomics).
enum class AccessKind : uint32_t {
  read,
  write,
  atomic_read,
  atomic_write,
  collective_read,
  collective_write
};

/// Tells the checker of such an access, before it is made. Call it in checked builds only (METALSIM_CHECKED).
/// The collective kinds are of the whole simdgroup, whichever lane calls. `alignment` is what the access
/// needs, in bytes.
void note_access(const void* address, size_t bytes, AccessKind kind, size_t alignment, SourceLocation at);

/// Reports a defect at a place of the kernel and abandons the threadgroup. `message` is a sentence.
[[noreturn]] void kernel_defect(const char* message, SourceLocation at);

}  // namespace metalsim
