// Floating-point functions against long double, on floats, vectors and every half.
#include <string>

#include "kernel_run.h"
#include "numbers.h"
#include "tolerance.h"

using namespace metalsim;
using namespace metalsim::test;

namespace {

constexpr long double pi = 3.14159265358979323846264338327950288L;
constexpr size_t samples = 3 * 1024;

long double median(long double x, long double y, long double z) {
  return std::fmax(std::fmin(x, y), std::fmin(std::fmax(x, y), z));
}
/// sin(pi x), with zeros that are zero, and none of them negative.
long double sine_of_turns(long double x) {
  const long double turn = std::fmod(x, 2.0L);
  return turn == std::trunc(turn) ? 0.0L : std::sin(pi * turn);
}
long double smooth(long double low, long double high, long double x) {
  const long double t = std::fmin(std::fmax((x - low) / (high - low), 0.0L), 1.0L);
  return t * t * (3 - 2 * t);
}

struct Function {
  const char* name;
  int arguments;
  long double (*reference)(long double x, long double y, long double z);
  double low, high;
  tol::Ulps tolerance;
  bool precise;
};

#define FUNCTION(name, count, reference, low, high, tolerance, precise)                                 \
  {#name,                                                                                               \
   count,                                                                                               \
   []([[maybe_unused]] long double x, [[maybe_unused]] long double y, [[maybe_unused]] long double z) { \
     return static_cast<long double>(reference);                                                        \
   },                                                                                                   \
   low,                                                                                                 \
   high,                                                                                                \
   tol::tolerance,                                                                                      \
   precise},
#define FLOAT1(name, reference, low, high, tolerance) \
  FUNCTION(name, 1, reference, low, high, tolerance, false)
#define FLOAT2(name, reference, low, high, tolerance) \
  FUNCTION(name, 2, reference, low, high, tolerance, false)
#define FLOAT3(name, reference, low, high, tolerance) \
  FUNCTION(name, 3, reference, low, high, tolerance, false)
#define PRECISE1(name, reference, low, high, tolerance) \
  FUNCTION(name, 1, reference, low, high, tolerance, true)
const Function functions[] = {
#include "functions.def"
};

std::vector<float> random_floats(uint64_t seed, double low, double high) {
  Random random(seed);
  std::vector<float> values(samples);
  for (float& value : values) value = float(random.between(low, high));
  values[0] = float(low);
  values[1] = float(high);
  return values;
}

/// Whether a value of a format is within the tolerance of the exact one.
bool agrees(double got, long double exact, const tol::Ulps& tolerance, const Format& format) {
  const double nearest = rounded(double(exact), format);
  if (std::isnan(nearest)) return std::isnan(got);
  if (got == nearest) return true;
  // Between the largest value and infinity counts as one step.
  if (!std::isfinite(got) || !std::isfinite(nearest))
    return tolerance.count >= 1 && std::fabs(std::isfinite(got) ? got : nearest) >= format.largest;
  return std::fabs(got - nearest) <= tolerance.count * ulp(nearest, format);
}

void check_floats(const Function& function, const std::string& suffix, uint32_t threads) {
  std::vector<float> x = random_floats(1, function.low, function.high);
  std::vector<float> y = random_floats(2, function.low, function.high);
  std::vector<float> z = random_floats(3, function.low, function.high);
  std::vector<float> out(samples, NAN);
  KernelRun run((function.precise ? "precise_" : "") + std::string(function.name) + suffix);
  run.buffer(0, x).buffer(3, out);
  if (function.arguments > 1) run.buffer(1, y);
  if (function.arguments > 2) run.buffer(2, z);
  run.threads(threads, 64);
  for (size_t i = 0; i < samples; ++i) {
    const long double exact = function.reference(x[i], y[i], z[i]);
    CAPTURE(x[i]);
    CAPTURE(y[i]);
    CAPTURE(z[i]);
    CAPTURE(out[i]);
    CAPTURE(double(exact));
    REQUIRE(agrees(out[i], exact, function.tolerance, float_format));
  }
}

}  // namespace

TEST_CASE("each function of floats agrees with long double, scalar and vector") {
  for (const Function& function : functions) {
    INFO(std::string(function.name), function.precise ? " (precise)" : "",
         "; tolerance: ", std::string(function.tolerance.why));
    check_floats(function, "_float", samples);
    check_floats(function, "_float3", samples / 3);
  }
}

