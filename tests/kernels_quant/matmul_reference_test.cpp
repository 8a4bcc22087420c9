
#include "kernels_quant/quant_test.h"
#include "tolerance.h"

/// The scalar kernels against formulas in double precision, element by element from the format's definition.
namespace minfer::cpu::test {
namespace {

/// value = part - minimum, each exact; the kernels round them separately.
struct Element {
  double part;
  double minimum = 0;
};

struct BlockBytes {
  const std::byte* p;
  int operator[](int i) const { return std::to_integer<int>(p[i]); }
  double half(int i) const { return double(f16_to_f32(uint16_t((*this)[i] | (*this)[i + 1] << 8))); }
  int i8(int i) const { return (*this)[i] - 256 * ((*this)[i] >> 7); }
};

/// Nibble e of 32: low nibbles first.
int nibble(BlockBytes b, int at, int e) { return e < 16 ? b[at + e] % 16 : b[at + e - 16] / 16; }
int high_bit(BlockBytes b, int at, int e) { return b[at + e / 8] >> (e % 8) & 1; }

Element element_k(BlockBytes b, int e, int nibbles_at, int high_at) {
  const int j = e / 32, s = 4;
  const int scale = j < 4 ? b[s + j] % 64 : b[s + j + 4] % 16 + b[s + j - 4] / 64 * 16;
  const int min = j < 4 ? b[s + j + 4] % 64 : b[s + j + 4] / 16 + b[s + j] / 64 * 16;
  const int pair = b[nibbles_at + e / 64 * 32 + e % 32];
  int q = j % 2 ? pair / 16 : pair % 16;
  if (high_at > 0) q += 16 * (b[high_at + e % 32] >> j & 1);
  return {b.half(0) * scale * q, b.half(2) * min};
}

Element element_q6_k(BlockBytes b, int e) {
  const int half = e / 128, quarter = e % 128 / 32, l = e % 32;
  const int pair = b[64 * half + 32 * (quarter % 2) + l];
  const int low = quarter < 2 ? pair % 16 : pair / 16;
  const int high = b[128 + 32 * half + l] >> (2 * quarter) & 3;
  return {b.half(208) * b.i8(192 + 8 * half + l / 16 + 2 * quarter) * (low + 16 * high - 32)};
}

Element element(DType type, BlockBytes b, int e) {
  switch (type) {
    case DType::q4_0:
      return {b.half(0) * (nibble(b, 2, e) - 8)};
    case DType::q4_1:
      return {b.half(0) * nibble(b, 4, e), -b.half(2)};
    case DType::q5_0:
      return {b.half(0) * (nibble(b, 6, e) + 16 * high_bit(b, 2, e) - 16)};
    case DType::q5_1:
      return {b.half(0) * (nibble(b, 8, e) + 16 * high_bit(b, 4, e)), -b.half(2)};
    case DType::q8_0:
      return {b.half(0) * b.i8(2 + e)};
    case DType::q4_k:
      return element_k(b, e, 16, 0);
    case DType::q5_k:
      return element_k(b, e, 48, 16);
    default:
      return element_q6_k(b, e);
  }
}

Element element_of_row(const Format& format, const std::byte* row, int64_t i) {
  return element(format.type, {row + i / format.elements * format.bytes}, int(i % format.elements));
}

}  // namespace

TEST_CASE("products of the scalar kernels are within their rounding of the exact ones") {
  constexpr int64_t rows = 7, tokens = 3, cols = 1024;
  for (const Format& format : formats()) {
    Weights w = random_weights(format, rows, cols, 0, 21, ordinary_scale);
    QuantisedTokens x(normal_values(tokens * cols, 22), cols);
    Product y(scalar_table(), format, w, x, rows, tokens);
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t r = 0; r < rows; ++r) {
        double want = 0, magnitude = 0;
        for (int64_t i = 0; i < cols; ++i) {
          const Element e = element_of_row(format, w.row(r), i);
          const double a = double(x.d[size_t((t * cols + i) / 32)]) * x.q[size_t(t * cols + i)];
          want += (e.part - e.minimum) * a;
          magnitude += (std::abs(e.part) + std::abs(e.minimum)) * std::abs(a);
        }
        INFO(format.name, " token ", t, " row ", r);
        CHECK(std::abs(double(y.at(t, r)) - want) <= tol::quantised_dot(cols / 32, magnitude));
      }
    }
  }
}

TEST_CASE("every element of the scalar kernels' rows is what the format says") {
  // One activation of 1 at a time picks one element out: quant 1, scale 1.
  for (const Format& format : formats()) {
    Weights w = random_weights(format, 2, 256, 0, 23, ordinary_scale);
    for (int64_t i = 0; i < 256; ++i) {
      QuantisedTokens x(1, 256);
      x.q[size_t(i)] = 1;
      std::fill(x.d.begin(), x.d.end(), 1.0f);
      x.set_sums();
      Product y(scalar_table(), format, w, x, 2, 1);
      for (int64_t r = 0; r < 2; ++r) {
        const Element e = element_of_row(format, w.row(r), i);
        INFO(format.name, " element ", i);
        CHECK(std::abs(double(y.at(0, r)) - (e.part - e.minimum)) <=
              tol::quantised_dot(1, std::abs(e.part) + std::abs(e.minimum)));
      }
    }
  }
}

TEST_CASE("products of scales below the half range do not vanish") {
  // Weights of 127 * 2^-12 by activations of 127 * 2^-17: 9.61363e-4 for each 32 columns. The scales'
  // product, 2^-29, is below the smallest half.
  const Format& q8_0 = formats()[4];
  REQUIRE(q8_0.type == DType::q8_0);
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    for (const int64_t cols : {32, 64, 96, 128}) {
      Weights w = random_weights(q8_0, 64, cols, 0, 24, [](std::mt19937&) { return f32_to_f16(0x1p-12f); });
      for (int64_t r = 0; r < 64; ++r) {
        for (int64_t i = 0; i < cols; ++i) w.row(r)[i / 32 * 34 + 2 + i % 32] = std::byte(127);
      }
      QuantisedTokens x(33, cols);
      std::fill(x.q.begin(), x.q.end(), int8_t(127));
      std::fill(x.d.begin(), x.d.end(), 0x1p-17f);
      x.set_sums();
      for (int64_t rows = 1; rows <= 64; ++rows) {
        for (const int64_t tokens : {1, 2, 33}) {
          Product y(*table, q8_0, w, x, rows, tokens);
          INFO(table->isa, " ", cols, " columns, ", rows, " rows, ", tokens, " tokens");
          const float want = float(127 * 127 * cols) * 0x1p-29f;
          for (int64_t t = 0; t < tokens; ++t) {
            for (int64_t r = 0; r < rows; ++r) REQUIRE(y.at(t, r) == want);
          }
        }
      }
    }
  }
}

}  // namespace minfer::cpu::test
