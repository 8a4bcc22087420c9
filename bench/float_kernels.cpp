#include <ctime>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/isa/kernels.h"
#include "base/thread_pool.h"

/// Rates of the CPU's float kernels on one core, for every table that runs here, and latencies of the thread
/// team. A dot of n values counts 2n operations.
using namespace minfer;
using namespace minfer::cpu;

namespace {

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What this thread has used of a core: other programs on the machine do not count.
double cpu_clock() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Seconds of one call: the best of many short rounds, of which some fall between what else the machine does.
template <class F>
double seconds(F f, double (*clock)() = cpu_clock) {
  double best = 1e9;
  for (int round = 0; round < 100; ++round) {
    int64_t calls = 0;
    const double start = clock();
    double elapsed = 0;
    for (; elapsed < 0.001; elapsed = clock() - start) {
      for (int i = 0; i < 4; ++i, ++calls) f();
    }
    best = std::min(best, elapsed / double(calls));
  }
  return best;
}

std::vector<float> values(int64_t n) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(normal(rng));
  return v;
}

void bench_matmul(const KernelTable& table, DType type, int64_t rows, int64_t cols, int64_t tokens) {
  const size_t element = type == DType::f32 ? 4 : 2;
  const std::vector<std::byte> w(size_t(rows * cols) * element, std::byte{0});
  const auto x = values(tokens * cols);
  std::vector<float> y(size_t(tokens * rows));
  const double s = seconds([&] {
    matmul_f(table, type)(y.data(), rows, w.data(), size_t(cols) * element, rows, x.data(), cols, cols,
                          tokens);
  });
  const char* name = type == DType::f32 ? "f32" : type == DType::f16 ? "f16" : "bf16";
  std::printf("%-7s matmul_%-4s %5lldx%-5lld tokens %3lld  %7.1f GFLOP/s  %6.1f GB/s of weights\n",
              std::string(table.isa).c_str(), name, (long long)rows, (long long)cols, (long long)tokens,
              2e-9 * double(rows * cols * tokens) / s, 1e-9 * double(w.size()) / s);
}

/// One tile of 32 rows in the first-level cache, as it is after its keys and values were widened.
void bench_attend(const KernelTable& table, int64_t head_dim, int64_t n_q) {
  const bool wide = n_q > attn_narrow_queries;
  auto q = values((n_q + 15) / 16 * 16 * head_dim);  // head_dim is a multiple of 16
  if (wide) table.lay_queries(q.data(), std::vector(q).data(), head_dim, n_q, head_dim);
  const auto kv = values(2 * attn_tile_rows * head_dim);
  std::vector<float> m(size_t(n_q), -INFINITY), s(size_t(n_q), 0.0f), o(size_t(n_q * head_dim), 0.0f);
  const auto visible = std::vector<int32_t>(size_t(n_q), int32_t(attn_tile_rows));
  const auto* k = reinterpret_cast<const std::byte*>(kv.data());
  const size_t stride = sizeof(float) * size_t(head_dim);
  const KvTile tile{DType::f32, k, k + size_t(attn_tile_rows) * stride, stride, attn_tile_rows};
  const double t = seconds([&] {
    if (wide) {
      table.attend_wide(q.data(), n_q, tile, head_dim, 0.125f, visible.data(), m.data(), s.data(), o.data(),
                        head_dim);
    } else {
      table.attend(q.data(), head_dim, n_q, tile, head_dim, 0.125f, visible.data(), m.data(), s.data(),
                   o.data(), head_dim);
    }
  });
  std::printf("%-7s attend head_dim %3lld queries %3lld  %7.1f GFLOP/s  %7.0f ns a tile\n",
              std::string(table.isa).c_str(), (long long)head_dim, (long long)n_q,
              4e-9 * double(attn_tile_rows * head_dim * n_q) / t, 1e9 * t);
}

void bench_rows(const KernelTable& table, int64_t n) {
  const auto x = values(n), w = values(n);
  std::vector<float> y(static_cast<size_t>(n));
  const auto report = [&](const char* name, double s) {
    std::printf("%-7s %-12s n %5lld  %7.0f ns\n", std::string(table.isa).c_str(), name, (long long)n,
                1e9 * s);
  };
  report("rms_norm_f32", seconds([&] { table.rms_norm_f32(y.data(), x.data(), w.data(), n, 1e-6f); }));
  report("swiglu_f32", seconds([&] { table.swiglu_f32(y.data(), x.data(), w.data(), n); }));
  report("softmax_f32", seconds([&] { table.softmax_f32(y.data(), x.data(), n); }));
}

void bench_team(int threads) {
  ThreadPool pool(threads);
  const double fork_join = seconds([&] { pool.run([](const Worker&) {}); }, wall_clock);
  constexpr int barriers = 1000;
  const double barrier = seconds(
      [&] {
        pool.run([](const Worker& w) {
          for (int i = 0; i < barriers; ++i) w.barrier();
        });
      },
      wall_clock);
  std::printf("team of %d on %d cores: fork and join %.2f us, barrier %.2f us\n", threads, usable_cores(),
              1e6 * fork_join, 1e6 * barrier / barriers);
}

}  // namespace

int main() {
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    if (table->isa == "scalar") continue;  // the reference is not built for speed
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      bench_matmul(*table, type, 8192, 2048, 1);  // beyond the caches: the machine's read rate
      for (const int64_t tokens : {1, 4, 64}) bench_matmul(*table, type, 256, 896, tokens);
    }
    for (const int64_t head_dim : {64, 128}) {
      for (const int64_t n_q : {1, 2, 3, 4, 7, 8, 9, 16, 64, 128, 256}) bench_attend(*table, head_dim, n_q);
    }
    for (const int64_t n : {576, 4864}) bench_rows(*table, n);
  }
  for (int threads = 2; threads <= std::max(2, usable_cores()); threads *= 2) bench_team(threads);
}
