/* The slow half of a trampoline: see patch.h. Runs on the stack of the program, below its red zone, with the program's
 * registers saved as a frame that unwinders understand: to gdb, to pct's own reports and to exceptions, it is as if the
 * site had been interrupted by a signal. */
#include <preload/core/point.h>
#include <preload/core/sys.h>
#include <preload/memory/await.h>
#include <preload/memory/memory.h>
#include <preload/memory/spin_reads.h>
#include "patch.h"
#include <strategies/script.h>
#include <common/demon.h>
#include <cpuid.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(struct pct_patch_frame) == 18 * 8, "the assembly below");
_Static_assert(offsetof(struct pct_patch_frame, pc) == 14 * 8, "the assembly below");
enum { BELOW_STACK = PCT_PATCH_RED_ZONE + sizeof(struct pct_patch_frame) };
_Static_assert(BELOW_STACK - offsetof(struct pct_patch_frame, pc) == PCT_PATCHED_PC, "sites.c has it as a number");
_Static_assert(BELOW_STACK - offsetof(struct pct_patch_frame, rbp) == PCT_PATCHED_BP, "likewise");

/* For the assembly: what XSAVE saves, the room for it, and whether moves do instead. */
uint64_t pct_patch_state_size __attribute__((visibility("hidden")));
uint32_t pct_patch_state_mask __attribute__((visibility("hidden")));
bool pct_patch_moves __attribute__((visibility("hidden")));

enum {
    STATE_MASK = 0xe7, /* x87, SSE, AVX, AVX-512: what compiled code may change */
    WIDE = 4,          /* AVX */
    WIDEST = 0xe0,     /* AVX-512 */
    OSXSAVE = 1 << 27,
    XGETBV1 = 1 << 2
};

struct pct_patch_shadow pct_patch_shadow;

/* In AddressSanitizer's runtime, where there is one. */
void __asan_get_shadow_mapping(size_t *scale, size_t *offset) __attribute__((weak));

static void find_shadow(void)
{
    enum { ADDRESS_BITS = 47 };
    size_t scale;
    if (!__asan_get_shadow_mapping)
        return;
    __asan_get_shadow_mapping(&scale, &pct_patch_shadow.from);
    pct_patch_shadow.size = UINT64_C(1) << (ADDRESS_BITS - scale);
}

bool pct_patch_entry_start(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) || !__get_cpuid_count(0xd, 0, &a, &b, &c, &d))
        return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    pct_patch_state_mask = a & STATE_MASK;
    pct_patch_state_size = (b + 63) & ~63u;
    const bool tells = __get_cpuid_count(0xd, 1, &a, &b, &c, &d) && a & XGETBV1;
    const bool words = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX512BW; /* mask registers of 64 bits */
    pct_patch_moves = tells && (words || !(pct_patch_state_mask & WIDEST));
    find_shadow();
    return true;
}

/* What of the registers that XSAVE has saved tells one round of a loop from another: those for floating-point numbers,
 * and the vector registers up to 256 bits. */
static void take_vectors(uint64_t vectors[PCT_AWAIT_VECTORS], const uint64_t *state)
{
    enum { LOW_AT = 4, LOW = 48, HIGH_AT = 72 };
    const size_t high = pct_patch_state_mask & WIDE ? PCT_AWAIT_VECTORS - LOW : 0;
    memcpy(vectors, state + LOW_AT, LOW * sizeof *state);
    memcpy(vectors + LOW, state + HIGH_AT, high * sizeof *state);
}

/* The registers of the program's that the second half may change, without general ones, are saved and put back by
 * moves, which take a third of the time of XSAVE and XRSTOR: those that XGETBV says are in use (r14: 4 AVX, 0x40 the
 * rest of AVX-512's first half, 0xa0 its second half and masks). All others are zero, and are so again behind it: the
 * scheduler itself knows nothing of them, but threads that are contexts (preload/core/host_threads.h) leave theirs
 * there. Where the x87 unit is in use, and in explored runs, which look at what XSAVE has written, it is XSAVE all the
 * same. */
#define EACH ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
#define EACH_SECOND ".irp i, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
#define EACH_MASK ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n"

