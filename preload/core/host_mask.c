/* The mask of signals in a host whose threads are contexts (host_contexts.c). Each has its own, and all are that of one
 * kernel thread: where the baton passes, it is exchanged. Mostly it is the same for both, and the system call needless:
 * so it is known here.
 *
 * For that, everybody who changes it must be seen. The filter (host_filter.c) lets rt_sigprocmask() through from this
 * file, and from stubs, to which libc's own places of that call are led; any other comes here by the trap. A signal
 * handler changes it on its way in and out: once one of the target's has run, or could have, each exchange asks the
 * kernel for the rest of the run. Of libc's code that makes and ends threads, where some places are of another shape,
 * it is known that it calls clone3() or ends the thread before the baton can pass, and both say so. */
#include "host_mask.h"
#include "host.h"
#include "host_code.h"
#include "host_thread.h"
#include "real.h"
#include "sys.h"
#include <signal.h>
#include <ucontext.h>

enum { PLACES = 32, STUB = 32 };

/* For the stubs, too; put back after each run: then nothing is known. */
uint32_t pct_host_mask_known __attribute__((visibility("hidden")));
uint8_t *pct_host_mask_back[PLACES] __attribute__((visibility("hidden"))); /* behind each place */
extern uint8_t pct_host_mask_stubs[], pct_host_mask_stubs_end[];

static bool uncertain;
static uint64_t known;
static uint8_t *place[PLACES];
static unsigned places;

/* A system call leaves what a jump needs: nothing of the stack, and no register, is used. */
__asm__(".pushsection .text\n"
        ".globl pct_host_mask_stubs, pct_host_mask_stubs_end\n"
        ".hidden pct_host_mask_stubs, pct_host_mask_stubs_end\n"
        ".balign 32\n"
        "pct_host_mask_stubs:\n"
        ".set pct_host_mask_number, 0\n"
        ".rept 32\n"
        "    .balign 32\n"
        "    movl $0, pct_host_mask_known(%rip)\n"
        "    mov $14, %eax\n"
        "    syscall\n"
        "    jmp *pct_host_mask_back + 8 * pct_host_mask_number(%rip)\n"
        "    .set pct_host_mask_number, pct_host_mask_number + 1\n"
        ".endr\n"
        "pct_host_mask_stubs_end:\n"
        ".popsection\n");

/* --- Where libc changes it ---------------------------------------------------------------------------------------- */

void pct_host_mask_prepare(void)
{
    static const uint8_t code[] = { 0xb8, 0x0e, 0x00, 0x00, 0x00, 0x0f, 0x05 }; /* mov $14, %eax; syscall */
    const struct link_map *libc;
    unsigned count;
    if (!pct_real_symbol("pthread_sigmask", &libc))
        return;
    const Elf64_Phdr *part = pct_real_parts(libc, &count);
    for (; count; count--, part++) {
        uint8_t *at = (uint8_t *)(libc->l_addr + part->p_vaddr), *end = at + part->p_filesz - sizeof code;
        for (; part->p_type == PT_LOAD && part->p_flags & PF_X && at <= end && places < PLACES; at++)
            if (at[0] == code[0] && !__builtin_memcmp(at, code, sizeof code)) {
                pct_host_mask_back[places] = at + sizeof code;
                place[places++] = at;
            }
    }
}

bool pct_host_mask_begin(void)
{
    for (unsigned i = 0; i < places; i++)
        if (!pct_host_code_lead(place[i], pct_host_mask_stubs + (size_t)i * STUB))
            return false;
    return true;
}

void pct_host_mask_code(uintptr_t *from, uintptr_t *to)
{
    *from = (uintptr_t)pct_host_mask_stubs;
    *to = (uintptr_t)pct_host_mask_stubs_end;
}

/* --- What it is --------------------------------------------------------------------------------------------------- */

void pct_host_mask_changed(void)
{
    pct_host_mask_known = 0;
}

void pct_host_mask_uncertain(void)
{
    uncertain = true;
}

void pct_host_mask_handler(uint64_t handler)
{
    extern const char begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
    extern const char end[] __asm__("_end") __attribute__((visibility("hidden")));
    const bool standard = handler == (uintptr_t)SIG_DFL || handler == (uintptr_t)SIG_IGN;
    if (!standard && (handler < (uintptr_t)begin || handler >= (uintptr_t)end))
        pct_host_mask_uncertain();
}

static uint64_t apply(int how, uint64_t before, uint64_t set)
{
    const uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
    set &= ~never;
    return how == SIG_BLOCK ? before | set : how == SIG_UNBLOCK ? before & ~set : set;
}

uint64_t pct_host_mask(int how, uint64_t set)
{
    uint64_t before = known;
    if (pct_host_mask_known && !uncertain && apply(how, before, set) == before)
        return before;
    pct_host_sys4(SYS_rt_sigprocmask, how, (long)&set, (long)&before, MASK);
    known = apply(how, before, set);
    pct_host_mask_known = 1;
    return before;
}

void pct_host_mask_trapped(void *context)
{
    ucontext_t *interrupted = context;
    greg_t *regs = interrupted->uc_mcontext.gregs;
    uint64_t *mask = (uint64_t *)&interrupted->uc_sigmask;
    pct_host_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, 0, MASK);
    regs[REG_RAX] = pct_host_sys4(SYS_rt_sigprocmask, regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10]);
    pct_host_sys4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)mask, MASK);
    pct_host_mask_changed();
}
