/* Where compiled code comes in with an access to memory (pct-cc): with an explored run, await.c is to know the
 * registers and the stack that it comes with. */
#include "await.h"
#include "memory.h"
#include <preload/core/point.h>

bool pct_memory_explored;

/* entry: what the function below has pushed. */
static __attribute__((used)) void access_explored(const volatile void *address, size_t size, unsigned what,
                                                  const void *pc, const uint64_t *entry)
{
    struct pct_shim_thread *self = pct_holder();
    if (self)
        self->entry = entry;
    pct_memory_told(address, size, what, pc);
    if (self)
        self->entry = NULL;
}

/* pct_memory_told(); in an explored run access_explored(), with the registers that functions preserve on the stack, and
 * where they are as the fifth argument. */
__asm__(".text\n"
        ".globl pct_memory_access\n"
        ".type pct_memory_access, @function\n"
        "pct_memory_access:\n"
        ".cfi_startproc\n"
        "cmpb $0, pct_memory_explored(%rip)\n"
        "je pct_memory_told\n"
        "pushq %rbx\n"
        "pushq %rbp\n"
        "pushq %r12\n"
        "pushq %r13\n"
        "pushq %r14\n"
        "pushq %r15\n"
        "movq %rsp, %r8\n"
        "subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 56\n"
        "call access_explored\n"
        "addq $56, %rsp\n"
        ".cfi_adjust_cfa_offset -56\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size pct_memory_access, . - pct_memory_access\n");

PCT_EXPORT void pct_memory_expected(const void *address)
{
    struct pct_shim_thread *self = pct_holder();
    if (self)
        pct_await_expected(self, (uintptr_t)address);
}
