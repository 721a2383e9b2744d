/* Thread stacks of a host of contexts that stay mapped over its runs: see host.h. libc maps one for each thread, and
 * the kernel takes longer for that, for the page faults of it, and for unmapping it, than for most else in a run.
 *
 * Between the runs, and until a thread of the run gets it, such a stack is mapped without any access: whoever touches
 * it crashes, as where nothing is. When libc maps a stack, it is given the one that the kernel would choose: it has
 * done so in an earlier run, after the same calls of mmap(), munmap() and mremap(). Any call for which that is not
 * known finds nothing but what the run itself has mapped: the others are unmapped before. So libc's system calls for
 * memory are led here, and all others trap (host_filter.c), but for pct's own of memory apart.
 *
 * What is kept are two parts, libc's guard, and what it makes writable; anything else done to it ends that. */
#include "host_stacks.h"
#include "apart.h"
#include "host.h"
#include "host_code.h"
#include "host_thread.h"
#include "real.h"
#include "sys.h"
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { PAGE = 4096, SLOTS = 16, CALLS = 5, CODE = 7, NEAR = 64, STUB_SIZE = 64, MANY = 8 };

/* Memory of pct's own (apart.c, thread.c), where the kernel puts nothing by itself. */
#define APART_FROM (INT64_C(0x2000) << 32)
#define APART_TO (INT64_C(0x3000) << 32)

struct slot {
    uintptr_t from, to; /* to: 0: there is none */
    uintptr_t stack;    /* where its guard ends; 0: it is not known yet */
    uint64_t after;     /* the calls before the one that maps it */
    bool mapped;        /* for the run, */
    bool writable;      /* and its guard set up */
    bool fresh;         /* made in this run */
    bool changed;       /* it cannot be kept */
};

/* Shared, so that it is not put back itself. */
static struct stacks {
    uint64_t calls; /* those of the run, as a number */
    uint64_t runs, lost;
    bool unknown;
    struct slot slot[SLOTS];
} * stacks;

static uint8_t *place[CALLS];
uint8_t *pct_host_stacks_back[CALLS] __attribute__((visibility("hidden")));
extern uint8_t pct_host_stacks_stubs[], pct_host_stacks_stubs_end[];
uint32_t pct_host_stacks_unknown __attribute__((visibility("hidden"))); /* a call came while another was under way */

/* As pct_host_clone (host_threads.c), the caller's stack is not used. */
#define STUB(number, call)                                                                                             \
    "    .balign 64\n"                                                                                                 \
    "    mov $" #call ", %eax\n"                                                                                       \
    "    mov pct_host_threads(%rip), %rcx\n"                                                                           \
    "    mov $1, %r11d\n"                                                                                              \
    "    xchg %r11d, (%rcx)\n"                                                                                         \
    "    test %r11d, %r11d\n"                                                                                          \
    "    mov pct_host_stacks_back + 8 * " #number "(%rip), %r11\n"                                                     \
    "    jz 1f\n"                                                                                                      \
    "    movl $1, pct_host_stacks_unknown(%rip)\n"                                                                     \
    "    syscall\n"                                                                                                    \
    "    jmp *pct_host_stacks_back + 8 * " #number "(%rip)\n"
__asm__(".pushsection .text\n"
        ".globl pct_host_stacks_stubs, pct_host_stacks_stubs_end\n"
        ".hidden pct_host_stacks_stubs, pct_host_stacks_stubs_end, pct_host_stacks_made\n"
        ".balign 32\n"
        "pct_host_stacks_stubs:\n" STUB(0, 9) STUB(1, 11) STUB(2, 10) STUB(3, 28)
            STUB(4, 25) ".balign 64\n"
                        "1:  mov %rsp, 56(%rcx)\n"
                        "    lea 11136(%rcx), %rsp\n"
                        "    push %r11\n"
                        "    push %r11\n"
                        "    push %r9\n"
                        "    push %r8\n"
                        "    push %r10\n"
                        "    push %rdx\n"
                        "    push %rsi\n"
                        "    push %rdi\n"
                        "    mov %rsp, %rsi\n"
                        "    mov %eax, %edi\n"
                        "    call pct_host_stacks_made\n"
                        "    pop %rdi\n"
                        "    pop %rsi\n"
                        "    pop %rdx\n"
                        "    pop %r10\n"
                        "    pop %r8\n"
                        "    pop %r9\n"
                        "    pop %r11\n"
                        "    mov pct_host_threads(%rip), %rcx\n"
                        "    mov 56(%rcx), %rsp\n"
                        "    movl $0, (%rcx)\n"
                        "    jmp *%r11\n"
                        "pct_host_stacks_stubs_end:\n"
                        ".popsection\n");

