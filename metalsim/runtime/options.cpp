/// Options from the environment. A value that cannot be understood ends the program: a check that was asked
/// for and does not happen would be worse.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "metalsim/metalsim.h"

namespace metalsim {

namespace {

[[noreturn]] void refuse(const char* name, const char* value, const char* expected) {
  std::fprintf(stderr, "metalsim: %s=%s: expected %s\n", name, value, expected);
  std::exit(2);
}

bool flag(const char* name, bool otherwise) {
  const char* value = std::getenv(name);
  if (!value || !*value) return otherwise;
  if (!std::strcmp(value, "0")) return false;
  if (!std::strcmp(value, "1")) return true;
  refuse(name, value, "0 or 1");
}

uint64_t number(const char* name, uint64_t otherwise, uint64_t most) {
  const char* value = std::getenv(name);
  if (!value || !*value) return otherwise;
  char* end;
  errno = 0;
  const unsigned long long parsed = std::strtoull(value, &end, 10);
  if (*end || errno || *value == '-' || parsed > most) refuse(name, value, "a whole number in range");
  return parsed;
}

Order order() {
  const char* value = std::getenv("METALSIM_ORDER");
  if (!value || !*value || !std::strcmp(value, "ascending")) return Order::ascending;
  if (!std::strcmp(value, "descending")) return Order::descending;
  if (!std::strcmp(value, "random")) return Order::random;
  refuse("METALSIM_ORDER", value, "ascending, descending or random");
}

Options from_environment() {
  Options options;
  options.cores = uint32_t(number("METALSIM_THREADS", 0, 1024));
  options.order = order();
  options.seed = number("METALSIM_SEED", 1, UINT64_MAX);
  options.compare_orders = flag("METALSIM_COMPARE_ORDERS", false);
  options.check_finite = flag("METALSIM_CHECK_FINITE", false);
  options.unsigned_overflow = flag("METALSIM_UNSIGNED_OVERFLOW", false);
  options.statistics = flag("METALSIM_STATS", false);
  options.max_reports = uint32_t(number("METALSIM_MAX_REPORTS", 100, 1000000));
  options.print_reports = !flag("METALSIM_QUIET", false);
  return options;
}

std::mutex options_mutex;

Options& current() {
  static Options options = from_environment();
  return options;
}

}  // namespace

Options options() {
  std::lock_guard lock(options_mutex);
  return current();
}

void set_options(const Options& options) {
  std::lock_guard lock(options_mutex);
  current() = options;
}

}  // namespace metalsim
