// Vectors, packed vectors, matrices and functions with several results.
#include <cmath>
#include <string>

#include "kernel_run.h"
#include "numbers.h"
#include "tolerance.h"

using namespace metalsim;
using namespace metalsim::test;

namespace {

void check_near(double got, double want, double magnitude, const char* what) {
  INFO(what, ": got ", got, ", want ", want, "; tolerance: ", tol::geometric.why);
  CHECK(std::fabs(got - want) <=
        tol::geometric.count * ulp(std::max(magnitude, std::fabs(want)), float_format));
}

}  // namespace

TEST_CASE("all 672 swizzles of a vector of four read their components, and pairs assign them") {
  for (const char component : std::string("xyzwrgba")) {
    CAPTURE(component);
    std::vector<int> out(2, -1);
    KernelRun(std::string("swizzles_") + component).buffer(0, out).threads(1, 1);
    CHECK(out[0] == 1);
    CHECK(out[1] == 4 + 16 + 64);
  }
}

TEST_CASE("assignment through swizzles, also to the vector that is read") {
  std::vector<float> out(9, -1);
  KernelRun("assigned_swizzles").buffer(0, out).threads(1, 1);
  // v: (30, 20, 10, 4), then w + 1 and x + 2: (32, 20, 10, 5), then b, g, r, a = v: (10, 20, 32, 5)
  // u: z = 1, x = 2: (2, 2, 1), doubled. t: swapped (6, 5), then 1 - (5, 6).
  CHECK(out == std::vector<float>{10, 20, 32, 5, 4, 4, 2, -4, -5});
}

TEST_CASE("constructors, conversions and operators of vectors") {
  std::vector<float> out(11, -1);
  KernelRun("constructors_and_operators").buffer(0, out).threads(1, 1);
  CHECK(out[0] == 3 + 20 + 200 + 4000);
  CHECK(out[1] == 3 + 20 + 200 + 0 + 70000 + 0);
  CHECK(out[2] == 1 - 10 - 300 - 5);
  CHECK(out[3] == 44);
  CHECK(out[4] == 5);
  CHECK(out[5] == 2 + 10 * 1 + 100 * 2);
  CHECK(out[6] == 3 + 20 + 425);  // p: (4, 2, 6.5); q: p / 2 + 1
  CHECK(out[7] == 8 + 80 + 300 + 4000);
  CHECK(out[8] == 1 + 20);
  CHECK(out[9] == 1 + 2.5f + 1);
  CHECK(out[10] == 35);
}

TEST_CASE("geometric functions") {
  Random random(31);
  const uint32_t count = 256;
  std::vector<float> in(count * 6), out(count * 16);
  for (float& x : in) x = float(random.between(-4, 4));
  KernelRun("geometry").buffer(0, in).buffer(1, out).threads(count, 64);
  for (uint32_t i = 0; i < count; ++i) {
    const float *a = &in[i * 6], *b = a + 3, *o = &out[i * 16];
    double dot = 0, squares = 0, apart = 0;
    for (int k = 0; k < 3; ++k) {
      dot += double(a[k]) * b[k];
      squares += double(a[k]) * a[k];
      apart += (double(a[k]) - b[k]) * (double(a[k]) - b[k]);
    }
    const double length = std::sqrt(squares);
    check_near(o[0], dot, 48, "dot");
    check_near(o[1], length, 0, "length");
    check_near(o[2], squares, 0, "length_squared");
    check_near(o[3], std::sqrt(apart), 0, "distance");
    check_near(o[4], apart, 48, "distance_squared");
    check_near(o[5], a[0] / length, 0, "normalize");
    check_near(o[6], a[2] / length, 0, "normalize");
    check_near(o[7], double(a[1]) * b[2] - double(a[2]) * b[1], 32, "cross");
    check_near(o[8], double(a[2]) * b[0] - double(a[0]) * b[2], 32, "cross");
    check_near(o[9], double(a[0]) * b[1] - double(a[1]) * b[0], 32, "cross");
    check_near(o[10], -double(a[1]), 8, "reflect");  // along its own direction: turned back
    if (std::fabs(dot) > 0.01) CHECK(o[11] == (dot < 0 ? a[0] : -a[0]));
    check_near(o[12], a[2] / length, 1, "refract");  // head on: passes straight through
  }
}

TEST_CASE("matrices by columns") {
  std::vector<float> out(6, -1);
  KernelRun("matrices").buffer(0, out).threads(1, 1);
  CHECK(out == std::vector<float>{41 + 6300, 4 + 50 + 600, 2 * 3 + 5 * 6, 25, 16 - 2, 9});
}

TEST_CASE("normalised integers") {
  std::vector<float> in{0.25f, 1.5f, -0.5f, -2.0f}, back(4);
  std::vector<uint32_t> out(4);
  KernelRun("packing").buffer(0, in).buffer(1, out).buffer(2, back).threads(1, 1);
  CHECK(out == std::vector<uint32_t>{64u | 255u << 8,
                                     32u | 127u << 8 | (256u - 64u) << 16 | (256u - 127u) << 24,
                                     16384u | 65535u << 16, (65536u - 16384u) | (65536u - 32767u) << 16});
  CHECK(back == std::vector<float>{1.0f, -64.0f / 127, 16384.0f / 65535, -1.0f});
}

TEST_CASE("functions with a second result") {
  std::vector<float> in{0.75f, -3.5f, 100.0f, 1e-3f}, out(32);
  KernelRun("parts").buffer(0, in).buffer(1, out).threads(4, 32);
  for (size_t i = 0; i < in.size(); ++i) {
    int exponent;
    double whole;
    const float* o = &out[i * 8];
    CHECK(o[0] == std::frexp(in[i], &exponent));
    CHECK(o[1] == float(exponent));
    CHECK(o[2] == float(std::modf(double(in[i]), &whole)));
    CHECK(o[3] == float(whole));
    check_near(o[4], std::sin(double(in[i])), 0, "sincos");
    check_near(o[5], std::cos(double(in[i])), 0, "sincos");
    CHECK(o[6] == in[i] * 8);
    CHECK(o[7] == float(std::ilogb(in[i])));
  }
}
