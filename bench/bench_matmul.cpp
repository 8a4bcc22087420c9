#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "backends/cpu/isa/kernels.h"
#include "base/thread_pool.h"

/// Rates of the integer products beside this machine's limits, measured in the same run: decoding against the
/// rate at which memory can be read, prompts against the rate of 8-bit products. MINFER_ISA pins a table.
using namespace minfer;
using namespace minfer::cpu;

namespace {

using Clock = std::chrono::steady_clock;

/// Median seconds of one call.
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

/// Memory in large pages where the system gives them, filled with a byte that is a valid quant and half.
struct Memory {
  explicit Memory(size_t n)
      : size((n + page - 1) / page * page), data(std::aligned_alloc(page, size), std::free) {
#ifdef __linux__
    madvise(data.get(), size, MADV_HUGEPAGE);
#endif
    std::memset(data.get(), 0x2c, size);
  }
  std::byte* bytes() const { return static_cast<std::byte*>(data.get()); }

  static constexpr size_t page = size_t(2) << 20;
  size_t size;
  std::unique_ptr<void, void (*)(void*)> data;
};

/// What each worker reads: an even share of `n` in steps of `step`.
struct Share {
  int64_t begin, end;
  Share(int64_t n, int64_t step, const Worker& worker) {
    const int64_t steps = (n + step - 1) / step;
    begin = std::min(n, steps * worker.index / worker.count * step);
    end = std::min(n, steps * (worker.index + 1) / worker.count * step);
  }
};

volatile uint64_t sink;  // keeps what is measured from being dropped

constexpr int64_t read_ahead = 4096;  // bytes; one core reads no faster with more

double read_gb_per_second(ThreadPool& pool, const Memory& memory) {
  const double s = seconds([&] {
    pool.run([&](const Worker& worker) {
      const Share share(int64_t(memory.size), 64, worker);
      uint64_t sum[8] = {};
      for (int64_t i = share.begin; i < share.end; i += 64) {
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

/// The same with AVX2's vpmaddubsw, whose 16-bit sums are then widened for every eighth.
__attribute__((target("avx2"))) double maddubs_operations() {
  __m256i a[8];
  const __m256i x = _mm256_set1_epi32(int(sink));
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) a[j] = x;
  for (int64_t i = 0; i < peak_steps; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      a[j] = _mm256_add_epi16(a[j], _mm256_maddubs_epi16(a[j], x));
      asm volatile("" : "+x"(a[j]));
    }
  }
  __m256i all = a[0];
#pragma GCC unroll 8
  for (int j = 1; j < 8; ++j) all = _mm256_or_si256(all, a[j]);
  keep(&all);
  return double(peak_steps) * 8 * 32 * 2;
}
#endif

/// 8-bit multiplies and adds per second, in units of 10^9; 0 where this program knows no such instruction.
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

/// Quantised tokens and room for their products.
struct Tokens {
  std::vector<int8_t> q;
  std::vector<float> d;
  std::vector<int32_t> sum;
  Q8Rows rows;
  Tokens(int64_t tokens, int64_t cols)
      : q(size_t(tokens * cols), 1),
        d(size_t(tokens * cols / 32), 0.01f),
        sum(d.size(), 32),
        rows{q.data(), d.data(), sum.data(), cols} {}
};

/// Seconds of one product, rows shared out in steps of 32.
double product_seconds(ThreadPool& pool, DType type, const std::byte* w, int64_t rows, int64_t cols,
                       int64_t tokens) {
  Tokens x(tokens, cols);
  std::vector<float> y(size_t(rows * tokens));
  const size_t scratch_bytes = (matmul_scratch_bytes(type, cols) + 63) / 64 * 64;
  const Memory scratch(scratch_bytes * size_t(pool.threads()));
  const size_t stride = row_bytes(type, cols);
  return seconds([&] {
    pool.run([&](const Worker& worker) {
      const Share share(rows, 32, worker);
      matmul_q(kernels(), type)(y.data() + share.begin, rows, w + size_t(share.begin) * stride, stride,
                                share.end - share.begin, x.rows, tokens,
                                scratch.bytes() + scratch_bytes * size_t(worker.index));
    });
  });
}

struct Limits {
  double read, int8;
};

void bench(ThreadPool& pool, DType type, const Memory& weights, const Limits& limits) {
  constexpr int64_t decode_cols = 2048, rows = 4864, cols = 896, tokens = 512;
  const size_t bytes = row_bytes(type, decode_cols);
  const auto decode_rows = int64_t(weights.size / bytes);
  const double decode = product_seconds(pool, type, weights.bytes(), decode_rows, decode_cols, 1);
  // K-quants have rows of whole blocks of 256.
  const int64_t prompt_cols = cols / info(type).block_elements * info(type).block_elements;
  const double prompt = product_seconds(pool, type, weights.bytes(), rows, prompt_cols, tokens);
  const double gb = 1e-9 * double(bytes) * double(decode_rows) / decode;
  const double gops = 2e-9 * double(rows * prompt_cols * tokens) / prompt;
  std::printf("%d threads  %-5s decode %6.1f GB/s (%3.0f %%)   512 tokens %7.1f GOPS (%3.0f %%)\n",
              pool.threads(), std::string(info(type).name).c_str(), gb, 100 * gb / limits.read, gops,
              limits.int8 > 0 ? 100 * gops / limits.int8 : 0.0);
  std::fflush(stdout);
}

}  // namespace

int main() {
  const Memory weights(size_t(192) << 20);
  std::printf("table %s, weights of 192 MiB\n", std::string(kernels().isa).c_str());
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    const Limits limits{read_gb_per_second(pool, weights), int8_gops(pool)};
    std::printf("%d threads  memory read %.1f GB/s, 8-bit products %.1f GOPS\n", threads, limits.read,
                limits.int8);
    for (const DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k,
                             DType::q5_k, DType::q6_k}) {
      bench(pool, type, weights, limits);
    }
  }
}
