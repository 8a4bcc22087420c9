#include "ceilings.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "backends/cpu/isa/kernels.h"

namespace minfer::bench {
namespace {

using namespace minfer::cpu;
using Clock = std::chrono::steady_clock;

volatile uint64_t sink;  // keeps what is measured from being dropped

constexpr int64_t read_ahead = 4096;  // bytes; one core reads no faster with more

[[maybe_unused]] void keep(const void* word) {
  uint32_t v;
  std::memcpy(&v, word, sizeof v);
  sink = v;
}

constexpr int64_t peak_steps = 4'000'000;

#ifdef __x86_64__
/// Operations of sixteen independent chains of vpdpbusd: a multiply and an add for each of 64 bytes.
__attribute__((target("avx512f,avx512vnni"))) double vnni_operations() {
  __m512i a[16];
  const __m512i x = _mm512_set1_epi32(int(sink));
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) a[j] = x;
  for (int64_t i = 0; i < peak_steps; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) {
      a[j] = _mm512_dpbusd_epi32(a[j], x, x);
      asm volatile("" : "+v"(a[j]));
    }
  }
  // All sums are needed, and none has an address: they stay in registers.
  __m512i all = a[0];
#pragma GCC unroll 16
  for (int j = 1; j < 16; ++j) all = _mm512_or_si512(all, a[j]);
  keep(&all);
  return double(peak_steps) * 16 * 64 * 2;
}

/// The same with AVX2's vpmaddubsw and an addition, in as many chains as their six cycles and three ports
/// need.
__attribute__((target("avx2"))) double maddubs_operations() {
  __m256i a[12];
  const __m256i x = _mm256_set1_epi32(int(sink));
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) a[j] = x;
  for (int64_t i = 0; i < peak_steps; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) {
      a[j] = _mm256_add_epi16(a[j], _mm256_maddubs_epi16(a[j], x));
      asm volatile("" : "+x"(a[j]));
    }
  }
  __m256i all = a[0];
#pragma GCC unroll 12
  for (int j = 1; j < 12; ++j) all = _mm256_or_si256(all, a[j]);
  keep(&all);
  return double(peak_steps) * 12 * 32 * 2;
}
#endif

}  // namespace

double seconds(const std::function<void()>& f) {
  f();
  std::vector<double> samples;
  for (int i = 0; i < 7; ++i) {
    const auto start = Clock::now();
    f();
    samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

Memory::Memory(size_t n, bool large_pages)
    : size((n + page - 1) / page * page), data(std::aligned_alloc(page, size), std::free) {
#ifdef __linux__
  madvise(data.get(), size, large_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
  std::memset(data.get(), 0x2c, size);
}

double read_gb_per_second(ThreadPool& pool, const Memory& memory) {
  const double s = seconds([&] {
    pool.run([&](const Worker& worker) {
      const Range mine = share(int64_t(memory.size), 64, worker);
      uint64_t sum[8] = {};
      for (int64_t i = mine.begin; i < mine.end; i += 64) {
        __builtin_prefetch(memory.bytes() + i + read_ahead);
        uint64_t line[8];
        std::memcpy(line, memory.bytes() + i, sizeof line);
        for (int j = 0; j < 8; ++j) sum[j] |= line[j];
      }
      for (const uint64_t v : sum) sink = v;
    });
  });
  return 1e-9 * double(memory.size) / s;
}

double int8_gops([[maybe_unused]] ThreadPool& pool) {
#ifdef __x86_64__
  const bool vnni = kernels().isa == "avx512";
  if (vnni || kernels().isa == "avx2") {
    double operations = 0;
    const double s = seconds([&] {
      pool.run([&](const Worker& worker) {
        const double done = vnni ? vnni_operations() : maddubs_operations();
        if (worker.index == 0) operations = done * worker.count;
      });
    });
    return 1e-9 * operations / s;
  }
#endif
  return 0;
}

}  // namespace minfer::bench
