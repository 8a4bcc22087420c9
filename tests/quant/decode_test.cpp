// Decoding of every type against values decoded by an independent implementation (tests/data/quant,
// TYPE.blocks and TYPE.f32), and against blocks worked out by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include "quant/quant.h"
#include "read_file.h"

using namespace minfer;
using minfer::test::read_data;

namespace {

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return int64_t(i);
  return -1;
}

constexpr DType golden_types[] = {DType::f16,  DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                  DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k, DType::bf16};

}  // namespace

TEST_CASE("every type decodes to the golden values bit for bit") {
  for (DType type : golden_types) {
    const std::string name(info(type).name);
    CAPTURE(name);
    const auto blocks = read_data("quant/" + name + ".blocks");
    const auto want = floats(read_data("quant/" + name + ".f32"));
    REQUIRE(blocks.size() == row_bytes(type, int64_t(want.size())));
    std::vector<float> got(want.size());
    decode_row(type, blocks.data(), got.data(), int64_t(got.size()));
    CHECK(first_difference(got, want) == -1);
  }
}

TEST_CASE("blocks decode from any address and stay inside the row") {
  for (DType type : golden_types) {
    const std::string name(info(type).name);
    CAPTURE(name);
    const auto blocks = read_data("quant/" + name + ".blocks");
    const auto want = floats(read_data("quant/" + name + ".f32"));
    std::vector<std::byte> shifted(blocks.size() + 1);
    std::copy(blocks.begin(), blocks.end(), shifted.begin() + 1);
    const float guard = 12345.0f;
    std::vector<float> got(want.size() + 1, guard);
    decode_row(type, shifted.data() + 1, got.data(), int64_t(want.size()));
    CHECK(got.back() == guard);
    got.pop_back();
    CHECK(first_difference(got, want) == -1);
  }
}

TEST_CASE("f32 is itself, NaN payloads included") {
  const uint32_t patterns[] = {0, 0x80000000u, 1, 0x7f800001u, 0xffc12345u, 0x3f800000u};
  std::byte src[sizeof patterns];
  std::memcpy(src, patterns, sizeof src);
  float out[std::size(patterns)];
  decode_row(DType::f32, src, out, std::size(patterns));
  CHECK(std::memcmp(out, patterns, sizeof out) == 0);
}

TEST_CASE("hand-made blocks") {
  const auto decode = [](DType type, std::vector<int> bytes) {
    std::vector<std::byte> src(size_t(info(type).block_bytes));
    REQUIRE(bytes.size() == src.size());
    std::transform(bytes.begin(), bytes.end(), src.begin(), [](int b) { return std::byte(b); });
    std::vector<float> out(size_t(info(type).block_elements));
    decode_row(type, src.data(), out.data(), int64_t(out.size()));
    return out;
  };
  std::vector<int> block(18, 0x88);  // d = 0.5; nibbles 8 are zero
  block[0] = 0x00, block[1] = 0x38;
  block[2] = 0xf0;  // value 0: 0 - 8, value 16: 15 - 8
  auto out = decode(DType::q4_0, block);
  CHECK(out[0] == -4.0f);
  CHECK(out[16] == 3.5f);
  CHECK(out[1] == 0.0f);

  block.assign(22, 0);  // d = 1; only value 31 has its fifth bit
  block[1] = 0x3c, block[5] = 0x80;
  out = decode(DType::q5_0, block);
  CHECK(out[30] == -16.0f);
  CHECK(out[31] == 0.0f);

  block.assign(176, 0);  // d = 1, dmin = 1; sub-block 7: scale 33, minimum 18; its value 5 is 16 + 3
  block[1] = 0x3c, block[3] = 0x3c;
  block[4 + 11] = 0x21;         // low nibbles: scale 1, minimum 2
  block[4 + 3] = 2 << 6;        // upper bits of the scale: 2 -> 33
  block[4 + 7] = 1 << 6;        // upper bits of the minimum: 1 -> 18
  block[16 + 5] = 1 << 7;       // bit 7 belongs to sub-block 7
  block[48 + 96 + 5] = 3 << 4;  // high nibble of the last group
  out = decode(DType::q5_k, block);
  CHECK(out[7 * 32 + 5] == 33.0f * 19 - 18);
  CHECK(out[7 * 32 + 4] == -18.0f);

  block.assign(210, 0);  // d = 1; value 255: low bits 5 (high nibble of ql[127]), upper bits 3, scale -2
  block[209] = 0x3c;
  block[127] = 5 << 4, block[128 + 63] = 3 << 6, block[192 + 15] = 0xfe;
  out = decode(DType::q6_k, block);
  CHECK(out[255] == -2.0f * (53 - 32));
  CHECK(out[254] == 64.0f);
  CHECK(out[0] == 0.0f);
}
