#include <doctest/doctest.h>
#include <sys/mman.h>

#include <bit>
#include <climits>
#include <cstring>

#include "backends/metal/device/device.h"
#include "base/error.h"
#include "base/fp16.h"
#include "metal/metal_device.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

/// A table whose blocks have scales of either sign, subnormal ones among them.
std::vector<std::byte> table_rows(DType type, int64_t cols, int64_t rows) {
  std::vector<std::byte> bytes = random_rows(type, cols, rows, 11);
  if (!is_quantised(type)) return bytes;
  const size_t block = size_t(info(type).block_bytes), scale = type == DType::q6_k ? 208 : 0;
  for (size_t b = 0; b * block < bytes.size(); ++b) {
    std::byte& high = bytes[b * block + scale + 1];
    if (b % 3 == 1) high |= std::byte(0x80);
    if (b % 5 == 2) high &= std::byte(0x83);
  }
  return bytes;
}

std::vector<float> expected_rows(DType type, int64_t cols, const std::vector<std::byte>& bytes,
                                 const std::vector<int32_t>& ids) {
  std::vector<float> rows(ids.size() * size_t(cols));
  for (size_t t = 0; t < ids.size(); ++t) {
    decode_row(type, &bytes[size_t(ids[t]) * row_bytes(type, cols)], &rows[t * size_t(cols)], cols);
  }
  return rows;
}

std::vector<float> gather(OpBench& bench, const WeightRef& table, const std::vector<int32_t>& ids) {
  const Operand y = bench.result(table.cols, int64_t(ids.size()));
  bench.add(GetRows{table}, {bench.indices(ids)}, y);
  bench.run();
  return bench.read(y);
}

TEST_CASE("isolation: gathers have the bits of the decoders, for every type") {
  const std::vector<int32_t> ids{39, 0, 7, 7, 21, 3, 12, 39, 1};
  for (int t = 0; t < int(DType::i32); ++t) {
    const DType type = DType(t);
    CAPTURE(info(type).name);
    std::vector<int64_t> widths{256, 768};
    if (info(type).block_elements <= 32) widths.insert(widths.end(), {32, 96, 896});
    if (!is_quantised(type)) widths.insert(widths.end(), {1, 3, 4, 5, 127, 1030});
    if (!checked) widths.push_back(4864 / 256 * 256);
    for (int64_t cols : widths) {
      CAPTURE(cols);
      const std::vector<std::byte> bytes = table_rows(type, cols, 40);
      const WeightRef table{"table", type, cols, 40};
      OpBench bench(metal_device());
      bench.backend().add_weight({table, bytes});
      const std::vector<float> found = gather(bench, table, ids);
      CHECK(same_bits(found, expected_rows(type, cols, bytes, ids)));
      CHECK(same_bits(gather(bench, table, ids), found));
    }
  }
}

TEST_CASE("bf16_embed_gather_matches_the_reference") {
  const int64_t cols = 896, rows = 20;
  std::vector<std::byte> bytes(size_t(cols * rows) * 2);
  Source random(2);
  for (std::byte& byte : bytes) byte = std::byte(random.integer(0, 255));  // NaN and infinities among them
  const WeightRef table{"table", DType::bf16, cols, rows};
  const std::vector<int32_t> ids{19, 0, 4};
  OpBench bench(metal_device());
  bench.backend().add_weight({table, bytes});
  std::vector<float> right;
  for (int32_t id : ids) {
    for (int64_t c = 0; c < cols; ++c) {
      uint16_t upper;
      std::memcpy(&upper, &bytes[size_t(id * cols + c) * 2], 2);
      right.push_back(std::bit_cast<float>(uint32_t(upper) << 16));
    }
  }
  CHECK(same_bits(gather(bench, table, ids), right));
  CHECK_FALSE(same_bits(expected_rows(DType::f16, cols, bytes, ids), right));
}

TEST_CASE("rows of an activation are copied") {
  for (int64_t cols : {1, 33, 576}) {
    OpBench bench(metal_device());
    const std::vector<float> x = Source(1).normals(cols * 6);
    const Operand y = bench.result(cols, 3);
    bench.add(GetRows{}, {bench.values(cols, 6, x), bench.indices({4, 5, 0})}, y);
    bench.run();
    std::vector<float> right(x.begin() + 4 * cols, x.end());
    right.insert(right.end(), x.begin(), x.begin() + cols);
    CHECK(same_bits(bench.read(y), right));
  }
}

