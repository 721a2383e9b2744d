/* Contexts (getcontext and its relatives), which keep a thread's signal mask with its registers and bring it back by a
 * system call of libc's own. While pct makes SIGTRAP (trap.h), the kernel's mask is without it, and that of a context
 * is what the target believes. Otherwise libc's do it all. */
#include "signals.h"
#include "trap.h"
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <stdarg.h>
#include <ucontext.h>

/* What getcontext leaves where the code below says so: the registers that its caller keeps. */
static void keep(ucontext_t *context)
{
    REAL(getcontext)(context);
    if (pct_self->trap_hidden)
        *(uint64_t *)&context->uc_sigmask |= pct_signal_bit(SIGTRAP);
}

/* These are called by the code below: libc's function, to which it jumps, or NULL: done, but for the registers. */
__typeof__(getcontext) *pct_context_get(ucontext_t *context);
__typeof__(getcontext) *pct_context_get(ucontext_t *context)
{
    if (!pct_self || !pct_self->trap_hidden)
        return &REAL(getcontext);
    keep(context);
    return NULL;
}

__typeof__(swapcontext) *pct_context_swap(ucontext_t *context);
__typeof__(swapcontext) *pct_context_swap(ucontext_t *context)
{
    if (!pct_traps || !pct_enter())
        return &REAL(swapcontext);
    keep(context);
    return NULL;
}

/* Loads the registers. */
void pct_context_load(const ucontext_t *context) __attribute__((noreturn));

PCT_EXPORT int setcontext(const ucontext_t *context)
{
    if (!pct_traps || !pct_enter())
        return REAL(setcontext)(context);
    if (sigprocmask(SIG_SETMASK, &context->uc_sigmask, NULL))
        return -1;
    pct_context_load(context);
}

/* GLIBC: libc's own, but that what comes behind the function, the end or uc_link, is ours: libc's calls no wrapper. */
void pct_context_end(void);
PCT_EXPORT void makecontext(ucontext_t *context, void (*function)(void), int count, ...)
{
    enum { IN_REGISTERS = 6 };
    static const int registers[IN_REGISTERS] = { REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9 };
    greg_t *regs = context->uc_mcontext.gregs;
    const int link = (count > IN_REGISTERS ? count - IN_REGISTERS : 0) + 1;
    uint64_t *stack = (uint64_t *)((char *)context->uc_stack.ss_sp + context->uc_stack.ss_size) - link;
    stack = (uint64_t *)((uintptr_t)stack & ~UINT64_C(15)) - 1;
    va_list arguments;
    va_start(arguments, count);
    for (int i = 0; i < count; i++) {
        const greg_t argument = va_arg(arguments, greg_t);
        if (i < IN_REGISTERS)
            regs[registers[i]] = argument;
        else
            stack[i - IN_REGISTERS + 1] = (uint64_t)argument;
    }
    va_end(arguments);
    stack[0] = (uintptr_t)pct_context_end;
    stack[link] = (uintptr_t)context->uc_link;
    regs[REG_RIP] = (greg_t)(uintptr_t)function;
    regs[REG_RBX] = (greg_t)(uintptr_t)&stack[link];
    regs[REG_RSP] = (greg_t)(uintptr_t)stack;
}

/* The caller's registers, and where it goes on; what a function may change, nobody expects to find again. Then
 * swapcontext goes to the other one as setcontext does. */
#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n    endbr64\n"
#define END(name) ".cfi_endproc\n.size " name ", .-" name "\n"
#define STORE(name, offset) "    movq %" name ", " offset "(%rdi)\n"
#define LOAD(name, offset) "    movq " offset "(%rdx), %" name "\n"
#define KEPT(row)                                                                                                      \
    row("rbx", "128") row("rbp", "120") row("r12", "72") row("r13", "80") row("r14", "88") row("r15", "96")
#define STORE_ALL                                                                                                      \
    KEPT(STORE)                                                                                                        \
    STORE("rdi", "104") "    movq (%rsp), %rcx\n" STORE("rcx", "168") "    leaq 8(%rsp), %rcx\n" STORE("rcx", "160")

__asm__(".text\n" FUNCTION("getcontext") "    pushq %rdi\n"
                                         ".cfi_adjust_cfa_offset 8\n"
                                         "    call pct_context_get\n"
                                         "    popq %rdi\n"
                                         ".cfi_adjust_cfa_offset -8\n"
                                         "    testq %rax, %rax\n"
                                         "    jz 1f\n"
                                         "    jmp *%rax\n"
                                         "1:\n" STORE_ALL "    ret\n" END("getcontext"));

__asm__(FUNCTION("swapcontext") "    pushq %rsi\n"
                                "    pushq %rdi\n"
                                "    subq $8, %rsp\n"
                                ".cfi_adjust_cfa_offset 24\n"
                                "    call pct_context_swap\n"
                                "    addq $8, %rsp\n"
                                "    popq %rdi\n"
                                "    popq %rsi\n"
                                ".cfi_adjust_cfa_offset -24\n"
                                "    testq %rax, %rax\n"
                                "    jz 1f\n"
                                "    jmp *%rax\n"
                                "1:\n" STORE_ALL "    movq %rsi, %rdi\n"
                                "    jmp setcontext\n" END("swapcontext"));

__asm__(FUNCTION("pct_context_load") "    movq 224(%rdi), %rcx\n"
                                     "    fldenv (%rcx)\n"
                                     "    ldmxcsr 448(%rdi)\n"
                                     "    movq %rdi, %rdx\n" LOAD("rsp", "160") KEPT(LOAD)
                                         LOAD("rcx", "168") "    pushq %rcx\n" LOAD("rdi", "104") LOAD("rsi", "112")
                                             LOAD("rcx", "152") LOAD("r8", "40") LOAD("r9", "48")
                                                 LOAD("rdx", "136") "    xorl %eax, %eax\n"
                                                                    "    ret\n" END("pct_context_load"));

/* Behind a context's function: rbx leads to uc_link. Whoever looks for a caller looks before its address. */
__asm__(".globl pct_context_end\n"
        ".type pct_context_end, @function\n"
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "    nop\n"
        "pct_context_end:\n"
        "    movq (%rbx), %rdi\n"
        "    movq %rbx, %rsp\n"
        "    andq $-16, %rsp\n"
        "    testq %rdi, %rdi\n"
        "    jz 1f\n"
        "    call setcontext\n"
        "    movl %eax, %edi\n"
        "1:  call exit\n"
        "    hlt\n"
        ".cfi_endproc\n"
        ".size pct_context_end, .-pct_context_end\n");

#define STANDS(field, offset) _Static_assert(offsetof(ucontext_t, field) == (offset), "the number stands in the code")
#define GREG(name, offset) STANDS(uc_mcontext.gregs[name], offset)
GREG(REG_R8, 40);
GREG(REG_R9, 48);
GREG(REG_R12, 72);
GREG(REG_R13, 80);
GREG(REG_R14, 88);
GREG(REG_R15, 96);
GREG(REG_RDI, 104);
GREG(REG_RSI, 112);
GREG(REG_RBP, 120);
GREG(REG_RBX, 128);
GREG(REG_RDX, 136);
GREG(REG_RCX, 152);
GREG(REG_RSP, 160);
GREG(REG_RIP, 168);
STANDS(uc_mcontext.fpregs, 224);
STANDS(__fpregs_mem.mxcsr, 448);
