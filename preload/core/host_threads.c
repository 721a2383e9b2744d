/* Threads of the runs in a host: see host.h. The kernel takes longer to make one and to end it than most runs take
 * otherwise. So the kernel thread of one that has ended stays, and is the next run's: at the two places where libc asks
 * the kernel, clone3() and the last exit() of start_thread(), it comes here instead. All that libc does of its own,
 * with stacks, handles, lists, keys, and the memory that it leaves, is done as ever; what is done here is what the
 * kernel does.
 *
 * A kernel thread that has ended is as a new one: it has no robust list, alternate stack, area of restartable
 * sequences, pending signal, or word to clear at its end. It blocks all signals, and waits on a stack that is not put
 * back. Taken again, it gets what clone3() copies from the creator: registers, vectors and their modes, mask, CPUs, GS.
 * What the filter lets no run change is as it was: name, policy, limits. Where anything is in doubt, the kernel thread
 * ends, and the next one is made. A run has no two threads of the same number (gettid), as one that was not restored:
 * those that have ended in it are taken by later ones. */
#include "host_thread.h"
#include "apart.h"
#include "host.h"
#include "host_code.h"
#include "host_mask.h"
#include "host_stacks.h"
#include "real.h"
#include "shim.h"
#include "sys.h"
#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

enum {
    OSXSAVE = 1 << 27,
    RSEQ_SIGNATURE = 0x53053053,
    RSEQ_LEAST = 32,
    RSEQ_MOST = 512,
    PAGE = 4096,
    START_THREAD = 4096 /* bytes of code, at most */
};
enum { FREE = -1 };

_Static_assert(offsetof(struct threads, registers) == AT_REGISTERS &&
                   offsetof(struct thread, registers) == AT_REGISTERS,
               "the assembly below");
_Static_assert(offsetof(struct threads, vectors) == AT_VECTORS && offsetof(struct thread, vectors) == AT_VECTORS,
               "the assembly below");
_Static_assert(offsetof(struct threads, stack) == AT_STACK && offsetof(struct thread, stack) == AT_STACK,
               "the assembly below");
_Static_assert(offsetof(struct threads, thread) == AT_THREADS && offsetof(struct thread, tid) == AT_TID &&
                   sizeof(struct thread) == SIZE,
               "the assembly below");
_Static_assert(offsetof(struct thread, rip) == 0 && offsetof(struct thread, fs) == AT_FS &&
                   offsetof(struct thread, gs) == AT_GS && offsetof(struct thread, whole) == AT_WHOLE &&
                   offsetof(struct thread, mxcsr) == AT_WHOLE + 4 && offsetof(struct thread, keys) == AT_WHOLE + 8 &&
                   offsetof(struct threads, contexts) == AT_CONTEXTS && offsetof(struct threads, current) == AT_CURRENT,
               "the assembly below");

struct threads *pct_host_threads;
uint32_t pct_host_threads_mask;
bool pct_host_threads_light, pct_host_threads_bases;
uint64_t pct_host_clone_after;
static uint8_t *clone_site, *exit_site;

int pct_host_thread_take(struct threads *all);
void pct_host_thread_end(struct thread *self);
void pct_host_thread_start(const struct thread *self) __attribute__((noreturn));
extern const char pct_host_clone[], pct_host_exit[];

/* A context that waits has called: by the ABI, of the processor's state beyond what a function leaves to its caller
 * only the x87 unit's is its own. Where that is as at first (XGETBV says so), MXCSR and the protection keys are all
 * there is; else, and for one that begins, XSAVE's whole area. */
/* The creator's stack is not used: what stands below its stack pointer would be another than without this. Of a child,
 * rcx and r11 are what is left in them here. */
