/* What a program may rely on at an instruction that pct has patched (tests/programs/patched runs this with
 * --memory=all):
 *
 *     state     registers, flags, vector registers and the red zone are what they would be
 *     wide      so are all of the processor's other registers, whichever of them are in use
 *     fault     a fault comes up at the instruction itself, with its registers, and can be repaired
 *     unwind    a signal handler's backtrace goes through the function that was interrupted
 *     filter    a program with a filter of system calls is left as it is
 *     denied    so is one that may not make memory executable
 *     crowded   so is one that has left no free memory near its code
 *     trap      SIGTRAP is the program's own: blocked it stays pending, and its handler sees what the program raises,
 *               no more
 *     title     a program may write over its first environment before it makes a thread, as servers do that show their
 *               state there
 *     pause     a loop around PAUSE that waits for another thread ends
 *     loop      so does one on memory that --memory=globals does not see
 *     looks     the same, while the other thread writes to that memory what is there
 *     busy      so does one that writes, too, which makes it look like work
 *
 * Prints nothing, and ends with status 0, if all is well. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <execinfo.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>

static volatile int shared __attribute__((used)), ready; /* the assembly uses it */

static void check(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

/* Both threads come here: the accesses are to a place that two threads touch. */
static void touch_all(void)
{
    uint64_t before[16], after[16], flags_before, flags_after, red;
    uint8_t vectors[2][48];
    for (unsigned i = 0; i < sizeof vectors[0]; i++)
        vectors[0][i] = (uint8_t)(i * 7 + 1);
    for (int round = 0; round < 50; round++) {
        __asm__ volatile("movdqu (%[in]), %%xmm0\n\t"
                         "movdqu 16(%[in]), %%xmm7\n\t"
                         "movdqu 32(%[in]), %%xmm15\n\t"
                         "movq $0x1234567, -64(%%rsp)\n\t"
                         "movq %%rax, 0(%[before])\n\t"
                         "movq %%rcx, 8(%[before])\n\t"
                         "movq %%r8, 16(%[before])\n\t"
                         "movq %%r11, 24(%[before])\n\t"
                         "movq %%rsp, 32(%[before])\n\t"
                         "movq %%rbp, 40(%[before])\n\t"
                         "movq $-1, %%r10\n\t"
                         "addq $1, %%r10\n\t" /* carry, zero */
                         "movl $1, shared(%%rip)\n\t"
                         "movl shared(%%rip), %%r10d\n\t"
                         "seto %b[of]\n\t"
                         "setc %b[cf]\n\t"
                         "movq %%rax, 0(%[after])\n\t"
                         "movq %%rcx, 8(%[after])\n\t"
                         "movq %%r8, 16(%[after])\n\t"
                         "movq %%r11, 24(%[after])\n\t"
                         "movq %%rsp, 32(%[after])\n\t"
                         "movq %%rbp, 40(%[after])\n\t"
                         "movdqu %%xmm0, (%[out])\n\t"
                         "movdqu %%xmm7, 16(%[out])\n\t"
                         "movdqu %%xmm15, 32(%[out])\n\t"
                         "movq -64(%%rsp), %%r10\n\t"
                         "movq %%r10, %[red]"
                         : [of] "=&q"(flags_before), [cf] "=&q"(flags_after), [red] "=&r"(red)
                         : [in] "r"(vectors[0]), [out] "r"(vectors[1]), [before] "r"(before), [after] "r"(after)
                         : "memory", "cc", "r10", "xmm0", "xmm7", "xmm15");
        check(!memcmp(before, after, 6 * 8), "a general register");
        check(!(flags_before & 1) && flags_after & 1, "the flags");
        check(!memcmp(vectors[0], vectors[1], 48), "a vector register");
        check(red == 0x1234567, "the red zone");
    }
}

static void *state(void *unused)
{
    (void)unused;
    touch_all();
    return NULL;
}

/* --- All registers ------------------------------------------------------------------------------------------------ */

enum { KINDS = 8, STATE = 4096, ROUNDS = 32, MXCSR = 24, HEADER = 512, ROUND_UP = 0x4000 };

static uint32_t kinds; /* of state, that XSAVE knows here: x87, SSE, AVX, AVX-512 */
static struct {
    unsigned at, size;
} part[KINDS] = { { 32, 128 }, { 160, 256 } };
static unsigned char bytes[STATE + ROUNDS];

static int find_state(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    kinds = a & 0xe7;
    for (unsigned kind = 2; kind < KINDS; kind++)
        __get_cpuid_count(0xd, kind, &part[kind].size, &part[kind].at, &c, &d);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 255);
    return 1;
}

