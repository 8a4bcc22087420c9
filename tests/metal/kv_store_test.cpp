#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/fp16.h"
#include "graph/kv_format.h"
#include "metal/metal_device.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

/// One row as the format keeps it, from base/fp16.h and the plain quantiser.
std::vector<std::byte> stored(KvFormat format, const float* x, int64_t width) {
  std::vector<std::byte> row(kv_row_bytes(format, width));
  if (format == KvFormat::f32) std::memcpy(row.data(), x, row.size());
  if (format == KvFormat::q8_0) quantise_row_q8_0(x, row.data(), width);
  for (int64_t i = 0; format == KvFormat::f16 && i < width; ++i) {
    const uint16_t half = f32_to_f16(x[i]);
    std::memcpy(row.data() + 2 * i, &half, sizeof half);
  }
  return row;
}

/// Stores rows at `cells` of a region of n_ctx cells and compares both regions with the host's, cell by cell;
/// cells that no row names stay zero. A cell named twice has its later row.
void check_store(KvFormat format, int64_t width, const std::vector<int32_t>& cells,
                 const std::vector<float>& k, const std::vector<float>& v, int64_t n_ctx) {
  CAPTURE(name(format));
  CAPTURE(width);
  const int64_t tokens = int64_t(cells.size());
  OpBench bench(metal_device());
  bench.regions(format, width, n_ctx);
  bench.add(KvStore{0, width, format},
            {bench.values(width, tokens, k), bench.values(width, tokens, v), bench.indices(cells)},
            bench.region(width));
  bench.run();
  const size_t bytes = kv_row_bytes(format, width);
  for (const bool keys : {true, false}) {
    std::vector<std::byte> right(bytes * size_t(n_ctx));
    for (int64_t t = 0; t < tokens; ++t) {
      const std::vector<std::byte> row = stored(format, (keys ? k : v).data() + t * width, width);
      std::memcpy(right.data() + size_t(cells[size_t(t)]) * bytes, row.data(), bytes);
    }
    CHECK(bench.region_bytes(keys) == right);
  }
}

// The device's bytes are the host quantiser's.
TEST_CASE("packed store") {
  for (const int64_t width : {64, 96, 128, 1024}) {
    const std::vector<float> k = Source(1).normals(width * 3), v = Source(2).normals(width * 3);
    check_store(KvFormat::q8_0, width, {6, 2, 0}, k, v, 7);
  }
}

TEST_CASE("f32 and f16 rows of any width are the host's, one token and many") {
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16}) {
    for (const int64_t width : {4, 20, 64, 250, 256, 257, 1024}) {
      if (format == KvFormat::f16 && width % 2 != 0) continue;
      check_store(format, width, {5}, Source(1).normals(width), Source(2).normals(width), 6);
      check_store(format, width, {1, 4, 2}, Source(1).normals(3 * width), Source(2).normals(3 * width), 6);
    }
  }
}

/// Largest values of a block whose scale amax / 127 is another half when the quotient is a product with 1 /
/// 127, as fast math would have it: next to a quotient half way between two halves.
std::vector<float> scales_that_a_reciprocal_misses() {
  std::vector<float> found;
  const float reciprocal = 1.0f / 127.0f;
  for (int tie = 1; tie < 2048; tie += 2) {
    float amax = 127.0f * (1.0f + float(tie) * 0x1p-11f);
    for (int step = 0; step < 4; ++step, amax = std::nextafter(amax, 1000.0f)) {
      if (f32_to_f16(amax / 127.0f) != f32_to_f16(amax * reciprocal)) found.push_back(amax);
    }
  }
  return found;
}

TEST_CASE("packed store: values that make rounding decide") {
  // Of magnitude m in every power of two that a half and its quotients know, with ties of x * 127 / amax.
  std::vector<float> values;
  Source random(3);
  for (int exponent = -30; exponent <= 15; ++exponent) {
    for (int i = 0; i < 32; ++i) values.push_back(std::ldexp(random.normal(), exponent));
  }
  for (int block = 0; block < 32; ++block) {  // amax = 127: quotients are the values, halves of which tie
    values.push_back(127.0f);
    for (int i = 1; i < 32; ++i) values.push_back(0.5f * float(random.integer(-254, 254)));
  }
  const std::vector<float> scales = scales_that_a_reciprocal_misses();
  REQUIRE(!scales.empty());
  for (const float amax : scales) {
    for (int i = 0; i < 32; ++i) values.push_back(i == 9 ? amax : random.normal());
  }
  for (int i = 0; i < 32; ++i) values.push_back(0.0f);
  for (int i = 0; i < 32; ++i) values.push_back(i == 5 ? -1e-38f : 0.0f);  // 127 / amax overflows
  const int64_t width = 96;
  while (values.size() % size_t(width) != 0) values.push_back(random.normal());
  const int64_t tokens = int64_t(values.size()) / width;
  std::vector<int32_t> cells;
  for (int32_t t = 0; t < tokens; ++t) cells.push_back(t);
  check_store(KvFormat::q8_0, width, cells, values, values, tokens);
}

TEST_CASE("f16 store rounds to nearest even, subnormals and overflow included") {
  const std::vector<float> edges = {0.0f,       -0.0f,      1.0f,        1.00048828125f, 1.00146484375f,
                                    2049.0f,    2051.0f,    65504.0f,    65519.0f,       65520.0f,
                                    -70000.0f,  0x1p-14f,   0x1p-15f,    0x1p-24f,       0x1p-25f,
                                    0x1.8p-24f, 0x1.8p-25f, -0x1.4p-24f, 3.1f,           -2.7f};
  check_store(KvFormat::f16, 20, {1}, edges, edges, 2);
}

TEST_CASE("a cell that two tokens name has the later one's row") {
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    const int64_t width = 128;
    check_store(format, width, {3, 1, 3, 0, 1}, Source(1).normals(5 * width), Source(2).normals(5 * width),
                5);
  }
}

TEST_CASE("metal_kvcache_store_refuses_a_cell_past_the_arena") {
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    for (const int32_t wrong : {8, 1000000, -1}) {
      OpBench bench(metal_device());
      bench.regions(format, 64, 8);
      const Operand x = bench.values(64, 3, Source(1).normals(3 * 64)), y = bench.result(64, 3);
      const Operand cells = bench.indices({0, 1, wrong});
      bench.add(Add{}, {x, x}, y);
      bench.add(KvStore{0, 64, format}, {x, x, cells}, bench.region(64), "blk.0.kv_store");
      const Refused r = refused([&] { bench.run(); });
      CHECK(r.code == int(ErrorCode::bad_request));
      CHECK(r.message.find("blk.0.kv_store: KV cell " + std::to_string(wrong)) != std::string::npos);
      CHECK(bench.region_bytes(true) == std::vector<std::byte>(8 * kv_row_bytes(format, 64)));
      CHECK(bench.region_bytes(false) == std::vector<std::byte>(8 * kv_row_bytes(format, 64)));
      CHECK(bench.read(y) == std::vector<float>(3 * 64));  // nothing before it ran either
    }
  }
}

}  // namespace
}  // namespace minfer::test