__asm__(".pushsection .text\n"
        ".globl pct_host_clone, pct_host_exit, pct_host_thread_start, pct_host_context_switch, pct_host_context_go\n"
        ".hidden pct_host_clone, pct_host_exit, pct_host_thread_start, pct_host_context_switch, pct_host_context_go\n"
        ".hidden pct_host_thread_take, pct_host_thread_end, pct_host_context_end\n"
        ".type pct_host_clone, @function\n"
        "pct_host_clone:\n"
        "    mov pct_host_threads(%rip), %rcx\n"
        "    mov $1, %eax\n"
        "    xchg %eax, (%rcx)\n"
        "    test %eax, %eax\n"
        "    jnz 1f\n"
        "    mov %rbx, 8(%rcx)\n"
        "    mov %rbp, 16(%rcx)\n"
        "    mov %r12, 24(%rcx)\n"
        "    mov %r13, 32(%rcx)\n"
        "    mov %r14, 40(%rcx)\n"
        "    mov %r15, 48(%rcx)\n"
        "    mov %rsp, 56(%rcx)\n"
        "    mov %rdi, 64(%rcx)\n"
        "    mov %rsi, 72(%rcx)\n"
        "    mov %rdx, 80(%rcx)\n"
        "    mov %r8, 88(%rcx)\n"
        "    mov %r9, 96(%rcx)\n"
        "    mov %r10, 104(%rcx)\n"
        "    mov pct_host_threads_mask(%rip), %eax\n"
        "    xor %edx, %edx\n"
        "    xsave64 192(%rcx)\n"
        "    lea 11136(%rcx), %rsp\n"
        "    mov %rcx, %rdi\n"
        "    call pct_host_thread_take\n"
        "    mov pct_host_threads(%rip), %rcx\n"
        "    mov 56(%rcx), %rsp\n"
        "    mov 64(%rcx), %rdi\n"
        "    mov 72(%rcx), %rsi\n"
        "    mov 80(%rcx), %rdx\n"
        "    mov 88(%rcx), %r8\n"
        "    mov 96(%rcx), %r9\n"
        "    mov 104(%rcx), %r10\n"
        "    movl $0, (%rcx)\n"
        "    test %eax, %eax\n"
        "    jg 2f\n"
        "1:  mov $435, %eax\n"
        "    syscall\n"
        "2:  jmp *pct_host_clone_after(%rip)\n"
        ".type pct_host_thread_start, @function\n"
        "pct_host_thread_start:\n"
        "    mov pct_host_threads_mask(%rip), %eax\n"
        "    xor %edx, %edx\n"
        "    xrstor64 192(%rdi)\n"
        "    mov (%rdi), %rcx\n"
        "    mov 8(%rdi), %rbx\n"
        "    mov 16(%rdi), %rbp\n"
        "    mov 24(%rdi), %r12\n"
        "    mov 32(%rdi), %r13\n"
        "    mov 40(%rdi), %r14\n"
        "    mov 48(%rdi), %r15\n"
        "    mov 56(%rdi), %rsp\n"
        "    mov 72(%rdi), %rsi\n"
        "    mov 80(%rdi), %rdx\n"
        "    mov 88(%rdi), %r8\n"
        "    mov 96(%rdi), %r9\n"
        "    mov 104(%rdi), %r10\n"
        "    mov 64(%rdi), %rdi\n"
        "    xor %eax, %eax\n"
        "    jmp *%rcx\n"
        ".type pct_host_context_switch, @function\n"
        "pct_host_context_switch:\n"
        "    mov %rbx, 8(%rdi)\n"
        "    mov %rbp, 16(%rdi)\n"
        "    mov %r12, 24(%rdi)\n"
        "    mov %r13, 32(%rdi)\n"
        "    mov %r14, 40(%rdi)\n"
        "    mov %r15, 48(%rdi)\n"
        "    lea 8(%rsp), %rax\n"
        "    mov %rax, 56(%rdi)\n"
        "    mov (%rsp), %rax\n"
        "    mov %rax, (%rdi)\n"
        "    cmpb $0, pct_host_threads_bases(%rip)\n"
        "    je 3f\n"
        "    rdgsbase %rax\n"
        "    mov %rax, 136(%rdi)\n"
        "3:  movl $1, 160(%rdi)\n"
        "    cmpb $0, pct_host_threads_light(%rip)\n"
        "    je 1f\n"
        "    mov $1, %ecx\n"
        "    xgetbv\n"
        "    test $1, %al\n"
        "    jnz 1f\n"
        "    movl $0, 160(%rdi)\n"
        "    stmxcsr 164(%rdi)\n"
        "    testl $0x200, pct_host_threads_mask(%rip)\n"
        "    jz 2f\n"
        "    xor %ecx, %ecx\n"
        "    rdpkru\n"
        "    mov %eax, 168(%rdi)\n"
        "    jmp 2f\n"
        "1:  mov pct_host_threads_mask(%rip), %eax\n"
        "    xor %edx, %edx\n"
        "    xsaveopt64 192(%rdi)\n"
        "2:  mov %rsi, %rdi\n"
        ".type pct_host_context_go, @function\n"
        "pct_host_context_go:\n"
        "    mov 128(%rdi), %rdx\n"
        "    cmpb $0, pct_host_threads_bases(%rip)\n"
        "    je 3f\n"
        "    wrfsbase %rdx\n"
        "    mov 136(%rdi), %rax\n"
        "    wrgsbase %rax\n"
        "    jmp 4f\n"
        "3:  mov %rdi, %rbx\n"
        "    mov $158, %edi\n"    /* arch_prctl */
        "    mov $0x1002, %esi\n" /* ARCH_SET_FS */
        "    call pct_host_sys\n"
        "    mov %rbx, %rdi\n"
        "4:  cmpl $0, 160(%rdi)\n"
        "    jne pct_host_thread_start\n"
        "    mov $1, %ecx\n"
        "    xgetbv\n"
        "    test $1, %al\n"
        "    jz 1f\n"
        "    fninit\n"
        "1:  ldmxcsr 164(%rdi)\n"
        "    testl $0x200, pct_host_threads_mask(%rip)\n"
        "    jz 2f\n"
        "    xor %ecx, %ecx\n"
        "    rdpkru\n"
        "    cmp 168(%rdi), %eax\n"
        "    je 2f\n"
        "    mov 168(%rdi), %eax\n"
        "    wrpkru\n"
        "2:  mov 8(%rdi), %rbx\n"
        "    mov 16(%rdi), %rbp\n"
        "    mov 24(%rdi), %r12\n"
        "    mov 32(%rdi), %r13\n"
        "    mov 40(%rdi), %r14\n"
        "    mov 48(%rdi), %r15\n"
        "    mov 56(%rdi), %rsp\n"
        "    jmp *(%rdi)\n"
        ".type pct_host_exit, @function\n"
        "pct_host_exit:\n"
        "    mov pct_host_threads(%rip), %rbx\n"
        "    cmpl $0, 132(%rbx)\n"
        "    je 6f\n"
        "    mov 136(%rbx), %rdi\n"
        "    lea 11136(%rdi), %rsp\n"
        "    call pct_host_context_end\n"
        "    ud2\n"
        "6:\n"
        "    mov $186, %eax\n" /* gettid */
        "    syscall\n"
        "    mov %eax, %edx\n"
        "    mov pct_host_threads(%rip), %rbx\n"
        "    lea 11136(%rbx), %rdi\n"
        "    mov $256, %ecx\n"
        "1:  cmp %edx, 112(%rdi)\n"
        "    je 3f\n"
        "    add $11392, %rdi\n"
        "    dec %ecx\n"
        "    jnz 1b\n"
        "    lea 11136(%rbx), %rdi\n"
        "    mov $256, %ecx\n"
        "2:  mov 112(%rdi), %eax\n"
        "    test %eax, %eax\n"
        "    jg 5f\n"
        "    lock cmpxchg %edx, 112(%rdi)\n"
        "    je 3f\n"
        "5:  add $11392, %rdi\n"
        "    dec %ecx\n"
        "    jnz 2b\n"
        "    jmp 4f\n"
        "3:  lea 11136(%rdi), %rsp\n"
        "    call pct_host_thread_end\n"
        "4:  xor %edi, %edi\n"
        "    mov $60, %eax\n"
        "    syscall\n"
        "    ud2\n"
        ".popsection\n");

