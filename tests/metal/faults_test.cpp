#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "backends/metal/device/device.h"
#include "base/error.h"
#include "base/log.h"
#include "metal/metal_device.h"
#ifdef MINFER_METAL_SIM
#include <metalsim/device.h>

using namespace minfer;
using namespace minfer::test;

namespace {

/// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

/// Two dispatches on a fresh backend.
struct Sum {
  OpBench bench{metal_device()};
  Operand result = bench.result(4, 1);
  Sum() {
    const Operand x = bench.values(4, 1, {1, 2, 3, 4}), twice = bench.result(4, 1);
    bench.add(Add{}, {x, x}, twice, "blk.0.first");
    bench.add(Add{}, {twice, x}, result, "blk.0.second");
    bench.encode();
  }
};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a failed command buffer is an error with the last dispatches, and nothing runs after it") {
  for (const auto kind :
       {metalsim::FaultKind::fail, metalsim::FaultKind::out_of_memory, metalsim::FaultKind::page_fault}) {
    Sum sum;
    sum.bench.run();
    CHECK(sum.bench.read(sum.result) == std::vector<float>{3, 6, 9, 12});
    metalsim::inject_fault({kind, 1, 0});
    const Refused failed = refused([&] { sum.bench.run(); });
    CHECK(failed.code == int(ErrorCode::device));
    CHECK(contains(failed.message, "the command buffer failed"));
    CHECK(contains(failed.message, "blk.0.first add_f32, blk.0.second add_f32"));
    const Refused after = refused([&] { sum.bench.run(); });
    CHECK(after.code == int(ErrorCode::device));
    CHECK(contains(after.message, "it failed before"));
    metalsim::clear_faults();
    Sum fresh;  // another backend on the same device
    fresh.bench.run();
    CHECK(fresh.bench.read(fresh.result) == std::vector<float>{3, 6, 9, 12});
  }
}

TEST_CASE("a hung command buffer is an error within the bound") {
  const auto device = metal::Device::open();  // and with it the queue
  {
    const Variable bound("MINFER_METAL_TIMEOUT_MS", "50");
    Sum sum;
    metalsim::inject_fault({metalsim::FaultKind::hang, 1, 500});
    const Refused failed = refused([&] { sum.bench.run(); });
    CHECK(failed.code == int(ErrorCode::device));
    CHECK(contains(failed.message, "no answer within 50 ms"));
    CHECK(contains(failed.message, "blk.0.second add_f32"));
    CHECK(contains(refused([&] { sum.bench.run(); }).message, "it failed before"));
  }
  metalsim::clear_faults();
  Sum().bench.run();  // behind it in the queue: it has ended then
}

/// Buffers of values that are not destroyed yet.
size_t live_values() {
  const std::vector<std::string> all = metalsim::live_objects();
  return size_t(std::count_if(all.begin(), all.end(), [](const std::string& object) {
    return contains(object, "MTLBuffer \"value\"");
  }));
}

TEST_CASE("a command buffer that hangs keeps the buffers of a session that is gone, until it ends") {
  const auto device = metal::Device::open();
  const size_t before = live_values();
  {
    const Variable bound("MINFER_METAL_TIMEOUT_MS", "50");
    Sum sum;
    CHECK(live_values() == before + 3);
    metalsim::inject_fault({metalsim::FaultKind::hang, 1, 1500});
    CHECK(contains(refused([&] { sum.bench.run(); }).message, "no answer within 50 ms"));
  }
  CHECK(live_values() == before + 3);
  {
    Sum fresh;
    fresh.bench.run();
    CHECK(fresh.bench.read(fresh.result) == std::vector<float>{3, 6, 9, 12});
    CHECK(live_values() == before + 3);
  }
  CHECK(live_values() == before);
  metalsim::clear_faults();
}

TEST_CASE("a device without memory is an error of its own kind") {
  OpBench bench(metal_device());
  metalsim::inject_fault({metalsim::FaultKind::no_buffer, 1, 0});
  const Refused failed = refused([&] { bench.result(1024, 1); });
  CHECK(failed.code == int(ErrorCode::out_of_memory));
  CHECK(contains(failed.message, "4096 bytes"));
  metalsim::clear_faults();
  const size_t longest = size_t(1) << 50;
  const Refused refusal = refused([&] { bench.backend().allocate(longest); });
  CHECK(refusal.code == int(ErrorCode::out_of_memory));
  CHECK(contains(refusal.message, "its longest buffer has"));
}

TEST_CASE("each chokepoint can be made to fail") {
  {
    const Variable fail("MINFER_TEST_CALL_FAIL", "metal_run@2");
    Sum sum;
    sum.bench.run();
    CHECK(contains(refused([&] { sum.bench.run(); }).message, "a test made it fail"));
    sum.bench.run();  // nothing was submitted, so nothing is lost
    CHECK(sum.bench.read(sum.result) == std::vector<float>{3, 6, 9, 12});
  }
  const Variable fail("MINFER_TEST_CALL_FAIL", "metal_allocate@1,metal_weight@1");
  OpBench bench(metal_device());
  CHECK(refused([&] { bench.result(1, 1); }).code == int(ErrorCode::out_of_memory));
  CHECK(refused([&] { bench.vector("gain", {1}); }).code == int(ErrorCode::out_of_memory));
}

TEST_CASE("a profile names each kernel, its calls, and the submissions") {
  std::string lines;
  set_log_level(LogLevel::info);
  set_log_sink([&](LogLevel, const std::string& line) { lines += line + "\n"; });
  {
    const Variable profile("MINFER_OP_PROFILE", "1");
    Sum sum;
    sum.bench.run();
    sum.bench.run();
  }
  set_log_sink(nullptr);
  set_log_level(LogLevel::warning);
  CHECK(contains(lines, "submission 2: "));
  CHECK(contains(lines, "2 submissions, "));
  CHECK(contains(lines, "add_f32"));
  CHECK(contains(lines, " 4 calls"));
}

TEST_CASE("settings that mean nothing are refused by name") {
  for (const auto& [name, value] : {std::pair{"MINFER_METAL_BARRIERS", "some"},
                                    {"MINFER_NO_FLASH", "yes"},
                                    {"MINFER_ATTN_CHUNKS", "0"},
                                    {"MINFER_METAL_TIMEOUT_MS", "10s"}}) {
    const Variable set(name, value);
    const Refused failed = refused([] { metal_device().make(); });
    CHECK(failed.code == int(ErrorCode::bad_request));
    CHECK(contains(failed.message, name));
    CHECK(contains(failed.message, value));
  }
  {
    const Variable capture("MINFER_METAL_CAPTURE", "1");  // no tool is attached here
    CHECK(contains(refused([] { metal_device().make(); }).message, "MINFER_METAL_CAPTURE=1"));
  }
  const Variable off("MINFER_DISABLE_MPS", "1");
  CHECK(refused([] { metal_device().make(); }).code == int(ErrorCode::unsupported));
}

#endif
