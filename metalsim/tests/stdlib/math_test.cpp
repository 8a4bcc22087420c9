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
