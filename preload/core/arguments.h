/* What stubs in assembler keep of a call that they pass on: all registers that arguments of any function may be in,
 * with how many of the vectors are (rax). Behind PCT_KEEP_ARGUMENTS, 184 bytes are on the stack, the vectors lowest,
 * then rax, then the six integer arguments, the last one first; the stack is aligned for a call. r10 and r11 stay as
 * they are. */
#ifndef PCT_PRELOAD_ARGUMENTS_H
#define PCT_PRELOAD_ARGUMENTS_H

#define PCT_KEEP_ARGUMENTS                                                                                             \
    "push %rdi\n"                                                                                                      \
    "push %rsi\n"                                                                                                      \
    "push %rdx\n"                                                                                                      \
    "push %rcx\n"                                                                                                      \
    "push %r8\n"                                                                                                       \
    "push %r9\n"                                                                                                       \
    "push %rax\n"                                                                                                      \
    "sub $128, %rsp\n"                                                                                                 \
    ".cfi_adjust_cfa_offset 184\n"                                                                                     \
    "movups %xmm0, (%rsp)\n"                                                                                           \
    "movups %xmm1, 16(%rsp)\n"                                                                                         \
    "movups %xmm2, 32(%rsp)\n"                                                                                         \
    "movups %xmm3, 48(%rsp)\n"                                                                                         \
    "movups %xmm4, 64(%rsp)\n"                                                                                         \
    "movups %xmm5, 80(%rsp)\n"                                                                                         \
    "movups %xmm6, 96(%rsp)\n"                                                                                         \
    "movups %xmm7, 112(%rsp)\n"

#define PCT_GIVE_ARGUMENTS_BACK                                                                                        \
    "movups (%rsp), %xmm0\n"                                                                                           \
    "movups 16(%rsp), %xmm1\n"                                                                                         \
    "movups 32(%rsp), %xmm2\n"                                                                                         \
    "movups 48(%rsp), %xmm3\n"                                                                                         \
    "movups 64(%rsp), %xmm4\n"                                                                                         \
    "movups 80(%rsp), %xmm5\n"                                                                                         \
    "movups 96(%rsp), %xmm6\n"                                                                                         \
    "movups 112(%rsp), %xmm7\n"                                                                                        \
    "add $128, %rsp\n"                                                                                                 \
    "pop %rax\n"                                                                                                       \
    "pop %r9\n"                                                                                                        \
    "pop %r8\n"                                                                                                        \
    "pop %rcx\n"                                                                                                       \
    "pop %rdx\n"                                                                                                       \
    "pop %rsi\n"                                                                                                       \
    "pop %rdi\n"                                                                                                       \
    ".cfi_adjust_cfa_offset -184\n"

#endif
