#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backends/cpu/isa/kernels.h"
#include "ceilings.h"

/// This machine's limits as one line of JSON, for bench/compare.py: `bench_ceilings [threads]`.
using namespace minfer;
using namespace minfer::bench;

int main(int count, char** arguments) {
  ThreadPool pool(count > 1 ? std::max(1, std::atoi(arguments[1])) : usable_cores());
  constexpr size_t bytes = size_t(256) << 20;
  const double large = read_gb_per_second(pool, Memory(bytes));
  const double small = read_gb_per_second(pool, Memory(bytes, false));
  std::printf(
      "{\"threads\": %d, \"isa\": \"%s\", \"read_gb\": %.2f, \"read_gb_4k\": %.2f, \"int8_gops\": %.1f}\n",
      pool.threads(), std::string(cpu::kernels().isa).c_str(), large, small, int8_gops(pool));
}
