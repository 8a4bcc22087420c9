// Operations among lanes against loops over the lanes, for whole and partial simdgroups and every argument.
#include <cmath>
#include <functional>
#include <string>

#include "kernel_run.h"
#include "numbers.h"

using namespace metalsim::test;

namespace {

/// The values of one group of lanes (32, or 4 of a quad); `live` of them exist.
template <class T>
struct Group {
  const T* value;
  int live, width, k;
  int first;  // index of its first thread, for the shuffle's source
};

template <class T>
struct Operation {
  std::string name;
  /// The result in `lane`. Sets `defined` to false where Metal leaves it undefined.
  std::function<T(const Group<T>&, int lane, bool& defined)> reference;
  bool has_argument = false;
};

template <class T>
T from(const Group<T>& group, int lane, bool& defined) {
  defined = lane >= 0 && lane < group.live;
  return defined ? group.value[lane] : T(0);
}

template <class T>
T fold(const Group<T>& group, int begin, int end, T start, T (*f)(T, T)) {
  T r = start;
  for (int l = begin; l < end; ++l) r = f(r, group.value[l]);
  return r;
}
template <class T>
T add(T a, T b) {
  return T(a + b);
}
template <class T>
T multiply(T a, T b) {
  return T(a * b);
}
template <class T>
T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T greatest(T a, T b) {
  return a < b ? b : a;
}

/// data from `lane + delta` of the same `modulo` lanes, beyond its end from the negated values.
template <class T>
T filled(const Group<T>& g, int lane, int delta, int modulo, bool& defined) {
  const int base = lane / modulo * modulo, source = lane - base + delta;
  const bool inside = source >= 0 && source < modulo;
  const T value = from(g, base + (source + modulo) % modulo, defined);
  return inside ? value : T(-value);
}

template <class T>
std::vector<Operation<T>> arithmetic() {
  using G = const Group<T>&;
  return {
      {"sum", [](G g, int, bool&) { return fold<T>(g, 0, g.live, 0, add); }},
      {"product", [](G g, int, bool&) { return fold<T>(g, 0, g.live, 1, multiply); }},
      {"min", [](G g, int, bool&) { return fold<T>(g, 0, g.live, g.value[0], least); }},
      {"max", [](G g, int, bool&) { return fold<T>(g, 0, g.live, g.value[0], greatest); }},
      {"prefix_inclusive_sum", [](G g, int l, bool&) { return fold<T>(g, 0, l + 1, 0, add); }},
      {"prefix_exclusive_sum", [](G g, int l, bool&) { return fold<T>(g, 0, l, 0, add); }},
      {"prefix_inclusive_product", [](G g, int l, bool&) { return fold<T>(g, 0, l + 1, 1, multiply); }},
      {"prefix_exclusive_product", [](G g, int l, bool&) { return fold<T>(g, 0, l, 1, multiply); }},
      {"broadcast", [](G g, int, bool& d) { return from(g, g.k % g.width, d); }, true},
      {"broadcast_first", [](G g, int, bool& d) { return from(g, 0, d); }},
      {"shuffle", [](G g, int l, bool& d) { return from(g, ((g.first + l) * 7 + g.k) % g.width, d); }, true},
      {"shuffle_xor", [](G g, int l, bool& d) { return from(g, (l ^ g.k) % g.width, d); }, true},
      {"shuffle_up", [](G g, int l, bool& d) { return from(g, l - g.k < 0 ? l : l - g.k, d); }, true},
      {"shuffle_down", [](G g, int l, bool& d) { return from(g, l + g.k < g.width ? l + g.k : l, d); }, true},
      {"shuffle_rotate_up", [](G g, int l, bool& d) { return from(g, (l - g.k + 32) % g.width, d); }, true},
      {"shuffle_rotate_down", [](G g, int l, bool& d) { return from(g, (l + g.k) % g.width, d); }, true},
      {"shuffle_and_fill_up", [](G g, int l, bool& d) { return filled(g, l, -(g.k % g.width), g.width, d); },
       true},
      {"shuffle_and_fill_down", [](G g, int l, bool& d) { return filled(g, l, g.k % g.width, g.width, d); },
       true},
  };
}

std::vector<Operation<int>> bitwise() {
  using G = const Group<int>&;
  return {
      {"and",
       [](G g, int, bool&) { return fold<int>(g, 0, g.live, -1, [](int a, int b) { return a & b; }); }},
      {"or", [](G g, int, bool&) { return fold<int>(g, 0, g.live, 0, [](int a, int b) { return a | b; }); }},
      {"xor", [](G g, int, bool&) { return fold<int>(g, 0, g.live, 0, [](int a, int b) { return a ^ b; }); }},
  };
}

int ballot(const Group<int>& g) {
  int mask = 0;
  for (int l = 0; l < g.live; ++l) mask |= int(uint32_t(g.value[l] > 0) << l);
  return mask;
}
int live_mask(const Group<int>& g) { return int(g.live == 32 ? ~0u : (1u << g.live) - 1); }

std::vector<Operation<int>> votes() {
  using G = const Group<int>&;
  return {
      {"all", [](G g, int, bool&) { return int(ballot(g) == live_mask(g)); }},
      {"any", [](G g, int, bool&) { return int(ballot(g) != 0); }},
      {"ballot", [](G g, int, bool&) { return ballot(g); }},
      {"vote_all", [](G g, int, bool&) { return int(ballot(g) == live_mask(g)); }},
      {"vote_any", [](G g, int, bool&) { return int(ballot(g) != 0); }},
      {"active", [](G g, int, bool&) { return live_mask(g); }},
      {"first", [](G, int l, bool&) { return int(l == 0); }},
  };
}

/// Small values, so that float sums and products are exact in any order; mixed signs for votes.
template <class T>
std::vector<T> values(size_t count, uint64_t seed, bool ones) {
  Random random(seed);
  std::vector<T> v(count);
  for (T& x : v) {
    const int r = int(random.bits() >> 60);
    x = ones ? T(r % 8 == 0 ? 2 : r % 2 ? 1 : -1) : T(r - 6);
  }
  return v;
}

template <class T>
void check(const std::string& group, const Operation<T>& operation, const std::string& type, int width,
           uint32_t threads, uint16_t k) {
  const bool product = operation.name.find("product") != std::string::npos;
  std::vector<T> in = values<T>(threads, threads * 31 + k, product), out(threads, T(99));
  KernelRun run(group + "_" + operation.name + "_" + type);
  run.buffer(0, in).buffer(1, out).bytes(2, &k, sizeof(k));
  run.threads(threads, 64);
  for (uint32_t i = 0; i < threads; ++i) {
    const int lane = int(i) % width, first = int(i) - lane;
    const Group<T> values{&in[size_t(first)], std::min(width, int(threads) - first), width, k, first};
    bool defined = true;
    const T want = operation.reference(values, lane, defined);
    if (!defined) continue;
    INFO(group, "_", operation.name, "_", type, " thread ", i, " of ", threads, ", argument ", k);
    REQUIRE(out[i] == want);
  }
}

template <class T>
void check_all(const std::vector<Operation<T>>& operations, const std::string& type) {
  for (const Operation<T>& operation : operations)
    for (const uint32_t threads : {32u, 64u, 128u, 1u, 2u, 5u, 19u, 31u, 40u, 63u, 97u})
      for (uint16_t k = 0; k < (operation.has_argument ? 32 : 1); ++k) {
        if (threads != 32 && threads != 40 && k > 4) continue;
        check("simd", operation, type, 32, threads, k);
        if (k < 4) check("quad", operation, type, 4, threads, k);
      }
}

}  // namespace

