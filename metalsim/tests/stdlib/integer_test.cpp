// Integer functions against arithmetic on 128 bits: 8-bit types for all pairs, wider ones on seeded and
// extreme values.
#include <limits>
#include <string>

#include "kernel_run.h"
#include "numbers.h"

using namespace metalsim::test;

namespace {

__extension__ typedef __int128 Wide;

template <class T>
constexpr int width = int(sizeof(T)) * 8;

template <class T>
Wide bit(T x, int i) {
  return Wide(std::make_unsigned_t<T>(x)) >> i & 1;
}
template <class T>
Wide count_ones(T x) {
  Wide n = 0;
  for (int i = 0; i < width<T>; ++i) n += bit(x, i);
  return n;
}
template <class T>
Wide leading_zeros(T x) {
  int n = 0;
  while (n < width<T> && !bit(x, width<T> - 1 - n)) ++n;
  return n;
}
template <class T>
Wide trailing_zeros(T x) {
  int n = 0;
  while (n < width<T> && !bit(x, n)) ++n;
  return n;
}
template <class T>
Wide reversed(T x) {
  Wide r = 0;
  for (int i = 0; i < width<T>; ++i) r |= bit(x, i) << (width<T> - 1 - i);
  return r;
}
template <class T>
Wide rotated(T x, T by) {
  const int n = int((Wide(by) % width<T> + width<T>) % width<T>);
  Wide r = 0;
  for (int i = 0; i < width<T>; ++i) r |= bit(x, i) << ((i + n) % width<T>);
  return r;
}
template <class T>
Wide saturate(Wide x) {
  const Wide least = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
  return x < least ? least : x > largest ? largest : x;
}
/// floor(x * y / 2^width); a product of unsigned 64-bit values takes all 128 bits, so it is formed unsigned.
template <class T>
Wide high_part(Wide x, Wide y) {
  if (std::is_unsigned_v<T>) {
    __extension__ typedef unsigned __int128 UnsignedWide;
    return Wide(UnsignedWide(x) * UnsignedWide(y) >> width<T>);
  }
  return (x * y) >> width<T>;
}
Wide floor_half(Wide x) { return (x - (x % 2 + 2) % 2) / 2; }
Wide low(Wide x, Wide y) { return x < y ? x : y; }
Wide high(Wide x, Wide y) { return x < y ? y : x; }

template <class T>
struct Function {
  std::string name;
  int arguments;
  T (*reference)(Wide x, Wide y, Wide z);
};

/// madsat of ulong needs 129 bits, which is tested apart.
template <class T>
std::vector<Function<T>> functions() {
#define INTEGER(name, count, reference)                                                          \
  {#name, count, []([[maybe_unused]] Wide x, [[maybe_unused]] Wide y, [[maybe_unused]] Wide z) { \
     return T(std::make_unsigned_t<T>(reference));                                               \
   }},
#define INTEGER1(name, reference) INTEGER(name, 1, reference)
#define INTEGER2(name, reference) INTEGER(name, 2, reference)
#define INTEGER3(name, reference) INTEGER(name, 3, reference)
  return {
#include "integer_functions.def"
  };
}

