// Half and bfloat: every conversion of 16-bit values, and operations with exactly one rounding.
#include <algorithm>
#include <string>

#include "kernel_run.h"
#include "numbers.h"

using namespace metalsim::test;

namespace {

const Format& format_of(const std::string& type) { return type == "half" ? half_format : bfloat_format; }

std::vector<uint16_t> all_bits() {
  std::vector<uint16_t> bits(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = uint16_t(i);
  return bits;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Floats whose rounding is interesting: every narrow value, the middle to its neighbour, and one float
/// beside the middle on each side.
std::vector<float> floats_around(const Format& format) {
  std::vector<float> floats;
  for (uint32_t i = 0; i < 65536; ++i) {
    const double value = value_of(uint16_t(i), format);
    const double middle = std::isfinite(value) ? value + ulp(value, format) / 2 : value;
    for (const double x : {value, middle}) floats.push_back(float(x));
    floats.push_back(std::nextafter(float(middle), 0.0f));
    floats.push_back(std::nextafter(float(middle), std::numeric_limits<float>::infinity()));
  }
  return floats;
}

void check_operations(const std::string& type, const std::string& suffix, uint32_t width) {
  const Format& format = format_of(type);
  Random random(17);
  std::vector<uint16_t> x(65536 * 2), y(x.size()), out(x.size() * 5);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = uint16_t(i);  // every value, twice, with random partners
    y[i] = uint16_t(random.bits());
  }
  KernelRun(type + suffix + "_operations")
      .buffer(0, x)
      .buffer(1, y)
      .buffer(2, out)
      .threads(uint32_t(x.size()) / width, 256);
  const auto got = [&](size_t i, size_t operation) {
    return value_of(out[(i / width * 5 + operation) * width + i % width], format);
  };
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = value_of(x[i], format), b = value_of(y[i], format);
    const double product = rounded(a * b, format);
    // The sum and product of two narrow values are exact in a double, up to a bit far below the rounding.
    const double exact[] = {a + b, a - b, a * b, a / b, product + a};
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    for (size_t operation = 0; operation < 5; ++operation) {
      INFO(type, suffix, " operation ", operation, " of ", a, " and ", b, ": got ", got(i, operation));
      REQUIRE(same(got(i, operation), rounded(exact[operation], format)));
    }
  }
}

}  // namespace

TEST_CASE("all 65,536 values of half and bfloat convert to float exactly") {
  for (const std::string type : {"half", "bfloat"}) {
    std::vector<uint16_t> in = all_bits();
    std::vector<float> out(in.size());
    KernelRun(type + "_to_float").buffer(0, in).buffer(1, out).threads(65536, 256);
    for (size_t i = 0; i < in.size(); ++i) {
      INFO(type, " ", i);
      REQUIRE(same(out[i], value_of(in[i], format_of(type))));
    }
  }
}

TEST_CASE("float to half and bfloat rounds to nearest, ties to even, at and around every value") {
  for (const std::string type : {"half", "bfloat"}) {
    const Format& format = format_of(type);
    std::vector<float> in = floats_around(format);
    std::vector<uint16_t> out(in.size()), out4(in.size());
    KernelRun("float_to_" + type).buffer(0, in).buffer(1, out).threads(uint32_t(in.size()), 256);
    KernelRun("float4_to_" + type + "4").buffer(0, in).buffer(1, out4).threads(uint32_t(in.size()) / 4, 256);
    for (size_t i = 0; i < in.size(); ++i) {
      INFO(type, "(", in[i], ")");
      REQUIRE(same(value_of(out[i], format), rounded(in[i], format)));
      REQUIRE(out4[i] == out[i]);
    }
  }
}

TEST_CASE("half and bfloat to int truncates; short to half and bfloat rounds once") {
  for (const std::string type : {"half", "bfloat"}) {
    const Format& format = format_of(type);
    std::vector<uint16_t> in = all_bits(), narrow(in.size());
    for (uint16_t& bits : in)
      if (!(std::fabs(value_of(bits, format)) < 0x1p31)) bits = 0;  // Metal leaves these undefined
    std::vector<int32_t> out(in.size());
    KernelRun(type + "_to_int").buffer(0, in).buffer(1, out).threads(65536, 256);
    std::vector<int16_t> shorts(65536);
    for (size_t i = 0; i < shorts.size(); ++i) shorts[i] = int16_t(i);
    KernelRun("short_to_" + type).buffer(0, shorts).buffer(1, narrow).threads(65536, 256);
    for (size_t i = 0; i < in.size(); ++i) {
      REQUIRE(out[i] == int32_t(std::trunc(value_of(in[i], format))));
      REQUIRE(value_of(narrow[i], format) == rounded(shorts[i], format));
    }
  }
}

TEST_CASE("operations of half and bfloat round exactly once, scalar and vector") {
  for (const std::string type : {"half", "bfloat"}) {
    check_operations(type, "", 1);
    check_operations(type, "4", 4);
  }
}

TEST_CASE("fma of halves rounds once") {
  Random random(19);
  std::vector<uint16_t> x(65536), y(x.size()), z(x.size()), out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint16_t(i), y[i] = uint16_t(random.bits()), z[i] = uint16_t(random.bits());
  KernelRun("half_fma").buffer(0, x).buffer(1, y).buffer(2, z).buffer(3, out).threads(65536, 256);
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = value_of(x[i], half_format), b = value_of(y[i], half_format),
                 c = value_of(z[i], half_format);
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    // x87's 64-bit significand holds the exact sum wherever two roundings could differ from one.
    const long double exact = (long double)a * b + c;
    if (double(exact) != exact) continue;
    INFO("fma(", a, ", ", b, ", ", c, ")");
    REQUIRE(same(value_of(out[i], half_format), rounded(double(exact), half_format)));
  }
}

TEST_CASE("classes of every half") {
  std::vector<uint16_t> in = all_bits();
  std::vector<uint32_t> out(in.size());
  KernelRun("half_classes").buffer(0, in).buffer(1, out).threads(65536, 256);
  for (size_t i = 0; i < in.size(); ++i) {
    const double x = value_of(in[i], half_format);
    const bool nan = std::isnan(x), normal = std::isfinite(x) && std::fabs(x) >= 0x1p-14;
    const uint32_t want = nan | std::isinf(x) << 1 | std::isfinite(x) << 2 | normal << 3 |
                          (in[i] >> 15) << 4 | nan << 5 | !nan << 6;
    INFO(i);
    REQUIRE((out[i] & (nan ? 0x6fu : 0x7fu)) == (want & (nan ? 0x6fu : 0x7fu)));  // a NaN's sign may be lost
  }
}
