/// Changing from one stack to another. The compiler saves what is live around the switch (every register is
/// clobbered), so a switch costs about a nanosecond. Compile users of it with -mno-red-zone on x86-64.
#pragma once
#include <cstddef>
#include <cstdint>

namespace metalsim {

#if defined(__x86_64__)

/// Saves this stack's pointer in `*save` and continues on the stack whose pointer was saved as `to`. Returns
/// when someone switches back. Jumps rather than returns: the processor's return prediction would miss.
__attribute__((always_inline)) inline void switch_fiber(void** save, void* to) {
  asm volatile(
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "popq %%rbp\n\t"
      "jmp *%%rax\n"
      "1:"
      : "+D"(save), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15");
}

/// The pointer of a stack ending at `top` on which nothing has run: switching to it calls `entry`, which
/// never returns.
inline void* fresh_stack(unsigned char* top, void (*entry)()) {
  void** frame = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t(63));
  *--frame =
      nullptr;  // where a return address would lie: functions expect 8 modulo 16 at their first instruction
  *--frame = nullptr;  // rbp
  *--frame = reinterpret_cast<void*>(entry);
  return frame;
}

#elif defined(__aarch64__)

// x29, x30 and x18 are saved here: the first two cannot be named as clobbered, the last is the system's on some systems.
__attribute__((always_inline)) inline void switch_fiber(void** save, void* to) {
  register void** save_in asm("x0") = save;
  register void* to_in asm("x1") = to;
  asm volatile(
      "sub sp, sp, #32\n\t"
      "stp x29, x30, [sp]\n\t"
      "adr x9, 1f\n\t"
      "stp x9, x18, [sp, #16]\n\t"
      "mov x9, sp\n\t"
      "str x9, [x0]\n\t"
      "mov sp, x1\n\t"
      "ldp x29, x30, [sp]\n\t"
      "ldp x9, x18, [sp, #16]\n\t"
      "add sp, sp, #32\n\t"
      "br x9\n"
      "1:"
      : "+r"(save_in), "+r"(to_in)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
        "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "memory", "cc", "v0",
        "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
        "v31");
}

inline void* fresh_stack(unsigned char* top, void (*entry)()) {
  void** frame = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t(63));
  frame -= 4;
  frame[0] = frame[1] = frame[3] = nullptr;  // x29, x30, x18
  frame[2] = reinterpret_cast<void*>(entry);
  return frame;
}

#else
#error \
    "metalsim: switch_fiber is not written for this processor; runtime/fiber.h needs about ten instructions for it"
#endif

}  // namespace metalsim
