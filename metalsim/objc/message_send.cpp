// objc_msgSend in assembler: save every register that may carry an argument, ask the runtime for the method,
// restore the registers and jump. Arguments on the stack stay where they are, so a method of any signature
// works.
//
// message_send_nil is what a message to null reaches: it answers zero as an integer and as a float.

#if defined(__x86_64__)
asm(R"(
.text
.macro MESSAGE_SEND name, receiver, selector
.globl \name
.type \name, @function
\name:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $112, %rsp
  movq %rdi, -8(%rbp)
  movq %rsi, -16(%rbp)
  movq %rdx, -24(%rbp)
  movq %rcx, -32(%rbp)
  movq %r8, -40(%rbp)
  movq %r9, -48(%rbp)
  movsd %xmm0, -56(%rbp)
  movsd %xmm1, -64(%rbp)
  movsd %xmm2, -72(%rbp)
  movsd %xmm3, -80(%rbp)
  movsd %xmm4, -88(%rbp)
  movsd %xmm5, -96(%rbp)
  movsd %xmm6, -104(%rbp)
  movsd %xmm7, -112(%rbp)
  movq \receiver(%rbp), %rdi
  movq \selector(%rbp), %rsi
  call metalsim_find_method@PLT
  movq %rax, %r11
  movq -8(%rbp), %rdi
  movq -16(%rbp), %rsi
  movq -24(%rbp), %rdx
  movq -32(%rbp), %rcx
  movq -40(%rbp), %r8
  movq -48(%rbp), %r9
  movsd -56(%rbp), %xmm0
  movsd -64(%rbp), %xmm1
  movsd -72(%rbp), %xmm2
  movsd -80(%rbp), %xmm3
  movsd -88(%rbp), %xmm4
  movsd -96(%rbp), %xmm5
  movsd -104(%rbp), %xmm6
  movsd -112(%rbp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size \name, . - \name
.endm

MESSAGE_SEND objc_msgSend, -8, -16
MESSAGE_SEND objc_msgSend_fpret, -8, -16
MESSAGE_SEND objc_msgSend_stret, -16, -24

.globl message_send_nil
.type message_send_nil, @function
message_send_nil:
  xorl %eax, %eax
  xorl %edx, %edx
  xorps %xmm0, %xmm0
  ret
.size message_send_nil, . - message_send_nil
)");

#elif defined(__aarch64__)
// x8 points at the place for a large result, so one function serves all kinds of result.
asm(R"(
.text
.globl objc_msgSend
.globl objc_msgSend_stret
.globl objc_msgSend_fpret
.type objc_msgSend, %function
objc_msgSend:
objc_msgSend_stret:
objc_msgSend_fpret:
  .cfi_startproc
  stp x29, x30, [sp, #-160]!
  .cfi_def_cfa_offset 160
  .cfi_offset x29, -160
  .cfi_offset x30, -152
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp d0, d1, [sp, #96]
  stp d2, d3, [sp, #112]
  stp d4, d5, [sp, #128]
  stp d6, d7, [sp, #144]
  bl metalsim_find_method
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp d0, d1, [sp, #96]
  ldp d2, d3, [sp, #112]
  ldp d4, d5, [sp, #128]
  ldp d6, d7, [sp, #144]
  ldp x29, x30, [sp], #160
  .cfi_restore x30
  .cfi_restore x29
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
.size objc_msgSend, . - objc_msgSend

.globl message_send_nil
.type message_send_nil, %function
message_send_nil:
  mov x0, #0
  mov x1, #0
  movi d0, #0
  ret
.size message_send_nil, . - message_send_nil
)");

#else
#error "message_send.cpp: objc_msgSend is written for x86-64 and aarch64 only"
#endif

// Nothing executes on the stack; without this note the linker would assume that something may.
asm(".section .note.GNU-stack,\"\",%progbits");
