// Simdgroup matrices against plain loops in double.
#include <cmath>
#include <string>

#include "kernel_run.h"
#include "numbers.h"
#include "tolerance.h"

using namespace metalsim;
using namespace metalsim::test;

namespace {

/// Elements of one type as the kernel sees them, with their values as doubles.
struct Elements {
  std::string type;
  std::vector<uint8_t> bytes;

  Elements(const std::string& of, size_t count) : type(of), bytes(count * size_of(of), 0xff) {}
  static size_t size_of(const std::string& type) { return type == "float" ? 4 : 2; }
  static const Format& format(const std::string& type) {
    return type == "float" ? float_format : type == "half" ? half_format : bfloat_format;
  }
  double get(size_t i) const {
    if (type == "float") {
      float x;
      std::memcpy(&x, &bytes[i * 4], 4);
      return x;
    }
    uint16_t bits;
    std::memcpy(&bits, &bytes[i * 2], 2);
    return value_of(bits, format(type));
  }
  /// Small multiples of 1/16: exact in every type.
  void fill(uint64_t seed) {
    Random random(seed);
    for (size_t i = 0; i < bytes.size() / size_of(type); ++i) {
      const float x = float(int(random.bits() >> 59) - 16) / 16;
      if (type == "float") {
        std::memcpy(&bytes[i * 4], &x, 4);
      } else if (type == "bfloat") {
        const uint16_t bits = uint16_t(bits_as<uint32_t>(x) >> 16);
        std::memcpy(&bytes[i * 2], &bits, 2);
      } else {
        uint16_t bits = 0;
        while (value_of(bits, half_format) != x) ++bits;
        std::memcpy(&bytes[i * 2], &bits, 2);
      }
    }
  }
};

void bind(KernelRun& run, int index, Elements& elements) {
  run.bytes(index, elements.bytes.data(), elements.bytes.size());
}

}  // namespace

TEST_CASE("matrices load and store with strides, origins and transposition") {
  for (const std::string type : {"float", "half", "bfloat"}) {
    Elements in(type, 16 * 24), out(type, 192 + 20 * 9 + 10);
    in.fill(1);
    KernelRun run("load_store_" + type);
    bind(run, 0, in);
    bind(run, 1, out);
    run.threadgroup(0, 256).threads(32, 32);
    for (size_t r = 0; r < 8; ++r)
      for (size_t c = 0; c < 8; ++c) {
        INFO(type, " row ", r, " column ", c);
        REQUIRE(out.get(r * 8 + c) == in.get(r * 24 + c));
        REQUIRE(out.get(64 + r * 8 + c) == in.get((3 + c) * 24 + 5 + r));
        REQUIRE(out.get(128 + r * 8 + c) == in.get((3 + r) * 24 + 5 + c));
        REQUIRE(out.get(192 + (r + 1) * 20 + 2 + c) == in.get(c * 8 + r));
      }
    CHECK(std::isnan(out.get(192)));  // nothing but the 64 elements is written
    CHECK(std::isnan(out.get(192 + 20 + 10)));
  }
}

TEST_CASE("products of matrices, with one rounding to the result's type") {
  const std::string cases[][3] = {{"float", "float", "float"},
                                  {"half", "half", "half"},
                                  {"bfloat", "bfloat", "bfloat"},
                                  {"half_float", "half", "float"},
                                  {"bfloat_float", "bfloat", "float"}};
  for (const auto& [name, narrow, wide] : cases) {
    Elements a(narrow, 64), b(narrow, 64), c(wide, 64), out(wide, 128);
    a.fill(2);
    b.fill(3);
    c.fill(4);
    KernelRun run("products_" + name);
    bind(run, 0, a);
    bind(run, 1, b);
    bind(run, 2, c);
    bind(run, 3, out);
    run.threads(32, 32);
    for (size_t r = 0; r < 8; ++r)
      for (size_t col = 0; col < 8; ++col) {
        double product = 0;
        for (size_t k = 0; k < 8; ++k) product += a.get(r * 8 + k) * b.get(k * 8 + col);
        // The inputs are multiples of 1/16 below 1: sums are exact in float, so only the last rounding is
        // left.
        const Format& format = Elements::format(wide);
        INFO(name, " row ", r, " column ", col);
        REQUIRE(out.get(r * 8 + col) == rounded(product, format));
        REQUIRE(out.get(64 + r * 8 + col) == rounded(product + c.get(r * 8 + col), format));
      }
  }
}

TEST_CASE("products of matrices of any floats are near the exact ones") {
  Random random(9);
  std::vector<float> a(64), b(64), c(64), out(128);
  for (auto* v : {&a, &b, &c})
    for (float& x : *v) x = float(random.between(-10, 10));
  KernelRun("products_float").buffer(0, a).buffer(1, b).buffer(2, c).buffer(3, out).threads(32, 32);
  for (size_t r = 0; r < 8; ++r)
    for (size_t col = 0; col < 8; ++col) {
      double sum = c[r * 8 + col], magnitude = std::fabs(sum);
      for (size_t k = 0; k < 8; ++k) {
        sum += double(a[r * 8 + k]) * b[k * 8 + col];
        magnitude += std::fabs(double(a[r * 8 + k]) * b[k * 8 + col]);
      }
      INFO(tol::matrix_product.why);
      REQUIRE(std::fabs(out[64 + r * 8 + col] - sum) <=
              tol::matrix_product.count * ulp(magnitude, float_format));
    }
}

TEST_CASE("each lane reaches its two elements, and all see what it wrote") {
  std::vector<float> in(64), out(320, NAN);
  for (size_t i = 0; i < 64; ++i) in[i] = float(i + 1);
  KernelRun("elements").buffer(0, in).buffer(1, out).threads(32, 32);
  std::vector<float> want(64, NAN);
  std::vector<float> more(64, 0.0f);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    // Apple's layout, as those who use it have found: quads of lanes hold 2x... blocks of the matrix.
    const uint32_t quad = lane / 4;
    const uint32_t row = (quad & 4) + lane / 2 % 4, column = (quad & 2) * 2 + lane % 2 * 2;
    want[row * 8 + column] = in[row * 8 + column] + 100 * float(lane);
    want[row * 8 + column + 1] = -in[row * 8 + column + 1];
    more[row * 8 + column] = 1;
  }
  for (size_t i = 0; i < 64; ++i) {
    INFO("element ", i);
    CHECK(out[i] == want[i]);
    CHECK(out[64 + i] == want[i] * 2);
    CHECK(out[128 + i] == want[i] * 2 + more[i]);
    CHECK(out[192 + i] == 3.0f);
    CHECK(out[256 + i] == (i / 8 == i % 8 ? 2.0f : 0.0f));
  }
}
