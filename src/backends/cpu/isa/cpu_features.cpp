#include "backends/cpu/isa/tables.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace minfer::cpu {

#if defined(__x86_64__)
namespace {

struct Leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// A leaf that the processor lacks reads as zeros.
Leaf cpuid(unsigned leaf) {
  Leaf r;
  __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

constexpr bool has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/// The register states that the operating system saves (XCR0), 0 if it saves none by xsave.
unsigned saved_states() {
  if (!has(cpuid(1).ecx, bit_OSXSAVE)) return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// XCR0: bits 1 and 2 are xmm and the upper ymm halves; 5 to 7 are mask registers and the two zmm parts.
constexpr unsigned ymm_states = 0x06;
constexpr unsigned zmm_states = 0xe6;

bool fma_and_f16c() { return has(cpuid(1).ecx, bit_FMA | bit_F16C | bit_AVX); }

}  // namespace

bool cpu_runs_avx2() {
  return has(saved_states(), ymm_states) && fma_and_f16c() && has(cpuid(7).ebx, bit_AVX2);
}

bool cpu_runs_avx512() {
  const Leaf leaf = cpuid(7);
  return has(saved_states(), zmm_states) && fma_and_f16c() &&
         has(leaf.ebx, bit_AVX2 | bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ) &&
         has(leaf.ecx, bit_AVX512VNNI);
}

bool cpu_runs_neon() { return false; }

#else

bool cpu_runs_avx2() { return false; }
bool cpu_runs_avx512() { return false; }

#if defined(__aarch64__) && defined(__linux__)
bool cpu_runs_neon() {
  constexpr unsigned long needed = HWCAP_ASIMDDP | HWCAP_ASIMDHP | HWCAP_FPHP;
  return (getauxval(AT_HWCAP) & needed) == needed;
}
#elif defined(__aarch64__)
bool cpu_runs_neon() { return true; }  // every 64-bit Arm machine of Apple has dot products and half floats
#else
bool cpu_runs_neon() { return false; }
#endif

#endif

}  // namespace minfer::cpu