/* Another set of kinds is in use in each round, and in each thread; what is not in use is zero. */
static void *wide(void *odd)
{
    static __thread unsigned char before[STATE] __attribute__((aligned(64))), after[STATE] __attribute__((aligned(64)));
    static __thread unsigned char none[STATE] __attribute__((aligned(64)));
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned used = (odd ? ~round * 37 : round * 41) & kinds;
        const uint32_t mxcsr = 0x1f80 | (round & 1 ? ROUND_UP : 0), clean = 0x1f80;
        memset(before, 0, sizeof before);
        memset(after, 0, sizeof after);
        for (unsigned kind = 0; kind < KINDS; kind++)
            if (used >> kind & 1)
                memcpy(before + part[kind].at, bytes + round, part[kind].size);
        for (unsigned i = 0; i < 8; i++) /* the x87 unit's are of 80 bits, and all there, without exceptions */
            memset(before + part[0].at + (size_t)i * 16 + 10, 0, 6);
        memcpy(before, "\x7f\x03\0\0\xff", 5);
        memcpy(before + HEADER, &used, sizeof used);
        memcpy(before + MXCSR, &mxcsr, sizeof mxcsr);
        memcpy(none + MXCSR, &clean, sizeof clean);
        __asm__ volatile("xrstor64 (%[before])\n\t"
                         "movl $1, shared(%%rip)\n\t"
                         "movl shared(%%rip), %%r10d\n\t"
                         "movl $2, shared(%%rip)\n\t"
                         "xsave64 (%[after])\n\t"
                         "xrstor64 (%[none])"
                         :
                         : [before] "r"(before), [after] "r"(after), [none] "r"(none), "a"(kinds), "d"(0)
                         : "memory", "r10", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                           "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
        for (unsigned kind = 0; kind < KINDS; kind++)
            check(!(kinds >> kind & 1) || !memcmp(before + part[kind].at, after + part[kind].at, part[kind].size),
                  "a register that is in use, or is not");
        check(!memcmp(before + MXCSR, after + MXCSR, sizeof mxcsr), "how numbers are rounded");
    }
    return NULL;
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

extern char fault_read[], fault_update[];
static volatile int faults;
static char *place;

static void repair(int number, siginfo_t *info, void *context)
{
    const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number;
    uintptr_t pc = (uintptr_t)regs[REG_RIP];
    check(pc == (uintptr_t)fault_read || pc == (uintptr_t)fault_update, "the place of a fault");
    check(regs[REG_RDX] == 0x55aa && regs[REG_RCX] == 0x77bb, "a register at a fault");
    check(info->si_addr == place, "the address of a fault");
    faults++;
    mprotect(place, 4096, PROT_READ | PROT_WRITE);
}

static void *fault(void *unused)
{
    uint64_t value;
    (void)unused;
    mprotect(place, 4096, PROT_NONE);
    __asm__ volatile("fault_read: movl 0x0(%1), %k0" : "=r"(value) : "r"(place), "d"(0x55aa), "c"(0x77bb) : "memory");
    mprotect(place, 4096, PROT_NONE);
    __asm__ volatile("fault_update: addl $3, (%0)" : : "r"(place), "d"(0x55aa), "c"(0x77bb) : "memory", "cc");
    return NULL;
}

/* --- Unwinding ---------------------------------------------------------------------------------------------------- */

static volatile int found;

static void look_back(int number, siginfo_t *info, void *context)
{
    void *frames[32];
    (void)number;
    (void)info;
    (void)context;
    int count = backtrace(frames, 32);
    for (int i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)frames[i];
        found |= at >= (uintptr_t)fault_read && at < (uintptr_t)fault_read + 3;
    }
    mprotect(place, 4096, PROT_READ | PROT_WRITE);
}