__asm__(".pushsection .text.pct_patch_entry, \"ax\", @progbits\n"
        ".type pct_patch_save, @function\n"
        "pct_patch_save:\n" /* rdi: to where; uses nothing else */
        ".cfi_startproc\n"
        "stmxcsr (%rdi)\n"
        "testl $0x44, %r14d\n"
        "jnz 1f\n" EACH "movaps %xmm\\i, 64 + 16 * \\i(%rdi)\n.endr\n"
        "jmp 3f\n"
        "1: testl $0x40, %r14d\n"
        "jnz 2f\n" EACH "vmovdqa %ymm\\i, 64 + 32 * \\i(%rdi)\n.endr\n"
        "jmp 3f\n"
        "2:\n" EACH "vmovdqa64 %zmm\\i, 64 + 64 * \\i(%rdi)\n.endr\n"
        "3: testl $0xa0, %r14d\n"
        "jz 4f\n" EACH_SECOND "vmovdqa64 %zmm\\i, 64 + 64 * \\i(%rdi)\n.endr\n" EACH_MASK
        "kmovq %k\\i, 2112 + 8 * \\i(%rdi)\n.endr\n"
        "4: ret\n"
        ".cfi_endproc\n"
        ".size pct_patch_save, . - pct_patch_save\n"
        ".type pct_patch_put_back, @function\n"
        "pct_patch_put_back:\n" /* rdi: from where; uses rax, rcx, rdx */
        ".cfi_startproc\n"
        "movl $1, %ecx\n"
        "xgetbv\n"
        "movl %eax, %ecx\n"
        "testb $1, %cl\n"
        "jz 1f\n"
        "movl $1, %eax\n"
        "xorl %edx, %edx\n"
        "xrstor64 pct_patch_unused(%rip)\n"
        "1: testl $0xa0, %r14d\n"
        "jnz 2f\n"
        "testl $0xa0, %ecx\n"
        "jz 3f\n" EACH_SECOND "vpxorq %zmm\\i, %zmm\\i, %zmm\\i\n.endr\n" EACH_MASK "kxorq %k\\i, %k\\i, %k\\i\n.endr\n"
        "jmp 3f\n"
        "2:\n" EACH_SECOND "vmovdqa64 64 + 64 * \\i(%rdi), %zmm\\i\n.endr\n" EACH_MASK
        "kmovq 2112 + 8 * \\i(%rdi), %k\\i\n.endr\n"
        "3: testl $0x40, %r14d\n"
        "jnz 5f\n"
        "testl $4, %r14d\n"
        "jnz 4f\n"
        "testl $0x44, %ecx\n"
        "jz 6f\n"
        "vzeroupper\n"
        "6:\n" EACH "movaps 64 + 16 * \\i(%rdi), %xmm\\i\n.endr\n"
        "jmp 7f\n"
        "4:\n" EACH "vmovdqa 64 + 32 * \\i(%rdi), %ymm\\i\n.endr\n"
        "jmp 7f\n"
        "5:\n" EACH "vmovdqa64 64 + 64 * \\i(%rdi), %zmm\\i\n.endr\n"
        "7: ldmxcsr (%rdi)\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size pct_patch_put_back, . - pct_patch_put_back\n"
        ".section .rodata\n"
        ".balign 64\n"
        "pct_patch_unused: .zero 576\n" /* as XSAVE has it, where nothing is in use */
        ".popsection\n");

/* The CFA is the program's stack pointer at the site; the registers are below the red zone (128) and rdx (136):
 * return address 144, flags 152, pc 160, rax 168, rcx 176, rbx 184, rbp 192, rsi 200, rdi 208, r8 216 ... r15 272. */