TEST_CASE("each function of halves and of bfloats is the long double result rounded once") {
  constexpr size_t count = 2048;
  for (const bool half : {true, false}) {
    const Format& format = half ? half_format : bfloat_format;
    uint32_t which = 0;
    for (const Function& function : functions) {
      if (function.precise) continue;
      INFO(std::string(function.name), std::string(half ? " of half" : " of bfloat"),
           "; tolerance: ", std::string(tol::narrow_function.why));
      Random random(which + 1);
      std::vector<uint16_t> in[3], out(count);
      for (auto& argument : in)
        for (size_t i = 0; i < count; ++i)
          argument.push_back(bits_of(random.between(function.low, function.high), format));
      KernelRun(half ? "functions_of_half" : "functions_of_bfloat")
          .buffer(0, in[0])
          .buffer(1, in[1])
          .buffer(2, in[2])
          .buffer(3, out)
          .bytes(4, &which, sizeof which)
          .threads(count, 256);
      for (size_t i = 0; i < count; ++i) {
        const double x = value_of(in[0][i], format), y = value_of(in[1][i], format),
                     z = value_of(in[2][i], format);
        CAPTURE(x);
        CAPTURE(y);
        CAPTURE(z);
        const double got = value_of(out[i], format);
        const long double exact = function.reference(x, y, z);
        CAPTURE(got);
        CAPTURE(double(exact));
        REQUIRE(agrees(got, exact, tol::narrow_function, format));
      }
      ++which;
    }
  }
}

TEST_CASE("the next float and the next half, from all halves in both directions") {
  Random random(5);
  std::vector<float> in, out(2 * 4096);
  for (size_t i = 0; i < out.size(); ++i)
    in.push_back(float(random.between(-1, 1) * std::pow(10.0, double(i % 80) - 40)));
  in[0] = in[1] = 0;
  in[2] = 0;
  in[4] = std::numeric_limits<float>::max(), in[5] = std::numeric_limits<float>::infinity();
  KernelRun("next_float").buffer(0, in).buffer(1, out).threads(4096, 256);
  for (size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == std::nextafter(in[i], in[i ^ 1]));

  std::vector<uint16_t> halves, next(2 * 65536);
  for (size_t i = 0; i < next.size(); i += 2) {
    halves.push_back(uint16_t(i / 2));
    halves.push_back(uint16_t(random.bits()));
  }
  KernelRun("next_half").buffer(0, halves).buffer(1, next).threads(65536, 256);
  for (size_t i = 0; i < next.size(); ++i) {
    const double x = value_of(halves[i], half_format), y = value_of(halves[i ^ 1], half_format);
    const double got = value_of(next[i], half_format);
    CAPTURE(x);
    CAPTURE(y);
    if (std::isnan(x) || std::isnan(y)) {
      REQUIRE(std::isnan(got));
    } else if (std::isinf(x)) {  // back to the largest
      REQUIRE(std::fabs(got) == (x == y ? std::fabs(x) : half_format.largest));
    } else if (x == y) {
      REQUIRE(got == y);
    } else {  // the neighbour: beyond a power of two, the ones below are half as far apart
      const double step = ulp(x, half_format);
      const bool inwards = (y < x) == (x > 0) && x != 0;
      const bool power = x != 0 && std::fabs(x) == std::ldexp(1.0, std::ilogb(x)) &&
                         std::ilogb(x) > half_format.least_exponent;
      const double want = x + (y > x ? 1 : -1) * (inwards && power ? step / 2 : step);
      REQUIRE(got == (std::fabs(want) > half_format.largest ? std::copysign(INFINITY, want) : want));
    }
  }
}

TEST_CASE("each function of one half, for all 65,536 halves, is the long double result rounded once") {
  std::vector<uint16_t> x(65536), out(65536);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint16_t(i);
  for (const Function& function : functions) {
    if (function.arguments != 1 || function.precise) continue;
    INFO(std::string(function.name), function.precise ? " (precise)" : "",
         "; tolerance: ", std::string(function.tolerance.why));
    KernelRun(std::string(function.name) + "_half").buffer(0, x).buffer(3, out).threads(65536, 256);
    for (size_t i = 0; i < x.size(); ++i) {
      const double in = value_of(x[i], half_format);
      if (!std::isfinite(in)) continue;
      const long double exact = function.reference(in, 0, 0);
      const double got = value_of(out[i], half_format);
      CAPTURE(in);
      CAPTURE(got);
      CAPTURE(double(exact));
      REQUIRE(agrees(got, exact, tol::narrow_function, half_format));
    }
  }
}