void pct_host_stacks_prepare(void)
{
    static const struct {
        const char *name;
        uint8_t call;
    } known[CALLS] = { { "mmap", SYS_mmap },
                       { "munmap", SYS_munmap },
                       { "mprotect", SYS_mprotect },
                       { "madvise", SYS_madvise },
                       { "mremap", SYS_mremap } };
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    /* A library with calls of its own, as that of explored runs: what it asks the kernel for by itself would trap, and
     * pct places the stacks of those. */
    if (pct_real_is_preloaded("mmap"))
        return;
    for (unsigned i = 0; i < CALLS; i++) {
        const uint8_t code[CODE] = { 0xb8, known[i].call, 0, 0, 0, 0x0f, 0x05 }; /* mov $call, %eax; syscall */
        uint8_t *at = pct_real_libc(known[i].name), *end = at + NEAR;            /* that of pct-cc has its own */
        if (!at)
            return;
        while (at < end && __builtin_memcmp(at, code, sizeof code) != 0)
            at++;
        if (at == end)
            return;
        place[i] = at;
        pct_host_stacks_back[i] = at + sizeof code;
    }
    struct stacks *all = pct_apart_map(sizeof *all);
    if (all && PCT_SYS6(SYS_mmap, all, sizeof *all, PROT_READ | PROT_WRITE, flags, -1, 0) == (long)all)
        stacks = all;
}

bool pct_host_stacks_begin(void)
{
    for (unsigned i = 0; stacks && i < CALLS; i++)
        if (!pct_host_code_lead(place[i], pct_host_stacks_stubs + (size_t)STUB_SIZE * i))
            return false;
    return true;
}

bool pct_host_stacks_on(void)
{
    return stacks != NULL;
}

void pct_host_stacks_code(uintptr_t *from, uintptr_t *to)
{
    *from = (uintptr_t)pct_host_stacks_stubs;
    *to = (uintptr_t)pct_host_stacks_stubs_end;
}

/* --- In a run ----------------------------------------------------------------------------------------------------- */

static bool meets(const struct slot *slot, uintptr_t from, size_t size)
{
    const uintptr_t to = from + size < from ? UINTPTR_MAX : from + size;
    return slot->to && from < slot->to && to > slot->from;
}

bool pct_host_stacks_meet(uintptr_t from, size_t size)
{
    for (unsigned i = 0; stacks && i < SLOTS; i++)
        if (meets(&stacks->slot[i], from, size))
            return true;
    return false;
}

static void drop(struct slot *slot)
{
    pct_host_sys4(SYS_munmap, (long)slot->from, (long)(slot->to - slot->from), 0, 0);
    *slot = (struct slot){ .to = 0 };
}

/* From here on there is nothing but what the run has mapped. */
static void leave_run_alone(void)
{
    bool any = false;
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        if (slot->to && !slot->mapped) {
            drop(slot);
            any = true;
        }
    stacks->lost += any;
}

static void note(int call, uint64_t a, uint64_t b)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t sum = stacks->calls;
    sum = (sum ^ (uint64_t)call) * odd;
    sum = (sum ^ sum >> 29 ^ a) * odd;
    sum = (sum ^ sum >> 29 ^ b) * odd;
    stacks->calls = sum ^ sum >> 32;
}

