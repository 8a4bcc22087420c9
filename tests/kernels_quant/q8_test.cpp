#include "kernels_quant/quant_test.h"
#include "quant/quant.h"
#include "tolerance.h"

/// The 8-bit quantiser of activations and of the Q8_0 cache.
namespace minfer::cpu::test {
namespace {

std::vector<const KernelTable*> tables_here() {
  std::vector<const KernelTable*> tables = vector_tables();
  tables.push_back(&scalar_table());
  return tables;
}

/// A block whose largest magnitude is 127, so that quants are the values rounded: x * (127 / 127).
std::vector<float> block_of(std::vector<float> values) {
  values.resize(31, 0.0f);
  values.push_back(127.0f);
  return values;
}

}  // namespace

TEST_CASE("quantise_q8 rounds halves to even and clamps nothing in range") {
  const std::vector<float> x =
      block_of({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f, -126.5f, 125.5f, 0.49999997f});
  const int want[] = {0, 2, 2, 0, -2, -2, 126, -126, 126, 0};
  for (const KernelTable* table : tables_here()) {
    INFO(table->isa);
    int8_t q[32];
    float d;
    int32_t sum[2];
    table->quantise_q8({q, &d, sum}, x.data(), 32);
    for (size_t i = 0; i < std::size(want); ++i) CHECK(int(q[i]) == want[i]);
    CHECK(int(q[31]) == 127);
    CHECK(d == 1.0f);
    CHECK(sum[0] == 126);
    CHECK(sum[1] == 127);
  }
}

TEST_CASE("store_q8_0 writes a half scale and the same quants") {
  const std::vector<float> x = block_of({1.5f, -127.0f});
  for (const KernelTable* table : tables_here()) {
    INFO(table->isa);
    std::byte block[34];
    table->store_q8_0(block, x.data(), 32);
    const int want[] = {0x00, 0x3c, 2, 0x81, 0};  // 1.0 as a half, then quants 2, -127, 0
    for (size_t i = 0; i < std::size(want); ++i) CHECK(std::to_integer<int>(block[i]) == want[i]);
    CHECK(std::to_integer<int>(block[33]) == 127);
    float back[32];
    table->load_q8_0(back, block, 32);
    CHECK(back[0] == 2.0f);
    CHECK(back[1] == -127.0f);
    CHECK(back[31] == 127.0f);
  }
}

TEST_CASE("blocks of zeros, tiny values and values that are not finite") {
  for (const KernelTable* table : tables_here()) {
    INFO(table->isa);
    std::vector<float> x(32 * 5, 0.0f);
    x[32 + 3] = 1e-40f;  // 127 / amax overflows: zeros stay 0, the value itself is the largest quant
    x[64] = std::numeric_limits<float>::quiet_NaN();
    x[96 + 31] = -std::numeric_limits<float>::infinity();
    x[128] = -std::numeric_limits<float>::max();
    std::vector<int8_t> q(x.size());
    std::vector<float> d(5);
    std::vector<int32_t> sum(10);
    table->quantise_q8({q.data(), d.data(), sum.data()}, x.data(), int64_t(x.size()));
    CHECK(d[0] == 0.0f);
    CHECK(sum[0] == 0);
    CHECK(sum[1] == 0);
    CHECK(d[1] == 1e-40f / 127.0f);
    CHECK(int(q[32 + 3]) == 127);
    CHECK(sum[2] == 127);
    CHECK(std::isnan(d[2]));
    CHECK(std::isnan(d[3]));
    CHECK(int(q[128]) == -127);
    CHECK(d[4] == std::numeric_limits<float>::max() / 127.0f);
  }
}

TEST_CASE("a block so small that 127 / amax overflows, among blocks that are not") {
  std::vector<float> x(32 * 4, 1.0f);
  for (size_t i = 64; i < 96; ++i) x[i] = i % 2 ? 1e-40f : -0.5e-40f;
  for (const KernelTable* table : tables_here()) {
    INFO(table->isa);
    int8_t q[128];
    float d[4];
    int32_t sum[8];
    table->quantise_q8({q, d, sum}, x.data(), 128);
    for (size_t i = 0; i < 128; ++i) CHECK(int(q[i]) == (i / 32 != 2 || i % 2 ? 127 : -127));
    for (const int b : {0, 1, 3}) CHECK(d[b] == 1.0f / 127.0f);
    CHECK(d[2] == 1e-40f / 127.0f);
    CHECK(sum[4] == 0);
  }
}

TEST_CASE("the quantisers and load_q8_0 have the reference's bits") {
  for (const KernelTable* table : vector_tables()) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
      const int64_t n = 32 * (1 + seed % 7), blocks = n / 32;
      const std::vector<float> x = seed % 2 ? wild_values(n, seed) : normal_values(n, seed, 0.3f);
      Guarded<int8_t> q(n, 1), q_want(n, 1);
      Guarded<float> d(blocks), d_want(blocks), back(n), back_want(n);
      Guarded<int32_t> sum(2 * blocks), sum_want(2 * blocks);
      table->quantise_q8({q.data(), d.data(), sum.data()}, x.data(), n);
      scalar_table().quantise_q8({q_want.data(), d_want.data(), sum_want.data()}, x.data(), n);
      Guarded<uint8_t> block(34 * blocks, 1), block_want(34 * blocks, 1);
      table->store_q8_0(reinterpret_cast<std::byte*>(block.data()), x.data(), n);
      scalar_table().store_q8_0(reinterpret_cast<std::byte*>(block_want.data()), x.data(), n);
      table->load_q8_0(back.data(), reinterpret_cast<const std::byte*>(block_want.data()), n);
      scalar_table().load_q8_0(back_want.data(), reinterpret_cast<const std::byte*>(block_want.data()), n);
      INFO(table->isa, " seed ", seed);
      REQUIRE(first_difference(q, q_want) == -1);
      REQUIRE(first_difference(d, d_want) == -1);
      REQUIRE(first_difference(sum, sum_want) == -1);
      REQUIRE(first_difference(block, block_want) == -1);
      REQUIRE(first_difference(back, back_want) == -1);
      REQUIRE((q.guards_intact() && d.guards_intact() && sum.guards_intact() && block.guards_intact() &&
               back.guards_intact()));
    }
  }
}

TEST_CASE("store_q8_0 is the one Q8_0 quantiser") {
  constexpr float deviations[] = {1e-41f, 1e-37f, 1e-6f, 1.0f, 1e6f, 1e37f};
  for (const KernelTable* table : tables_here()) {
    for (const float deviation : deviations) {
      const std::vector<float> x = normal_values(32 * 50, 12, deviation);
      std::vector<std::byte> block(34 * 50), want(34 * 50);
      table->store_q8_0(block.data(), x.data(), int64_t(x.size()));
      quantise_row_q8_0(x.data(), want.data(), int64_t(x.size()));
      INFO(table->isa, " deviation ", deviation);
      CHECK((block == want));
    }
  }
}

TEST_CASE("quantised values are within half a step of the values") {
  const std::vector<float> x = normal_values(32 * 100, 11);
  QuantisedTokens tokens(x, int64_t(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = tokens.d[i / 32];
    REQUIRE(std::abs(double(x[i]) - d * tokens.q[i]) <= tol::q8_step * d);
  }
}

}  // namespace minfer::cpu::test