TEST_CASE("ids outside the table are refused and nothing is written") {
  const std::vector<float> before(64 * 3, 7.0f);
  for (const bool with_table : {true, false}) {
    OpBench bench(metal_device());
    const Operand ids = bench.indices({0, 1, 2}), y = bench.values(64, 3, before);
    const Operand x = bench.values(64, 5, Source(1).normals(64 * 5));
    if (with_table) bench.add(GetRows{bench.weight("table", DType::q8_0, 64, 5, 1)}, {ids}, y, "embed");
    if (!with_table) bench.add(GetRows{}, {x, ids}, y, "tail");
    bench.encode();
    for (int32_t wrong : {-1, 5, INT_MIN, INT_MAX}) {
      CAPTURE(wrong);
      bench.set(ids, std::vector<int32_t>{0, wrong, 4});
      const Refused refusal = refused([&] { bench.run(); });
      CHECK(refusal.code == int(ErrorCode::bad_request));
      CHECK(refusal.message.find(with_table ? "embed" : "tail") != std::string::npos);
      CHECK(refusal.message.find(std::to_string(wrong)) != std::string::npos);
      CHECK(refusal.message.find("0 to 4") != std::string::npos);
      CHECK(same_bits(bench.read(y), before));
    }
    bench.set(ids, std::vector<int32_t>{0, 3, 4});
    bench.run();
    CHECK_FALSE(same_bits(bench.read(y), before));
  }
}

TEST_CASE("a table of another width or type is refused before anything runs") {
  OpBench bench(metal_device());
  const WeightRef table = bench.weight("table", DType::q8_0, 64, 5, 1);
  WeightRef other_type = table, other_rows = table, unknown = table;
  other_type.type = DType::q4_0;
  other_rows.rows = 6;
  unknown.name = "nobody";
  const Operand ids = bench.indices({0}), narrow = bench.result(32, 1), y = bench.result(64, 1);
  const auto refusal = [&](const WeightRef& ref, const Operand& output) {
    bench.add(GetRows{ref}, {ids}, output, "embed");
    return refused([&] { bench.encode(); }).message;
  };
  CHECK(refusal(table, narrow).find("have 64 values") != std::string::npos);
  CHECK(refusal(other_type, y).find("expected Q4_0") != std::string::npos);
  CHECK(refusal(other_rows, y).find("[64, 6]") != std::string::npos);
  CHECK(refusal(unknown, y).find("nobody is not registered") != std::string::npos);
  CHECK(refusal(table, y).empty());
}

/// Address space only: pages become memory when they are touched.
class Reserved {
 public:
  explicit Reserved(size_t bytes) : bytes_(bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    at_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    REQUIRE(at_ != MAP_FAILED);
  }
  ~Reserved() { munmap(at_, bytes_); }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(at_), bytes_}; }

 private:
  size_t bytes_;
  void* at_;
};

TEST_CASE("rows beyond four gigabytes are found") {
  const WeightRef table{"table", DType::f16, 1024, (int64_t(1) << 21) + 100};
  const size_t bytes = row_bytes(table.type, table.cols) * size_t(table.rows);
  if (checked) return;  // the checker keeps a shadow of every byte
  if (metal::Device::open()->limits().buffer_bytes < bytes) {
    MESSAGE("skipped: this device's longest buffer is shorter than the table");
    return;
  }
  const Reserved memory(bytes);
  const int32_t far = int32_t(table.rows) - 3;
  const auto put = [&](int32_t row, float value) {
    const uint16_t half = f32_to_f16(value);
    std::memcpy(&memory.bytes()[size_t(row) * 2048], &half, 2);
  };
  put(far, 3.0f);
  put(far - (1 << 21), 5.0f);  // where 32 bits of offset would look
  OpBench bench(metal_device());
  bench.backend().add_mapping(memory.bytes(), bytes);
  bench.backend().add_weight({table, memory.bytes()});
  const std::vector<float> found = gather(bench, table, {far, far - (1 << 21)});
  CHECK(found[0] == 3.0f);
  CHECK(found[1024] == 5.0f);
}

}  // namespace
}  // namespace minfer::test