/* GLIBC: allocate_stack(). */
static bool is_stack(const long *a)
{
    return !a[0] && a[1] >= 2 * PAGE && !(a[1] % PAGE) && a[2] == PROT_NONE &&
           (int)a[3] == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK) && (int)a[4] == -1 && !a[5];
}

static long real(int call, const long *a)
{
    return pct_host_sys(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool failed(long result)
{
    return result < 0 && result > -PAGE;
}

static long map(const long *a)
{
    const bool stack = is_stack(a);
    const uint64_t before = stacks->calls;
    struct slot *free = NULL;
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        if (!slot->to) {
            free = slot;
        } else if (stack && !slot->mapped && slot->after == before && slot->to - slot->from == (uintptr_t)a[1]) {
            slot->mapped = true;
            note(SYS_mmap, slot->from, slot->to);
            return (long)slot->from;
        }
    const bool chosen = a[0] && a[3] & MAP_FIXED_NOREPLACE; /* by the caller: the kernel looks for no place */
    if (!chosen || pct_host_stacks_meet((uintptr_t)a[0], (size_t)a[1] + PAGE))
        leave_run_alone();
    const long at = real(SYS_mmap, a);
    if (failed(at))
        return at;
    note(SYS_mmap, (uint64_t)at, (uint64_t)(at + a[1]));
    if (stack && free && (stacks->lost < MANY || 2 * stacks->lost < stacks->runs))
        *free = (struct slot){
            .from = (uintptr_t)at, .to = (uintptr_t)(at + a[1]), .after = before, .mapped = true, .fresh = true
        };
    return at;
}

/* Of one that the run has: as when it is unmapped. */
static long take_away(struct slot *slot)
{
    const long size = (long)(slot->to - slot->stack);
    if (slot->fresh || slot->changed || pct_host_sys4(SYS_madvise, (long)slot->stack, size, MADV_DONTNEED, 0) ||
        pct_host_sys4(SYS_mprotect, (long)slot->stack, size, PROT_NONE, 0))
        drop(slot);
    else
        slot->mapped = slot->writable = false;
    return 0;
}

/* The run does this to memory that is there, of one of its stacks, too. */
static void follow(struct slot *slot, int call, const long *a)
{
    const uintptr_t from = (uintptr_t)a[0];
    const bool whole = from > slot->from && from + (size_t)a[1] == slot->to && !(from % PAGE);
    if (call == SYS_mprotect && !slot->writable && a[2] == (PROT_READ | PROT_WRITE) && whole &&
        (!slot->stack || slot->stack == from)) {
        slot->stack = from;
        slot->writable = true;
    } else if (call != SYS_madvise || a[2] != MADV_DONTNEED) {
        slot->changed = true;
    }
}

long pct_host_stacks_call(int call, const long *a)
{
    if (!stacks || (a[0] >= APART_FROM && a[0] < APART_TO))
        return real(call, a);
    if (call == SYS_mmap)
        return map(a);
    struct slot *met = NULL;
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++) {
        if (!meets(slot, (uintptr_t)a[0], (size_t)a[1]))
            continue;
        if (!slot->mapped)
            leave_run_alone();
        else if (call == SYS_munmap && (uintptr_t)a[0] == slot->from && (size_t)a[1] == slot->to - slot->from)
            met = slot;
        else
            follow(slot, call, a);
    }
    if (call == SYS_mremap)
        leave_run_alone();
    const long result = met ? take_away(met) : real(call, a);
    if (!failed(result) && (call == SYS_munmap || call == SYS_mremap))
        note(call, (uint64_t)a[0] ^ (uint64_t)result, (uint64_t)(a[0] + a[1]) ^ (uint64_t)a[2] << 20);
    return result;
}

__attribute__((used)) long pct_host_stacks_made(int call, const long *arguments)
{
    if (!pct_host_memory_may(call, arguments))
        pct_host_leave(PCT_HOST_CALL, call);
    return pct_host_stacks_call(call, arguments);
}

/* --- At a point in the middle of a run ---------------------------------------------------------------------------- */

bool pct_host_stacks_save(uint64_t *calls)
{
    *calls = 0;
    if (!stacks)
        return true;
    *calls = stacks->calls;
    for (const struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        if (slot->mapped)
            return false;
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        if (slot->to)
            drop(slot);
    return !pct_host_stacks_unknown;
}

void pct_host_stacks_load(uint64_t calls)
{
    if (!stacks)
        return;
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        *slot = (struct slot){ .to = 0 };
    stacks->calls = calls;
}

/* --- Between runs ------------------------------------------------------------------------------------------------- */

static void unmap(uintptr_t from, uintptr_t to)
{
    if (from < to)
        pct_host_sys4(SYS_munmap, (long)from, (long)(to - from), 0, 0);
}

void pct_host_stacks_empty(const struct pct_gap *gap)
{
    uintptr_t from = gap->from;
    for (const struct slot *next; stacks; from = next->to) {
        next = NULL;
        for (const struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
            if (slot->to && slot->from >= from && slot->to <= gap->to && (!next || slot->from < next->from))
                next = slot;
        if (!next)
            break;
        unmap(from, next->from);
    }
    unmap(from, gap->to);
}

/* It is as if nobody had touched it, and is watched. */
static bool begin_to_keep(const struct slot *slot, int uffd)
{
    const long from = (long)slot->stack, size = (long)(slot->to - slot->stack);
    struct uffdio_register all = { .range = { slot->stack, slot->to - slot->stack }, .mode = UFFDIO_REGISTER_MODE_WP };
    const long without = pct_host_sys4(SYS_madvise, from, size, MADV_NOHUGEPAGE, 0); /* EINVAL: there are none */
    return slot->writable && (!without || without == -EINVAL) &&
           !pct_host_sys4(SYS_madvise, from, size, MADV_DONTNEED, 0) &&
           !pct_host_sys4(SYS_ioctl, uffd, UFFDIO_REGISTER, (long)&all, 0);
}

bool pct_host_stacks_settle(int uffd)
{
    if (!stacks)
        return true;
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        if (slot->to && (slot->changed || (slot->fresh && !begin_to_keep(slot, uffd))))
            drop(slot);
    stacks->runs++;
    return !pct_host_stacks_unknown;
}

void pct_host_stacks_pages(uint64_t *size, uint64_t *data)
{
    for (unsigned i = 0; stacks && i < SLOTS; i++) {
        *size += (stacks->slot[i].to - stacks->slot[i].from) / PAGE;
        *data += stacks->slot[i].writable ? (stacks->slot[i].to - stacks->slot[i].stack) / PAGE : 0;
    }
}

bool pct_host_stacks_had(uintptr_t place)
{
    for (unsigned i = 0; stacks && i < SLOTS; i++)
        if (stacks->slot[i].writable && place >= stacks->slot[i].stack && place < stacks->slot[i].to)
            return true;
    return false;
}

/* One that can be written, and lies directly below this place, or (above) above it; NULL: none. */
static const struct slot *beside(uintptr_t place, bool above)
{
    for (const struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        if (slot->writable && (above ? slot->from : slot->to) == place)
            return slot;
    return NULL;
}

bool pct_host_stacks_hide(void)
{
    if (!stacks)
        return true;
    for (const struct slot *slot = stacks->slot, *low, *next; slot < stacks->slot + SLOTS; slot++) {
        if (!slot->writable || beside(slot->to, true))
            continue;
        /* With all that follow below, and their guards: mostly those of all threads. */
        for (low = slot; (next = beside(low->from, false)); low = next)
            ;
        if (pct_host_sys4(SYS_mprotect, (long)low->stack, (long)(slot->to - low->stack), PROT_NONE, 0))
            return false;
    }
    for (struct slot *slot = stacks->slot; slot < stacks->slot + SLOTS; slot++)
        slot->mapped = slot->writable = slot->fresh = false;
    stacks->calls = 0;
    return true;
}
