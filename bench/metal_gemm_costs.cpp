/// What a matrix product for many tokens costs the device, by weight type: counted and not timed, on the
/// software Metal device under its checker. The counts are exact and the same on any machine.
#include <fmt/format.h>
#include <metalsim/metalsim.h>

#include "metal/gemm_bench.h"

using namespace minfer;

namespace {

constexpr int64_t cols = 512, rows = 512, tile_rows = 64;

void print(DType type, int64_t tokens, bool half) {
  test::Gemm gemm(type, cols, rows, half);
  const std::vector<float> x = test::Source(1).normals(cols * tokens);
  metalsim::clear_counters();
  gemm(x);
  for (const metalsim::KernelCounters& kernel : metalsim::counters().kernels) {
    if (!kernel.kernel.starts_with("gemm")) continue;
    const double x_bytes =
        double(x.size() * sizeof(float) * (rows / tile_rows));  // each row of tiles reads all
    const double weight_bytes = double(gemm.w.bytes.size());
    const double multiplies = double(kernel.matrix_multiplies);
    fmt::print("| {} | {} | {:.2f} | {:.0f} | {:.2f} | {:.0f} | {:.0f} |\n", kernel.kernel, tokens,
               (double(kernel.device_bytes_read) - x_bytes) / weight_bytes, double(rows / tile_rows),
               double(kernel.matrix_loads) / multiplies, double(kernel.threadgroup_bytes_read) / multiplies,
               double(kernel.threadgroup_bytes_written) / multiplies);
  }
}

}  // namespace

int main() {
  metalsim::Options options = metalsim::options();
  options.statistics = true;
  metalsim::set_options(options);
  fmt::print(
      "Device bytes read, over those of the weights (scales of half staging included) and of the "
      "activations; "
      "of threadgroup memory, for each 8x8 multiply.\n\n"
      "| kernel | tokens | weights | activations | 8x8 loads | bytes read | bytes written |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const int64_t tokens : {32, 512}) {
    for (int type = 0; type < int(DType::i32); ++type) {
      print(DType(type), tokens, false);
      if (DType(type) != DType::f32 && DType(type) != DType::bf16) print(DType(type), tokens, true);
    }
  }
  options.statistics = false;  // or the device prints a table of its own when the program ends
  metalsim::set_options(options);
  return metalsim::report_count() == 0 ? 0 : 1;
}