TEST_CASE("simd and quad arithmetic, prefixes and shuffles agree with loops over the lanes") {
  check_all(arithmetic<int>(), "int");
  check_all(arithmetic<float>(), "float");
  check_all(arithmetic<int16_t>(), "short");
}

TEST_CASE("simd and quad bit operations and votes agree with loops over the lanes") {
  check_all(bitwise(), "int");
  check_all(votes(), "int");
}

TEST_CASE("shuffle and fill within 8 lanes") {
  using G = const Group<int>&;
  for (uint16_t k = 0; k < 8; ++k) {
    check<int>("simd", {"fill_down_modulo", [](G g, int l, bool& d) { return filled(g, l, g.k, 8, d); }},
               "int", 32, 64, k);
    check<int>("simd", {"fill_up_modulo", [](G g, int l, bool& d) { return filled(g, l, -g.k, 8, d); }},
               "int", 32, 64, k);
  }
}

TEST_CASE("float sums round in the order of a tree of shuffles") {
  Random random(5);
  std::vector<float> in(32), out(32);
  for (float& x : in) x = float(random.between(-1, 1));
  uint16_t k = 0;
  KernelRun("simd_sum_float").buffer(0, in).buffer(1, out).bytes(2, &k, 2).threads(32, 32);
  std::vector<float> tree = in;
  for (size_t step = 16; step; step /= 2)
    for (size_t l = 0; l < step; ++l) tree[l] += tree[l + step];
  for (const float x : out) CHECK(x == tree[0]);
}

TEST_CASE("vectors and halves among lanes") {
  std::vector<float> in(128), out(128);
  for (size_t i = 0; i < 128; ++i) in[i] = float(i);
  KernelRun("shuffle_float4").buffer(0, in).buffer(1, out).threads(32, 32);
  for (size_t i = 0; i < 128; ++i) {
    float sum = 0;
    for (size_t l = 0; l < 32; ++l) sum += in[l * 4 + i % 4];
    CHECK(out[i] == in[(i / 4 ^ 1) * 4 + i % 4] + sum);
  }
  std::vector<uint16_t> halves(32, 0x3c00), sums(32);  // ones
  KernelRun("sum_half").buffer(0, halves).buffer(1, sums).threads(32, 32);
  CHECK(value_of(sums[31], half_format) == 32);
}

TEST_CASE("lanes that have returned take no part") {
  std::vector<int> in(32), out(32);
  for (int i = 0; i < 32; ++i) in[size_t(i)] = i + 1;
  KernelRun("after_return").buffer(0, in).buffer(1, out).threads(32, 32);
  int even = 0;
  for (int i = 0; i < 32; i += 2) even += i + 1;
  for (int i = 0; i < 32; ++i) CHECK(out[size_t(i)] == (i & 1 ? 32 * 33 / 2 : even * 1000 + i / 2));
}
