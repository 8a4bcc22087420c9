#include "kernels/kernel_test.h"
#include "tolerance.h"

using namespace minfer;
using namespace minfer::cpu;
using namespace minfer::cpu::test;

namespace {

/// Distance from the true e^x in units of the f32 result's last place (of the smallest subnormal, at least).
double ulps_off(float x) {
  const double want = std::exp(double(x));
  int exponent;
  std::frexp(want, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(double(exp_f32(x)) - want) / ulp;
}

/// Every sign, exponent and a few mantissas: all floats that behave differently.
std::vector<float> every_exponent() {
  std::vector<float> values;
  for (uint32_t high = 0; high < 512; ++high) {
    for (const uint32_t low : {0u, 1u, 0x200000u, 0x400000u, 0x55aa55u, 0x7fffffu}) {
      values.push_back(std::bit_cast<float>(high << 23 | low));
    }
  }
  return values;
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr double largest_f32 = std::numeric_limits<float>::max();

}  // namespace

TEST_CASE("exp_f32 is within its bound over every exponent and a million random values") {
  std::vector<float> values = every_exponent();
  std::mt19937 rng(7);
  std::uniform_real_distribution<float> uniform(-105.0f, 90.0f);
  for (int i = 0; i < 1000000; ++i) values.push_back(uniform(rng));
  double worst = 0;
  for (const float x : values) {
    // Between the largest float and 89, either it or infinity is an answer of 2 ulp; no smaller x overflows.
    if (std::isnan(x) || std::exp(double(x)) > largest_f32) continue;
    const double off = ulps_off(x);
    if (off > worst) worst = off;
    CAPTURE(x);
    REQUIRE(off <= tol::exp_ulps);
  }
  MESSAGE("largest error seen: " << worst << " ulp");
}

TEST_CASE("exp_f32 at its edges") {
  CHECK(exp_f32(0.0f) == 1.0f);
  CHECK(exp_f32(-0.0f) == 1.0f);
  CHECK(exp_f32(inf) == inf);
  CHECK(exp_f32(-inf) == 0.0f);
  CHECK(exp_f32(std::nextafter(89.0f, inf)) == inf);
  CHECK(exp_f32(88.73f) == inf);  // e^88.73 = 3.4056e38, above the largest float 3.4028e38
  CHECK(std::isfinite(exp_f32(88.72f)));
  CHECK(exp_f32(std::nextafter(-104.0f, -inf)) == 0.0f);
  CHECK(exp_f32(-103.9f) == 0x1p-149f);  // 7.53e-46 is nearer to the smallest subnormal 1.40e-45 than to 0
  CHECK(std::isnan(exp_f32(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("the vectors' exp has exp_f32's bits over every exponent") {
  std::vector<float> values = every_exponent();
  for (float& v : normal_values(100000, 5, 40.0f)) values.push_back(v);
  const auto n = int64_t(values.size());
  for (const KernelTable* table : vector_tables()) {
    Guarded<float> x(values, 1), want(n), got(n);
    scalar_table().silu_f32(want.data(), x.data(), n);
    table->silu_f32(got.data(), x.data(), n);
    CHECK(first_difference(got, want) == -1);
  }
}