__asm__(".pushsection .text.pct_patch_entry, \"ax\", @progbits\n"
        ".globl pct_patch_entry\n"
        ".hidden pct_patch_entry\n"
        ".type pct_patch_entry, @function\n"
        "pct_patch_entry:\n"
        ".cfi_startproc\n"
        ".cfi_signal_frame\n"
        ".cfi_def_cfa rsp, 144\n"
        ".cfi_offset rdx, -136\n"
        "leaq -16(%rsp), %rsp\n"
        ".cfi_adjust_cfa_offset 16\n"
        ".cfi_offset rip, -160\n"
        "pushq %rax\n"
        ".cfi_adjust_cfa_offset 8\n"
        "lahf\n" /* a third of what PUSHF and POPF take */
        "seto %al\n"
        "movq %rax, 16(%rsp)\n"
        "pushq %rcx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %rsi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %rdi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r8\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r9\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r10\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r11\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r12\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r13\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r14\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushq %r15\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_offset rax, -168\n"
        ".cfi_offset rcx, -176\n"
        ".cfi_offset rbx, -184\n"
        ".cfi_offset rbp, -192\n"
        ".cfi_offset rsi, -200\n"
        ".cfi_offset rdi, -208\n"
        ".cfi_offset r8, -216\n"
        ".cfi_offset r9, -224\n"
        ".cfi_offset r10, -232\n"
        ".cfi_offset r11, -240\n"
        ".cfi_offset r12, -248\n"
        ".cfi_offset r13, -256\n"
        ".cfi_offset r14, -264\n"
        ".cfi_offset r15, -272\n"
        "movq %rsp, %rbx\n"
        ".cfi_def_cfa_register rbx\n"
        "andq $-64, %rsp\n"
        "movq %rbx, %rdi\n"
        "call pct_patch_event\n"
        "testl %eax, %eax\n"
        "jz 1f\n"
        "movl %eax, %r13d\n"
        "pushfq\n"
        "popq %r12\n"
        "btrl $8, %r12d\n" /* the trap flag, if a handler of ours has set it: that ends elsewhere */
        "cld\n"
        "subq pct_patch_state_size(%rip), %rsp\n" /* enough for moves, too */
        "cmpb $0, pct_patch_moves(%rip)\n"
        "je 2f\n"
        "cmpb $0, pct_memory_explored(%rip)\n"
        "jne 2f\n"
        "movl $1, %ecx\n"
        "xgetbv\n"
        "testb $1, %al\n"
        "jnz 2f\n"
        "movl %eax, %r14d\n"
        "movq %rsp, %rdi\n"
        "call pct_patch_save\n"
        "movq %rbx, %rdi\n"
        "movl %r13d, %esi\n"
        "xorl %edx, %edx\n"
        "call pct_patch_point\n"
        "movq %rsp, %rdi\n"
        "call pct_patch_put_back\n"
        "jmp 3f\n"
        "2: leaq 512(%rsp), %rdi\n" /* the header: XRSTOR wants its unused part to be zero */
        "xorl %eax, %eax\n"
        "movl $8, %ecx\n"
        "rep stosq\n"
        "movl pct_patch_state_mask(%rip), %eax\n"
        "xorl %edx, %edx\n"
        "xsave64 (%rsp)\n"
        "movq %rbx, %rdi\n"
        "movl %r13d, %esi\n"
        "movq %rsp, %rdx\n"
        "call pct_patch_point\n"
        "movl pct_patch_state_mask(%rip), %eax\n"
        "xorl %edx, %edx\n"
        "xrstor64 (%rsp)\n"
        "3: pushq %r12\n" /* for the direction flag; the others come below */
        "popfq\n"
        "1: movq %rbx, %rsp\n"
        ".cfi_def_cfa_register rsp\n"
        "popq %r15\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r14\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r13\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r12\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r11\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r10\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r9\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %r8\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %rdi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %rsi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %rbx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "popq %rcx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "movq 16(%rsp), %rax\n"
        "addb $127, %al\n"
        "sahf\n"
        "popq %rax\n"
        ".cfi_adjust_cfa_offset -8\n"
        "leaq 16(%rsp), %rsp\n"
        ".cfi_adjust_cfa_offset -16\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size pct_patch_entry, . - pct_patch_entry\n"
        ".popsection\n");

/* What machine code tells of the access of this site: kind. */
static unsigned seen(const struct pct_plan_site *site, unsigned kind)
{
    return kind | PCT_MEMORY_SEEN | (site->flags & PCT_SITE_PLAIN ? PCT_MEMORY_PLAIN : 0) |
           (site->flags & PCT_SITE_WAITS ? PCT_MEMORY_WAITS : 0);
}

static void update(const struct pct_plan_site *site, volatile void *place, const void *pc, enum pct_patch_rest rest)
{
    uint64_t old[2];
    size_t size = site->size <= sizeof old ? site->size : sizeof old;
    /* An instruction that reads and writes is two accesses to other threads, and one to a signal handler of its own
     * thread. The baton may pass between the two: then what was read is put back, and the instruction goes on from
     * that. */
    if (rest == PCT_REST_ALL)
        pct_memory_patched(place, size, seen(site, PCT_MEMORY_READ), pc);
    memcpy(old, (const void *)place, size);
    struct pct_shim_thread *self = pct_holder();
    uint64_t switches = pct_sched_switches(&pct_S);
    if (self)
        self->handled = 0;
    pct_memory_patched(place, size, seen(site, PCT_MEMORY_WRITE), pc);
    if (self && !self->handled && pct_sched_switches(&pct_S) != switches)
        memcpy((void *)place, old, size);
}

static void pause_often(void)
{
    struct pct_shim_thread *self = pct_holder();
    if (!self || pct_spin_pause_no_progress(&pct_S, &self->reads))
        return;
    pct_memory_spin();
    pct_spin_paused(&pct_S, &self->reads);
}

static void look(const struct pct_plan_site *site, const volatile void *place, const void *pc)
{
    uint64_t switches = pct_sched_switches(&pct_S);
    pct_memory_patched(place, site->size, seen(site, PCT_MEMORY_READ), pc);
    struct pct_shim_thread *self = pct_holder();
    /* That it was a step itself does not matter to the looks that follow. */
    if (self && site->flags & PCT_SITE_WAITS && pct_sched_switches(&pct_S) == switches)
        pct_spin_reads_go_on(&pct_S, &self->reads);
}