/* --- Where libc asks the kernel ----------------------------------------------------------------------------------- */

static uint8_t *address_of(const char *name)
{
    const struct link_map *object;
    const Elf64_Sym *symbol = pct_real_symbol(name, &object);
    return symbol ? (uint8_t *)(object->l_addr + symbol->st_value) : NULL;
}

/* The only place of these bytes in there. NULL: there is none, or are several. */
static uint8_t *find(uint8_t *from, size_t size, const uint8_t *code, size_t length)
{
    uint8_t *found = NULL;
    for (size_t i = 0; i + length <= size; i++)
        if (!memcmp(from + i, code, length)) {
            if (found)
                return NULL;
            found = from + i;
        }
    return found;
}

/* GLIBC: 2.36 to 2.43. __clone3() stands behind clone() in the library, start_thread() about pthread_create(). */
static bool find_sites(void)
{
    static const uint8_t clones[] = { 0xb8, 0xb3, 0x01, 0x00, 0x00, 0x0f, 0x05 };      /* mov $435, %eax; syscall */
    static const uint8_t exits[] = { 0x31, 0xff, 0x89, 0xd0, 0x0f, 0x05, 0xeb, 0xf8 }; /* xor %edi, %edi; mov */
    static const uint8_t exits_now[] = { 0x31, 0xff, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xeb, 0xf5 };
    static const uint8_t number[] = { 0xba, 0x3c, 0x00, 0x00, 0x00 }; /* mov $60, %edx, a few bytes before */
    enum { NEAR = 16, BEFORE = 8 << 10, ROOM = 24 << 10, BEHIND_CLONE = 8 << 10 };
    uint8_t *clone = address_of("clone"), *create = address_of("pthread_create");
    if (!clone || !create || !pct_host_code_find())
        return false;
    clone_site = find(clone, BEHIND_CLONE, clones, sizeof clones);
    exit_site = find(create - BEFORE, ROOM, exits_now, sizeof exits_now);
    if (!exit_site) {
        exit_site = find(create - BEFORE, ROOM, exits, sizeof exits);
        if (exit_site && !find(exit_site - NEAR, NEAR, number, sizeof number))
            exit_site = NULL;
    }
    pct_host_clone_after = (uint64_t)(clone_site + sizeof clones);
    return clone_site && exit_site;
}

