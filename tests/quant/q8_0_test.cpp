// The Q8_0 quantiser against its definition in double precision.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/fp16.h"
#include "quant/quant.h"

using namespace minfer;

namespace {

struct Q8Block {
  uint16_t d;
  std::array<int, 32> q;
};

Q8Block quantise(const std::array<float, 32>& x) {
  std::byte bytes[34];
  quantise_row_q8_0(x.data(), bytes, 32);
  Q8Block block{};
  block.d = uint16_t(uint16_t(bytes[0]) | uint16_t(bytes[1]) << 8);
  for (int e = 0; e < 32; ++e) block.q[size_t(e)] = int(int8_t(bytes[2 + e]));
  return block;
}

/// Each operation of the definition in double, then rounded to float once: for one division or product of
/// floats that equals the float operation, since a double has more than twice a float's digits.
Q8Block reference(const std::array<float, 32>& x) {
  double amax = 0;
  for (float v : x) amax = std::max(amax, std::fabs(double(v)));
  Q8Block block{};
  block.d = f32_to_f16(float(amax / 127.0));
  if (amax == 0) return block;
  const auto reciprocal = float(127.0 / amax);
  for (int e = 0; e < 32; ++e) {
    const auto product = double(float(double(x[size_t(e)]) * double(reciprocal)));
    const double down = std::floor(product), rest = product - down;
    double q = rest < 0.5 || (rest == 0.5 && std::fmod(down, 2.0) == 0) ? down : down + 1;
    q = std::min(127.0, std::max(-127.0, q));
    block.q[size_t(e)] = int(q);
  }
  return block;
}

std::array<float, 32> all(float v) {
  std::array<float, 32> x;
  x.fill(v);
  return x;
}

}  // namespace

TEST_CASE("random blocks of every magnitude match the definition") {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const float magnitude = std::ldexp(1.0f, i % 200 - 100);
    std::array<float, 32> x;
    for (float& v : x) v = normal(random) * magnitude;
    const Q8Block got = quantise(x), want = reference(x);
    wrong += got.d != want.d || got.q != want.q;
  }
  CHECK(wrong == 0);
}

TEST_CASE("ties go to even") {
  auto x = all(0);
  x[0] = 127;  // reciprocal 1: every value is its own quotient
  for (int e = 1; e < 32; ++e) x[size_t(e)] = float(e - 16) + 0.5f;
  const Q8Block got = quantise(x);
  CHECK(got.d == f32_to_f16(1.0f));
  CHECK(got.q[0] == 127);
  CHECK(got.q[1] == -14);  // -14.5
  CHECK(got.q[2] == -14);  // -13.5
  CHECK(got.q[15] == 0);   // -0.5
  CHECK(got.q[16] == 0);   // 0.5
  CHECK(got.q[17] == 2);   // 1.5
  CHECK(got.q[18] == 2);   // 2.5
  CHECK(got.q == reference(x).q);
}

TEST_CASE("zero, tiny, huge and non-finite blocks") {
  Q8Block got = quantise(all(0));
  CHECK(got.d == 0);
  CHECK(got.q == std::array<int, 32>{});

  auto x = all(0);
  x[3] = std::numeric_limits<float>::max();
  x[4] = -x[3];
  got = quantise(x);
  CHECK(got.d == 0x7c00);  // 2.7e36 is no half
  CHECK(got.q[3] == 127);
  CHECK(got.q[4] == -127);
  CHECK(got.q[0] == 0);

  x = all(0);
  x[5] = std::numeric_limits<float>::denorm_min();  // its reciprocal is infinite
  got = quantise(x);
  CHECK(got.d == 0);
  CHECK(got.q[5] == 127);
  CHECK(got.q[0] == 0);

  x = all(1);
  x[6] = std::nanf("");
  got = quantise(x);
  CHECK(got.q[6] == 0);
  CHECK(got.q[7] == 127);
}

TEST_CASE("rows are quantised block by block") {
  std::vector<float> x(96);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i)) * float(1 + i / 32);
  std::vector<std::byte> row(3 * 34), block(34);
  quantise_row_q8_0(x.data(), row.data(), 96);
  for (int b = 0; b < 3; ++b) {
    quantise_row_q8_0(x.data() + b * 32, block.data(), 32);
    CHECK(std::memcmp(row.data() + b * 34, block.data(), 34) == 0);
  }
}