/// Pairs of values: all of them for 8 bits, else extremes with extremes and seeded ones of every magnitude.
template <class T>
void make_values(std::vector<T>& x, std::vector<T>& y, std::vector<T>& z) {
  Random random(7);
  const auto any = [&] { return T(random.bits() >> random.bits() % width<T>); };
  if (sizeof(T) == 1) {
    for (int i = 0; i < 65536; ++i) x.push_back(T(i)), y.push_back(T(i >> 8)), z.push_back(any());
    return;
  }
  const T extremes[] = {T(0),       T(1), T(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                        T(width<T>)};
  for (const T a : extremes)
    for (const T b : extremes)
      for (const T c : extremes) x.push_back(a), y.push_back(b), z.push_back(c);
  while (x.size() < 4096) x.push_back(any()), y.push_back(any()), z.push_back(any());
}

template <class T>
void check_type(const std::string& type) {
  std::vector<T> x, y, z;
  make_values(x, y, z);
  for (const Function<T>& function : functions<T>()) {
    const bool overflows_reference = function.name == "madsat" && sizeof(T) == 8;
    std::vector<T> out(x.size());
    KernelRun run(function.name + "_" + type);
    run.buffer(0, x).buffer(3, out);
    if (function.arguments > 1) run.buffer(1, y);
    if (function.arguments > 2) run.buffer(2, z);
    run.threads(uint32_t(x.size()), 64);
    if (overflows_reference) continue;
    for (size_t i = 0; i < x.size(); ++i) {
      INFO(function.name, "_", type, "(", x[i], ", ", y[i], ", ", z[i], ")");
      REQUIRE(out[i] == function.reference(x[i], y[i], z[i]));
    }
  }
}

template <class T>
void check_fields(const std::string& type) {
  Random random(11);
  std::vector<T> x;
  std::vector<uint8_t> offset, count;
  for (int o = 0; o <= width<T>; ++o)
    for (int c = 0; o + c <= width<T>; ++c)
      x.push_back(T(random.bits())), offset.push_back(uint8_t(o)), count.push_back(uint8_t(c));
  std::vector<T> extracted(x.size()), inserted(x.size());
  KernelRun("extract_bits_" + type)
      .buffer(0, x)
      .buffer(1, offset)
      .buffer(2, count)
      .buffer(3, extracted)
      .threads(uint32_t(x.size()), 64);
  KernelRun("insert_bits_" + type)
      .buffer(0, x)
      .buffer(1, offset)
      .buffer(2, count)
      .buffer(3, inserted)
      .threads(uint32_t(x.size()), 64);
  for (size_t i = 0; i < x.size(); ++i) {
    Wide field = 0, with_field = 0;
    for (int b = 0; b < count[i]; ++b) field |= bit(x[i], offset[i] + b) << b;
    if (std::is_signed_v<T> && count[i] && bit(T(field), count[i] - 1)) field -= Wide(1) << count[i];
    for (int b = 0; b < width<T>; ++b) {
      const bool inside = b >= offset[i] && b < offset[i] + count[i];
      with_field |= (inside ? bit(T(0x5a), b - offset[i]) : bit(x[i], b)) << b;
    }
    INFO(type, " ", x[i], " offset ", int(offset[i]), " width ", int(count[i]));
    REQUIRE(extracted[i] == T(field));
    REQUIRE(inserted[i] == T(with_field));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("integer functions agree with 128-bit arithmetic", T, int8_t, uint8_t, int16_t, uint16_t,
                   int32_t, uint32_t, int64_t, uint64_t) {
  const std::string names[] = {"char", "short", "int", "long"};
  const std::string type = (std::is_signed_v<T> ? "" : "u") + names[sizeof(T) == 1   ? 0
                                                                    : sizeof(T) == 2 ? 1
                                                                    : sizeof(T) == 4 ? 2
                                                                                     : 3];
  check_type<T>(type);
  check_fields<T>(type);
}

TEST_CASE("madsat of 64-bit values saturates at both ends") {
  std::vector<uint64_t> x{~0ull, 3, ~0ull}, y{~0ull, 5, 1}, z{~0ull, 7, 1}, out(3);
  KernelRun("madsat_ulong").buffer(0, x).buffer(1, y).buffer(2, z).buffer(3, out).threads(3, 32);
  CHECK(out == std::vector<uint64_t>{~0ull, 22, ~0ull});
  const int64_t least = std::numeric_limits<int64_t>::min(), largest = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> a{least, least, -3}, b{least, largest, 5}, c{largest, least, -7}, result(3);
  KernelRun("madsat_long").buffer(0, a).buffer(1, b).buffer(2, c).buffer(3, result).threads(3, 32);
  CHECK(result == std::vector<int64_t>{largest, least, -22});
}

TEST_CASE("mul24 and mad24 on 24-bit values") {
  Random random(13);
  std::vector<int32_t> x(1000), y(1000), z(1000), product(1000), sum(1000);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = int32_t(random.bits() << 8 >> 8 & 0xfff) - 2048;
    y[i] = int32_t(random.bits() & 0xffff) - 32768;
    z[i] = int32_t(random.bits() & 0xffffff);
  }
  KernelRun("mul24_int").buffer(0, x).buffer(1, y).buffer(3, product).threads(1000, 64);
  KernelRun("mad24_int").buffer(0, x).buffer(1, y).buffer(2, z).buffer(3, sum).threads(1000, 64);
  for (size_t i = 0; i < x.size(); ++i) {
    REQUIRE(product[i] == x[i] * y[i]);
    REQUIRE(sum[i] == x[i] * y[i] + z[i]);
  }
}
