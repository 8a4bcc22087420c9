/// Counters against numbers counted by hand from the kernels' sources.
#include <doctest/doctest.h>

#include "counters/device_counters.h"
#include "support/launch.h"

using namespace metalsim;
using test::Buffer;
using test::Launch;

namespace {

/// Counts what `run` does, on one core and on two; both must agree.
template <class Run>
KernelCounters counted(uint32_t cores, Run&& run) {
  Options options;
  options.statistics = true;
  options.cores = cores;
  options.print_reports = false;
  set_options(options);
  clear_counters();
  clear_reports();
  run();
  options.statistics = false;
  set_options(options);
  CHECK(reports().empty());
  REQUIRE(counters().dispatches.size() == 1);
  return counters().dispatches[0];
}

}  // namespace

TEST_CASE("bytes of device memory: all, and each once") {
  for (uint32_t cores : {1u, 2u}) {
    const KernelCounters c = counted(cores, [] {
      Buffer x(256), y(256);
      Launch("bytes").buffer(0, x).buffer(1, y).bytes(2, 1.0f).run(4, 16);
    });
    CHECK(c.kernel == "bytes");
    CHECK(c.threads == 64);
    CHECK(c.threadgroups == 4);
    CHECK(c.device_bytes_read == 64 * 8);
    CHECK(c.device_bytes_read_distinct == 256);
    CHECK(c.device_bytes_written == 256);
    CHECK(c.device_bytes_written_distinct == 256);
    CHECK(c.constant_bytes_read == 64 * 4);
    CHECK(c.threadgroup_bytes_read == 0);
  }
}

TEST_CASE("barriers, simd operations and threadgroup memory") {
  for (uint32_t cores : {1u, 2u}) {
    const KernelCounters c = counted(cores, [] {
      Buffer y(128 * 4);
      Launch("meetings").buffer(0, y).threadgroup(0, 256).run(2, 64);
    });
    CHECK(c.threadgroup_barriers == 2 * 2);
    CHECK(c.simdgroup_barriers == 2 * 2);
    CHECK(c.simd_operations == 2 * 2 * 3);
    CHECK(c.threadgroup_bytes_written == 128 * 4);
    CHECK(c.threadgroup_bytes_read == 128 * 8);
  }
}

TEST_CASE("matrices and atomics") {
  const KernelCounters c = counted(1, [] {
    Buffer x(512), y(512);
    Launch("tiles").buffer(0, x).buffer(1, y).run(2, 32);
  });
  CHECK(c.matrix_multiplies == 2 * 3);
  CHECK(c.matrix_loads == 2 * 2);
  CHECK(c.matrix_stores == 2);
  CHECK(c.device_bytes_read == 2 * 512);
  CHECK(c.device_bytes_read_distinct == 512);
  CHECK(c.device_bytes_written == 512);
  CHECK(c.simd_operations == 0);
  const KernelCounters a = counted(1, [] {
    Buffer n(4);
    Launch("atomics").buffer(0, n).run(3, 8);
  });
  CHECK(a.atomics == 24);
}

TEST_CASE("floating-point operations of scalar code, by type") {
  static constexpr int turns = 5;
  const KernelCounters c = counted(1, [] {
    Buffer x(260), y(256);
    for (int i = 0; i < 65; ++i) x.as<float>()[i] = 1;
    Launch("flops").buffer(0, y).buffer(1, x).bytes(2, turns).run(2, 32);
  });
  CHECK(c.flops_f32 == 64 * (2 + 1 + turns + 2));  // the last line adds twice
  CHECK(c.flops_f16 == 64 * 3);
  CHECK(c.flops_bf16 == 64 * 1);
}

TEST_CASE("estimates of lines and banks grow with the stride of the lanes") {
  const auto with_stride = [](uint32_t stride) {
    return counted(1, [stride] {
      Buffer x(32 * 32 * 4), y(32 * 4);
      Launch("strided").buffer(0, x).buffer(1, y).bytes(2, stride).threadgroup(0, 4096).run(1, 32);
    });
  };
  CHECK(with_stride(1).uncoalesced_estimate == 0);
  CHECK(with_stride(1).bank_conflicts_estimate == 0);
  CHECK(with_stride(4).uncoalesced_estimate == 3);  // 4 lines in place of 1
  CHECK(with_stride(4).bank_conflicts_estimate == 3);
  CHECK(with_stride(32).uncoalesced_estimate == 31);
  CHECK(with_stride(32).bank_conflicts_estimate == 31);
}

TEST_CASE("sums by kernel, encoders, peak memory and the table") {
  Options options;
  options.statistics = true;
  set_options(options);
  clear_counters();
  Buffer x(256), y(256);
  for (int i = 0; i < 3; ++i) Launch("bytes").buffer(0, x).buffer(1, y).bytes(2, 1.0f).run(4, 16);
  count_encoder({"encoder", 3, 2, 100, 50});
  const uint64_t before = counters().buffer_bytes;
  count_buffer_allocated(1000);
  count_buffer_released(1000);
  options.statistics = false;
  set_options(options);
  const Counters all = counters();
  REQUIRE(all.kernels.size() == 1);
  CHECK(all.kernels[0].dispatches == 3);
  CHECK(all.kernels[0].device_bytes_read == 3 * 64 * 8);
  CHECK(all.buffer_bytes == before);
  CHECK(all.peak_buffer_bytes == before + 1000);
  const std::string table = counters_table(all);
  CHECK(table.find("bytes") != std::string::npos);
  CHECK(table.find("barriers 2, bytes copied 100, bytes filled 50") != std::string::npos);
  clear_counters();
}
