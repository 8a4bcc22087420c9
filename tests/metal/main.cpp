#include <doctest/doctest.h>

#include <cstdio>
#ifdef MINFER_METAL_SIM
#include <metalsim/metalsim.h>
#endif

/// Tests on a Metal device. Whatever its checker reports is a failure, also where all results are right.
int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int failed = context.run();
#ifdef MINFER_METAL_SIM
  if (const auto reports = metalsim::report_count(); reports > 0) {
    std::fprintf(stderr, "the checker reported %llu defects\n", static_cast<unsigned long long>(reports));
    return 1;
  }
#endif
  return failed;
}