/* A function, or code of a line, begins (enum pct_site_begins), or a function returns (0). stack: the thread's, there.
 */
static void pass_function(unsigned begins, const void *pc, uint64_t stack)
{
    const enum pct_op op = begins ? PCT_OP_FUNCTION_ENTER : PCT_OP_FUNCTION_RETURN;
    PCT_ENTER(self);
    if (!self)
        return;
    self->here = (uintptr_t)pc;
    self->begins = (uint8_t)begins;
    pct_here(self, op);
    pct_done(self, op, 0, NULL);
    self->here = 0;
    if (pct_sched_has_script(&pct_S) && begins != PCT_BEGINS_LINE)
        pct_strategy_script_passed(pct_sched_strategy_state(&pct_S), self->core.id, begins != 0, (uintptr_t)pc, stack);
}

static void pass_access(struct pct_patch_frame *frame, const struct pct_plan_site *site, enum pct_patch_rest rest)
{
    volatile void *place = (volatile void *)(uintptr_t)pct_patch_address(site, frame);
    if (pct_patch_is_shadow((uintptr_t)place))
        return;
    const void *pc = (const char *)(uintptr_t)frame->pc + 1; /* not of what comes before the instruction */
    const unsigned both = PCT_MEMORY_ACQUIRE | PCT_MEMORY_RELEASE | PCT_MEMORY_SEEN;
    switch (site->kind) {
    case PCT_SITE_READ:
    case PCT_SITE_LOOK:
    case PCT_SITE_CALL:
        if (rest == PCT_REST_WAIT)
            pct_memory_spin();
        else
            look(site, place, pc);
        break;
    case PCT_SITE_WRITE:
        pct_memory_patched(place, site->size, seen(site, PCT_MEMORY_WRITE), pc);
        break;
    case PCT_SITE_UPDATE:
        update(site, place, pc, rest);
        break;
    case PCT_SITE_ATOMIC:
        pct_memory_patched(place, site->size, PCT_MEMORY_ATOMIC_UPDATE | both, pc);
        break;
    case PCT_SITE_EXCHANGE:
    case PCT_SITE_COMPARE:
        pct_memory_patched(place, site->size, PCT_MEMORY_ATOMIC_TRY | both, pc);
        pct_memory_after(
            place, both | (pct_patch_will_change(site, (uint64_t)(uintptr_t)place, frame) ? PCT_MEMORY_CHANGED : 0));
        break;
    case PCT_SITE_FENCE:
        pct_memory_fence(both);
        break;
    case PCT_SITE_PAUSE:
        pause_often();
        break;
    default:
        break;
    }
}

/* The same in an explored run, which is to know what the thread comes with. Apart: other runs have less stack for it.
 */
static __attribute__((noinline)) void pass_explored(struct pct_shim_thread *self, struct pct_patch_frame *frame,
                                                    const struct pct_plan_site *site, enum pct_patch_rest rest,
                                                    const uint64_t *state)
{
    uint64_t vectors[PCT_AWAIT_VECTORS] = { 0 };
    take_vectors(vectors, state);
    self->entry = (const uint64_t *)frame;
    self->vectors = vectors;
    pass_access(frame, site, rest);
    self->entry = NULL;
    self->vectors = NULL;
}

void pct_patch_point(struct pct_patch_frame *frame, enum pct_patch_rest rest, const uint64_t *state)
{
    const struct pct_plan_site *site = &pct_emit_record(frame->return_address)->site;
    const void *pc = (const char *)(uintptr_t)frame->pc + 1; /* not of what comes before the instruction */
    const uint64_t stack = (uint64_t)(uintptr_t)(frame + 1) + PCT_PATCH_RED_ZONE;
    int error = errno;
    if (pct_self)
        pct_self->patched = stack;
    if (site->flags & PCT_SITE_ENTERS) {
        const uint64_t arguments[] = { frame->rdi, frame->rsi, frame->rdx, frame->rcx, frame->r8, frame->r9 };
        const uint64_t slots = (uint64_t)(uintptr_t)pct_shim.slots;
        const uint64_t threads[2] = { slots, slots + PCT_MAX_THREADS * sizeof *pct_shim.slots };
        if (pct_demon_enter)
            pct_demon_enter(frame->pc, arguments, stack, false, threads);
        pass_function(site->begins, pc, stack);
        if (pct_demon_enter)
            pct_demon_enter(frame->pc, arguments, stack, true, threads);
    }
    if (site->flags & PCT_SITE_RETURNS)
        pass_function(0, pc, stack);
    if (!pct_memory_view.active) {
        errno = error;
        return;
    }
    struct pct_shim_thread *self = state && pct_memory_explored ? pct_holder() : NULL;
    if (self)
        pass_explored(self, frame, site, rest, state);
    else
        pass_access(frame, site, rest);
    errno = error;
}
