#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/thread_pool.h"

/// What this machine can do at most, for benchmarks to stand beside: measured in the same run, since machines
/// are shared and differ from hour to hour.
namespace minfer::bench {

/// Median seconds of seven calls, after one that is not counted.
double seconds(const std::function<void()>& f);

/// Memory filled with a byte that is a valid quant and half; in pages of 2 MiB where the system gives them,
/// or of 4 KiB.
struct Memory {
  static constexpr size_t page = size_t(2) << 20;
  explicit Memory(size_t n, bool large_pages = true);
  std::byte* bytes() const { return static_cast<std::byte*>(data.get()); }

  size_t size;
  std::unique_ptr<void, void (*)(void*)> data;
};

/// Rate at which a team reads memory, in 10^9 bytes a second.
double read_gb_per_second(ThreadPool& pool, const Memory& memory);

/// 8-bit multiplies and adds a second, in units of 10^9, of the instruction that the table in force has for
/// them; 0 where this program knows none.
double int8_gops(ThreadPool& pool);

}  // namespace minfer::bench