static bool can_save_vectors(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
        return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    pct_host_threads_mask = a & VECTORS_MASK;
    return !(a & ~VECTORS_MASK & ~0x18u); /* MPX is no more; of AMX, XSAVE would write more */
}

long pct_host_thread_rseq(const void *area, uint32_t size, int flags)
{
    return pct_host_sys4(SYS_rseq, (long)area, size, flags, RSEQ_SIGNATURE);
}

static char *rseq_area(const struct threads *all)
{
    return (char *)__builtin_thread_pointer() + all->rseq_offset;
}

/* The kernel says only whether a guess is right. */
static void learn_rseq(struct threads *all)
{
    const int64_t *offset = (const int64_t *)address_of("__rseq_offset");
    const uint32_t *size = (const uint32_t *)address_of("__rseq_size");
    if (!offset || !size || !*size)
        return;
    all->rseq_offset = (uint64_t)*offset;
    for (uint32_t guess = RSEQ_LEAST; guess <= RSEQ_MOST && !all->rseq_size; guess += 4)
        if (pct_host_thread_rseq(rseq_area(all), guess, 0) == -EBUSY)
            all->rseq_size = guess;
}

void pct_host_threads_prepare(bool contexts, int state)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (!can_save_vectors() || !find_sites() || !pct_host_code_reaches(clone_site, pct_host_clone) ||
        !pct_host_code_reaches(exit_site, pct_host_exit))
        return;
    struct threads *all = pct_apart_map(sizeof *all);
    if (!all || PCT_SYS6(SYS_mmap, all, sizeof *all, PROT_READ | PROT_WRITE, flags, -1, 0) != (long)all)
        return;
    all->run = 1;
    all->guard.state = state;
    learn_rseq(all);
    all->contexts = contexts && pct_host_contexts_prepare(all);
    pct_host_threads = all;
}