/* --- Confinement -------------------------------------------------------------------------------------------------- */

static int confine(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { .len = 1, .filter = &allow };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Take all that is free between two addresses. */
static void fill(uintptr_t from, uintptr_t to)
{
    if (from >= to || mmap((void *)from, to - from, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED)
        return;
    uintptr_t middle = from + (to - from) / 2 / 4096 * 4096;
    if (middle == from)
        return; /* one page, of somebody else */
    fill(from, middle);
    fill(middle, to);
}

/* --- Traps -------------------------------------------------------------------------------------------------------- */

static volatile int traps;

static void count_trap(int number)
{
    (void)number;
    traps++;
}

static void *trap(void *unused)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    touch_all();
    check(!sigpending(&pending) && !sigismember(&pending, SIGTRAP) && !traps, "no trap of pct's own");
    raise(SIGTRAP);
    touch_all();
    check(!sigpending(&pending) && sigismember(&pending, SIGTRAP) && !traps, "the blocked trap is pending");
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    check(traps == 1, "the trap came");
    touch_all();
    check(traps == 1, "no other trap came");
    return unused;
}

static void *wait_by_pause(void *unused)
{
    (void)unused;
    while (!ready)
        __builtin_ia32_pause();
    return NULL;
}

static volatile int limit = 1, behind;
static volatile int *volatile hidden = &behind; /* accesses through it name no global variable */

static void *wait_in_loop(void *unused)
{
    volatile int *flag = hidden;
    (void)unused;
    while (*flag < limit) {
    }
    return NULL;
}

static volatile int written;

static void *wait_and_write(void *unused)
{
    volatile int *flag = hidden;
    (void)unused;
    while (*flag < limit)
        written = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    void *(*thread)(void *) = state;
    struct sigaction action = { .sa_flags = SA_SIGINFO };
    pthread_t other;
    void *frames[4];
    backtrace(frames, 4); /* loads what it needs */
    place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(mode, "filter") && confine())
        return 2;
    if (!strcmp(mode, "denied") && prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0))
        return 77; /* a kernel that has no such thing */
    if (!strcmp(mode, "crowded"))
        fill(((uintptr_t)fault_read & ~(uintptr_t)4095) - 0x7ff00000,
             ((uintptr_t)fault_read & ~(uintptr_t)4095) + 0x7ff00000);
    if (!strcmp(mode, "trap")) {
        thread = trap;
        signal(SIGTRAP, count_trap);
    }
    if (!strcmp(mode, "fault") || !strcmp(mode, "unwind")) {
        thread = fault;
        action.sa_sigaction = !strcmp(mode, "fault") ? repair : look_back;
        sigaction(SIGSEGV, &action, NULL);
    }
    for (char **at = environ; !strcmp(mode, "title") && *at; at++)
        memset(*at, 0, strlen(*at));
    if (!strcmp(mode, "pause"))
        thread = wait_by_pause;
    if (!strcmp(mode, "loop") || !strcmp(mode, "looks"))
        thread = wait_in_loop;
    if (!strcmp(mode, "busy"))
        thread = wait_and_write;
    if (!strcmp(mode, "wide") && find_state())
        thread = wide;
    if (pthread_create(&other, NULL, thread, NULL))
        return 3;
    if (thread == state || thread == trap)
        touch_all();
    if (thread == wide)
        wide(&other);
    /* The other one shall have to wait; which takes the watchdog some milliseconds each time, where it is needed. */
    int yields = thread == wait_in_loop ? 50 : thread == wait_and_write ? 12 : 0;
    for (int i = 0; i < yields; i++) {
        if (!strcmp(mode, "looks"))
            *hidden = 0; /* nothing new, but it counts */
        sched_yield();
    }
    ready = *hidden = 1;
    pthread_join(other, NULL);
    check(strcmp(mode, "fault") || (faults == 2 && *(int *)place == 3), "the number of faults");
    check(strcmp(mode, "unwind") || found, "the backtrace");
    return 0;
}
