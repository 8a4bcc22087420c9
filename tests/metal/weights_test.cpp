#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "backends/metal/device/weights.h"
#include "base/error.h"
#include "metal/metal_device.h"

using namespace minfer;
using namespace minfer::metal;
using minfer::test::refused;

namespace {

/// Pages as a mapped model file has them.
class Mapping {
 public:
  explicit Mapping(size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    data_ = static_cast<std::byte*>(memory);
    for (size_t i = 0; i < bytes; ++i) data_[i] = std::byte(i * 7 + i / 251);
  }
  ~Mapping() { munmap(data_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> all() const { return {data_, bytes_}; }
  /// One weight of `rows` x 32 values of Q8_0.
  Weight weight(const std::string& name, size_t at, int64_t rows) const {
    return {{name, DType::q8_0, 32, rows}, all().subspan(at, size_t(rows) * 34)};
  }

 private:
  size_t bytes_;
  std::byte* data_;
};

bool same_bytes(const WeightRegistry::Entry& entry, const Weight& weight) {
  return entry.span.bytes == weight.data.size() &&
         std::memcmp(entry.span.host(), weight.data.data(), weight.data.size()) == 0;
}

}  // namespace

TEST_CASE("weights inside a mapping are used where they are, others are copied once") {
  const auto device = Device::open();
  const Mapping mapping(100'000);
  WeightRegistry registry(*device, false);
  registry.add_mapping(mapping.all(), 3400);
  const Weight inside = mapping.weight("inside", 66, 100), last = mapping.weight("last", 100'000 - 34, 1);
  registry.add(inside);
  registry.add(last);
  CHECK(registry.copied_bytes() == 0);
  CHECK(registry.find("inside")->span.host() == inside.data.data());
  CHECK(registry.find("last")->span.host() == last.data.data());

  const std::vector<std::byte> elsewhere(340, std::byte(5));
  const Weight outside = {{"outside", DType::q8_0, 32, 10}, elsewhere};
  registry.add(outside);
  CHECK(registry.copied_bytes() == 340);
  CHECK(same_bytes(*registry.find("outside"), outside));
  CHECK(registry.bytes() == 3400 + 34 + 340);
  CHECK(registry.buffers().size() == 2);
  CHECK(registry.find("neither") == nullptr);
}

TEST_CASE("copies can be forced") {
  const auto device = Device::open();
  const Mapping mapping(8192);
  WeightRegistry registry(*device, true);
  registry.add_mapping(mapping.all(), 340);
  const Weight weight = mapping.weight("w", 2, 10);
  registry.add(weight);
  CHECK(registry.copied_bytes() == 340);
  CHECK(same_bytes(*registry.find("w"), weight));
}

TEST_CASE("a name means the same bytes for ever") {
  const auto device = Device::open();
  const Mapping mapping(8192);
  WeightRegistry registry(*device, false);
  registry.add_mapping(mapping.all(), 340);
  registry.add(mapping.weight("w", 0, 10));
  registry.add(mapping.weight("w", 0, 10));
  CHECK(registry.bytes() == 340);
  CHECK(refused([&] { registry.add(mapping.weight("w", 34, 10)); }).code == int(ErrorCode::bad_model));
  Weight cut = mapping.weight("cut", 0, 10);
  cut.data = cut.data.first(339);
  CHECK(refused([&] { registry.add(cut); }).code == int(ErrorCode::bad_model));
  CHECK(registry.find("cut") == nullptr);
}

// Run with a device whose longest buffer has 1 MiB: see CMakeLists.txt.
TEST_CASE("a mapping longer than the longest buffer becomes windows that overlap") {
  const auto device = Device::open();
  const size_t longest = device->limits().buffer_bytes;
  if (longest > (64u << 20)) {
    MESSAGE("the device takes buffers of ", longest,
            " bytes: METALSIM_MEMORY=2M makes this test mean something");
    return;
  }
  const int64_t rows = 3000;  // 102,000 bytes
  const Mapping mapping(longest + longest / 2 + 12'345);
  WeightRegistry registry(*device, false);
  registry.add_mapping(mapping.all(), size_t(rows) * 34);
  CHECK(registry.buffers().size() == 2);
  for (size_t at = 0; at + size_t(rows) * 34 <= mapping.all().size(); at += 50'002) {
    const std::string name = fmt::format("weight at {}", at);
    registry.add(mapping.weight(name, at, rows));
    CHECK(registry.find(name)->span.host() == mapping.all().data() + at);
  }
  CHECK(registry.copied_bytes() == 0);
  CHECK(refused([&] { registry.add_mapping(mapping.all(), longest); }).code == int(ErrorCode::out_of_memory));
}
