#include <cstdio>
#include <string>
#include <vector>

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/isa/quant_tokens.h"
#include "ceilings.h"

/// Rates of the integer products beside this machine's limits, measured in the same run: decoding against the
/// rate at which memory can be read, prompts against the rate of 8-bit products. MINFER_ISA pins a table.
using namespace minfer;
using namespace minfer::bench;
using namespace minfer::cpu;

namespace {

/// Tokens of ones.
struct Tokens {
  std::vector<std::byte> packed;
  Q8Tokens tokens;
  Tokens(int64_t n, int64_t cols) : packed(q8_token_bytes(cols, n)), tokens{packed.data(), cols, n} {
    std::vector<int8_t> q(size_t(token_tile * cols), 1);
    std::vector<float> d(size_t(token_tile * cols / 32), 0.01f);
    std::vector<int32_t> sum(2 * d.size(), 16);
    for (int64_t t = 0; t < n; t += token_tile) {
      pack_tokens(tokens, t, {q.data(), d.data(), sum.data()}, 0, cols / 32);
    }
  }
};

/// Seconds of one product, rows shared out in steps of 32.
double product_seconds(ThreadPool& pool, DType type, const std::byte* w, int64_t rows, int64_t cols,
                       int64_t tokens) {
  Tokens x(tokens, cols);
  std::vector<float> y(size_t(rows * tokens));
  const size_t scratch_bytes = (matmul_scratch_bytes(cols) + 63) / 64 * 64;
  const Memory scratch(scratch_bytes * size_t(pool.threads()));
  const size_t stride = row_bytes(type, cols);
  return seconds([&] {
    pool.run([&](const Worker& worker) {
      const Range share = minfer::share(rows, 32, worker);
      matmul_q(kernels(), type)(y.data() + share.begin, rows, w + size_t(share.begin) * stride, stride,
                                share.end - share.begin, x.tokens,
                                scratch.bytes() + scratch_bytes * size_t(worker.index));
    });
  });
}

struct Limits {
  double read, int8;
};

void bench_type(ThreadPool& pool, DType type, const Memory& weights, const Limits& limits) {
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
      bench_type(pool, type, weights, limits);
    }
  }
}
