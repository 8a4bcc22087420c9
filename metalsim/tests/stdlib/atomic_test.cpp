// Atomic functions: what a set of threads leaves behind does not depend on their order.
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "kernel_run.h"
#include "numbers.h"

using namespace metalsim::test;

namespace {

constexpr uint32_t threads = 4096;  // in 16 threadgroups, over all cores

template <class T>
void check_fetch(const std::string& name, T start, const std::function<T(T, T)>& f, bool invertible) {
  Random random(23);
  std::vector<T> object{start}, operand(threads), old(threads);
  for (T& x : operand) x = T(random.bits() >> 40);
  KernelRun("fetch_" + name).buffer(0, object).buffer(1, operand).buffer(2, old).threads(threads, 256);
  T want = start;
  for (const T x : operand) want = f(want, x);
  INFO("fetch_", name);
  CHECK(object[0] == want);
  if (!invertible) return;
  // Every old value but the first is the new value of another thread: the chain has no gap.
  std::multiset<T> before(old.begin(), old.end()), after;
  for (uint32_t i = 0; i < threads; ++i) after.insert(f(old[i], operand[i]));
  before.erase(before.find(start));
  before.insert(object[0]);
  CHECK(before == after);
}

template <class T>
void check_integers(const std::string& type) {
  check_fetch<T>(
      "add_" + type, 7, [](T a, T b) { return T(a + b); }, true);
  check_fetch<T>(
      "sub_" + type, 7, [](T a, T b) { return T(uint32_t(a) - uint32_t(b)); }, true);
  check_fetch<T>(
      "and_" + type, T(-1), [](T a, T b) { return T(a & b); }, false);
  check_fetch<T>(
      "or_" + type, 0, [](T a, T b) { return T(a | b); }, false);
  check_fetch<T>(
      "xor_" + type, 5, [](T a, T b) { return T(a ^ b); }, true);
  check_fetch<T>(
      "min_" + type, 1 << 23, [](T a, T b) { return std::min(a, b); }, false);
  check_fetch<T>(
      "max_" + type, 3, [](T a, T b) { return std::max(a, b); }, false);
}

}  // namespace

TEST_CASE("fetch functions of int, uint and float") {
  check_integers<int32_t>("int");
  check_integers<uint32_t>("uint");
  // Whole numbers whose sums stay below 2^24 add exactly in any order.
  std::vector<float> object{1000}, operand(threads, 3), old(threads);
  KernelRun("fetch_add_float").buffer(0, object).buffer(1, operand).buffer(2, old).threads(threads, 256);
  CHECK(object[0] == 1000 + 3.0f * threads);
  KernelRun("fetch_sub_float").buffer(0, object).buffer(1, operand).buffer(2, old).threads(threads, 256);
  CHECK(object[0] == 1000);
}

TEST_CASE("exchange passes each value on once") {
  std::vector<uint32_t> object{0}, old(threads);
  KernelRun("exchange").buffer(0, object).buffer(1, old).threads(threads, 256);
  old.push_back(object[0]);
  std::sort(old.begin(), old.end());
  for (uint32_t i = 0; i <= threads; ++i) REQUIRE(old[i] == i);
}

TEST_CASE("compare and exchange in a loop loses no update") {
  std::vector<uint32_t> object{1}, factor(threads);
  uint32_t want = 1;
  for (uint32_t i = 0; i < threads; ++i) want *= factor[i] = 2 * i + 1;
  KernelRun("multiply").buffer(0, object).buffer(1, factor).threads(threads, 256);
  CHECK(object[0] == want);
}

TEST_CASE("least and largest of 64-bit values") {
  Random random(29);
  std::vector<uint64_t> object{~0ull, 0}, value(threads);
  for (uint64_t& x : value) x = random.bits();
  KernelRun("extremes_of_ulong").buffer(0, object).buffer(1, value).threads(threads, 256);
  CHECK(object[0] == *std::min_element(value.begin(), value.end()));
  CHECK(object[1] == *std::max_element(value.begin(), value.end()));
}

TEST_CASE("atomics in threadgroup memory are each threadgroup's own") {
  std::vector<uint32_t> out(16);
  KernelRun("count_in_threadgroup").buffer(0, out).threads(16 * 100, 100);
  CHECK(out == std::vector<uint32_t>(16, 1034));
}