bool pct_host_threads_code(uintptr_t *from, uintptr_t *to)
{
    enum { AROUND = 4 << 10 };
    *from = (uintptr_t)exit_site - AROUND;
    *to = (uintptr_t)exit_site + AROUND;
    return pct_host_threads != NULL;
}

void pct_host_threads_begin(void)
{
    if (!pct_host_threads)
        return;
    if (!pct_host_code_open() || !pct_host_code_lead(clone_site, pct_host_clone) ||
        !pct_host_code_lead(exit_site, pct_host_exit) ||
        (pct_host_contexts && (!pct_host_mask_begin() || !pct_host_stacks_begin())) || !pct_host_code_close())
        pct_host_leave(PCT_HOST_KERNEL, 0);
    pct_host_threads->usable = 1;
}

/* --- Threads that begin ------------------------------------------------------------------------------------------- */

bool pct_host_thread_is_plain(const struct registers *r)
{
    const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |
                           CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    const struct clone_args *a = (const struct clone_args *)r->rdi;
    return r->rsi >= CLONE_ARGS_SIZE_VER0 && r->rsi <= sizeof *a && a->flags == flags && !a->exit_signal &&
           a->parent_tid && a->child_tid && a->stack && (r->rsi < CLONE_ARGS_SIZE_VER1 || !a->set_tid_size) &&
           (uint64_t)exit_site - r->rdx < START_THREAD;
}

/* libc blocks them all. */
bool pct_host_thread_blocks_all(void)
{
    const uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
    uint64_t mask = 0;
    pct_host_sys4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, MASK);
    return (mask | never) == ~UINT64_C(0);
}

static struct thread *choose(struct threads *all)
{
    for (struct thread *thread = all->thread; thread < all->thread + MOST && thread->tid; thread++)
        if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == PARKED && thread->run != all->run)
            return thread;
    return NULL;
}

/* Of the creator, in place of clone3(). Returns its number; 0: none can be taken. On a stack of its own. */
__attribute__((used)) int pct_host_thread_take(struct threads *all)
{
    if (all->contexts)
        return pct_host_context_make(all);
    struct thread *thread =
        all->usable && pct_host_thread_is_plain(&all->registers) && pct_host_thread_blocks_all() ? choose(all) : NULL;
    if (!thread)
        return 0;
    const struct clone_args *a = (const struct clone_args *)all->registers.rdi;
    thread->rip = pct_host_clone_after;
    thread->registers = all->registers;
    thread->registers.rsp = a->stack + a->stack_size;
    memcpy(thread->vectors, all->vectors, sizeof thread->vectors);
    thread->fs = a->tls;
    if (pct_host_sys4(SYS_arch_prctl, ARCH_GET_GS, (long)&thread->gs, 0, 0))
        return 0;
    thread->cpus_size = pct_host_sys4(SYS_sched_getaffinity, 0, sizeof thread->cpus, (long)thread->cpus, 0);
    thread->cleared = (int32_t *)a->child_tid;
    thread->run = all->run;
    __atomic_store_n(&thread->state, RUNS, __ATOMIC_RELAXED);
    *(int32_t *)a->parent_tid = thread->tid;
    __atomic_store_n(&thread->taken, 1, __ATOMIC_RELEASE);
    pct_host_sys4(SYS_futex, (long)&thread->taken, FUTEX_WAKE_PRIVATE, 1, 0);
    return thread->tid;
}

