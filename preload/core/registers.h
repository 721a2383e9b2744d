/* Where a thread stands, for the stacks of a report: the registers that the ABI preserves, stack and program counter.
 */
#ifndef PCT_PRELOAD_REGISTERS_H
#define PCT_PRELOAD_REGISTERS_H

#include <stdint.h>

/* Store rbx rbp r12 r13 r14 r15 rsp rip. Always inline: the frame that the values describe is the caller's, and they
 * are good for as long as the caller has not returned. */
static inline __attribute__((always_inline)) void pct_save_registers(uint64_t regs[8])
{
    __asm__ volatile("movq %%rbx, 0(%0)\n\t"
                     "movq %%rbp, 8(%0)\n\t"
                     "movq %%r12, 16(%0)\n\t"
                     "movq %%r13, 24(%0)\n\t"
                     "movq %%r14, 32(%0)\n\t"
                     "movq %%r15, 40(%0)\n\t"
                     "movq %%rsp, 48(%0)\n\t"
                     "leaq 0f(%%rip), %%rax\n\t"
                     "movq %%rax, 56(%0)\n"
                     "0:\n\t"
                     :
                     : "r"(regs)
                     : "rax", "memory");
}

#endif