/* --- Threads that end --------------------------------------------------------------------------------------------- */

static bool is_pending(void)
{
    uint64_t pending = 0;
    return pct_host_sys4(SYS_rt_sigpending, (long)&pending, MASK, 0, 0) || pending;
}

static bool has_robust(void)
{
    const uintptr_t *head = NULL; /* the next one, an offset, the one that is being locked */
    size_t size = 0;
    if (pct_host_sys4(SYS_get_robust_list, 0, (long)&head, (long)&size, 0))
        return true;
    return head && (head[0] != (uintptr_t)head || head[2]);
}

/* Somebody else's area is known to nobody. */
static bool leave_rseq(const struct threads *all, struct thread *self)
{
    if (all->rseq_size && !pct_host_thread_rseq(rseq_area(all), all->rseq_size, PCT_RSEQ_UNREGISTER))
        return true;
    return !pct_host_thread_rseq(self->probe, sizeof self->probe, 0) &&
           !pct_host_thread_rseq(self->probe, sizeof self->probe, PCT_RSEQ_UNREGISTER);
}

/* The kernel thread becomes like a new one, but for the word that says that it is there. */
static bool become_new(struct threads *all, struct thread *self, int32_t **cleared)
{
    enum { ROBUST_LIST = 24 };
    const uint64_t every = ~UINT64_C(0);
    const stack_t none = { .ss_flags = SS_DISABLE };
    return all->usable && self->tid != pct_shim.pid && !has_robust() &&
           !pct_host_sys4(SYS_prctl, PR_GET_TID_ADDRESS, (long)cleared, 0, 0) && *cleared &&
           !pct_host_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&every, 0, MASK) && !is_pending() &&
           leave_rseq(all, self) && !pct_host_sys4(SYS_sigaltstack, (long)&none, 0, 0, 0) &&
           !pct_host_sys4(SYS_set_robust_list, 0, ROBUST_LIST, 0, 0) &&
           pct_host_sys4(SYS_set_tid_address, 0, 0, 0, 0) == self->tid;
}

static void take_cpus(const struct thread *self)
{
    unsigned long now[sizeof self->cpus / sizeof *self->cpus];
    long size = pct_host_sys4(SYS_sched_getaffinity, 0, sizeof now, (long)now, 0);
    if (self->cpus_size > 0 && (size != self->cpus_size || memcmp(now, self->cpus, (size_t)size) != 0))
        pct_host_sys4(SYS_sched_setaffinity, 0, self->cpus_size, (long)self->cpus, 0);
}

/* In place of exit(), on the stack of the kernel thread. Returns if it is to end. Once the word is cleared, the thread
 * pointer leads nowhere: until there is another, nothing here may use it. */
__attribute__((used)) void pct_host_thread_end(struct thread *self)
{
    struct threads *all = pct_host_threads;
    int32_t *cleared = NULL;
    if (!become_new(all, self, &cleared)) {
        __atomic_store_n(&self->state, ENDED, __ATOMIC_RELEASE);
        return;
    }
    self->run = all->run;
    __atomic_store_n(&self->state, LEAVES, __ATOMIC_RELEASE);
    __atomic_store_n(cleared, 0, __ATOMIC_SEQ_CST);
    pct_host_sys4(SYS_futex, (long)cleared, FUTEX_WAKE, 1, 0);
    __atomic_store_n(&self->state, PARKED, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&self->taken, __ATOMIC_ACQUIRE))
        pct_host_sys4(SYS_futex, (long)&self->taken, FUTEX_WAIT_PRIVATE, 0, 0);
    self->taken = 0;
    pct_host_sys4(SYS_arch_prctl, ARCH_SET_FS, (long)self->fs, 0, 0);
    pct_host_sys4(SYS_arch_prctl, ARCH_SET_GS, (long)self->gs, 0, 0);
    pct_host_sys4(SYS_set_tid_address, (long)self->cleared, 0, 0, 0);
    take_cpus(self);
    if (is_pending()) /* sent to the one before, perhaps */
        pct_host_leave(PCT_HOST_SIGNALS, 0);
    pct_host_thread_start(self);
}

/* --- Between runs, and questions ---------------------------------------------------------------------------------- */

unsigned pct_host_threads_count(bool *parked)
{
    unsigned count = 0;
    *parked = true;
    if (pct_host_contexts)
        return pct_host_threads->guard.tid != 0;
    for (unsigned i = 0; pct_host_threads && i < MOST && pct_host_threads->thread[i].tid; i++) {
        uint32_t state = __atomic_load_n(&pct_host_threads->thread[i].state, __ATOMIC_ACQUIRE);
        bool there = pct_host_threads->thread[i].tid != FREE && state != ENDED;
        count += there;
        *parked &= !there || state == PARKED;
    }
    return count;
}

void pct_host_threads_over(void)
{
    if (!pct_host_threads)
        return;
    pct_host_threads->run++;
    if (pct_host_contexts)
        return;
    for (struct thread *thread = pct_host_threads->thread; thread < pct_host_threads->thread + MOST && thread->tid;
         thread++)
        if (thread->state == ENDED) {
            thread->tid = FREE;
            thread->state = RUNS;
        }
}

static bool is_left(const struct thread *thread)
{
    const uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
    return state == LEAVES || state == PARKED;
}

unsigned pct_host_threads_parked(void)
{
    unsigned count = 0;
    if (pct_host_contexts)
        return pct_host_threads->guard.tid != 0;
    for (unsigned i = 0; pct_host_threads && i < MOST && pct_host_threads->thread[i].tid; i++)
        count += is_left(&pct_host_threads->thread[i]);
    return count;
}

bool pct_host_threads_is_parked(int tid)
{
    if (pct_host_contexts)
        return tid == pct_host_threads->guard.tid;
    for (unsigned i = 0; pct_host_threads && i < MOST && pct_host_threads->thread[i].tid; i++)
        if (pct_host_threads->thread[i].tid == tid)
            return is_left(&pct_host_threads->thread[i]);
    return false;
}

enum { PROC = 0x9fa0 };

static bool is_proc(const char *path)
{
    struct statfs system = { 0 };
    return !pct_host_sys4(SYS_statfs, (long)path, (long)&system, 0, 0) && system.f_type == PROC;
}

/* Of a path that leads nowhere: whether what there is of it does. */
static bool begins_in_proc(const char *path)
{
    char part[1024];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return true;
    memcpy(part, path, length + 1);
    while (length && pct_host_sys4(SYS_access, (long)part, 0, 0, 0)) {
        while (length && part[length - 1] != '/')
            length--;
        while (length > 1 && part[length - 1] == '/')
            length--;
        part[length] = 0;
        if (length == 1)
            break;
    }
    return is_proc(length ? part : ".");
}

void pct_host_threads_looks(int folder, const char *path)
{
    struct statfs of_path = { 0 }, of_folder = { 0 };
    const bool contexts = pct_host_contexts && pct_host_threads->made;
    if (!contexts && !pct_host_threads_parked())
        return;
    pct_host_sys4(SYS_fstatfs, folder, (long)&of_folder, 0, 0);
    const long failed = pct_host_sys4(SYS_statfs, (long)path, (long)&of_path, 0, 0);
    const bool nowhere = failed == -ENOENT || failed == -ENOTDIR; /* as of a context, in there */
    if (of_path.f_type == PROC || of_folder.f_type == PROC || (contexts && nowhere && begins_in_proc(path)))
        pct_host_leave(contexts ? PCT_HOST_CONTEXT : PCT_HOST_CALL, SYS_stat);
}
