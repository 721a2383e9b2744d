/* A host: see host.h. */
#include "host.h"
#include "apart.h"
#include "host_mask.h"
#include "host_ring.h"
#include "host_threads.h"
#include "kernel.h"
#include "real.h"
#include "shim.h"
#include "sys.h"
#include <common/forkserver.h>
#include <asm/prctl.h>
#include <fcntl.h>
#include <pct/trace.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { STACK = 64 << 10, MASK = 8, TASKS_OF_ONE = 3, PATIENCE = 1000 };

void pct_host_switch(char *stack, void (*function)(void)) __attribute__((noreturn));

__asm__(".pushsection .text\n"
        ".globl pct_host_mark, pct_host_resume, pct_host_switch\n"
        ".hidden pct_host_mark, pct_host_resume, pct_host_switch\n"
        ".type pct_host_mark, @function\n"
        ".type pct_host_resume, @function\n"
        ".type pct_host_switch, @function\n"
        "pct_host_mark:\n"
        "    mov %rbx, (%rdi)\n"
        "    mov %rbp, 8(%rdi)\n"
        "    mov %r12, 16(%rdi)\n"
        "    mov %r13, 24(%rdi)\n"
        "    mov %r14, 32(%rdi)\n"
        "    mov %r15, 40(%rdi)\n"
        "    lea 8(%rsp), %rdx\n"
        "    mov %rdx, 48(%rdi)\n"
        "    mov (%rsp), %rdx\n"
        "    mov %rdx, 56(%rdi)\n"
        "    stmxcsr 64(%rdi)\n"
        "    fnstcw 68(%rdi)\n"
        "    xor %eax, %eax\n"
        "    ret\n"
        "pct_host_resume:\n"
        "    mov (%rdi), %rbx\n"
        "    mov 8(%rdi), %rbp\n"
        "    mov 16(%rdi), %r12\n"
        "    mov 24(%rdi), %r13\n"
        "    mov 32(%rdi), %r14\n"
        "    mov 40(%rdi), %r15\n"
        "    mov 48(%rdi), %rsp\n"
        "    cld\n"
        "    mov $1, %eax\n"
        "    jmp *56(%rdi)\n"
        "pct_host_switch:\n"
        "    mov %rdi, %rsp\n"
        "    call *%rsi\n"
        "    ud2\n"
        ".popsection\n");

/* Shared, so that it is not put back itself. */
struct slot {
    void *mapped; /* the trace; of all slots but the first, before there is one: address space */
    int output;
    uint64_t device, inode; /* of the trace */
    size_t ready;           /* so much of it is there, from its beginning on */
};
struct host {
    char stack[STACK]; /* for what must not stand on the target's */
    struct pct_host_place place;
    int socket;
    struct pct_host_ring *ring;
    int state;       /* what the kernel says of main, */
    int tasks;       /* the directories of this process's threads */
    int descriptors; /* and descriptors, */
    off_t open;      /* how many there were of these when the run began: see count_files() */
    bool closed;     /* the filter is in force */
    struct pct_host_files files;
    struct slot slots[PCT_HOST_SLOTS], *slot; /* and that of the run; NULL: none has begun */
    size_t size, room;                        /* of the trace of each, and what is reserved for it */
    uint64_t gs;                              /* the base of that segment, which is set without a system call, */
    uint64_t mask;                            /* of signals, */
    struct pct_host_action actions[NSIG];
    uint64_t acted; /* signals whose action may have changed since: bit 0 is signal 1 */
    stack_t alternate;
    unsigned long cpus[1024 / (8 * sizeof(unsigned long))];
    long cpus_size;  /* as they were when the run began */
    long pinned;     /* 1 + the CPU that contexts have, also between runs; 0: none yet */
    bool shown;      /* the run has asked for that */
    unsigned stayed; /* runs there */
    int status;
    uint64_t requests; /* so far */
    uint32_t from;     /* places of its plan that the run found made; 0: it began with main */
    struct pct_host_request request;
} __attribute__((aligned(16)));
static struct host *host; /* NULL: this is none */
bool (*pct_host_undo)(void);

static struct pct_host_reply describe(enum pct_host_reason reason, int status, int call)
{
    struct pct_host_reply reply = { .version = PCT_HOST_VERSION, .reason = reason, .status = status, .call = call };
    const struct pct_trace_header *header = host && host->closed ? pct_shim.header : NULL;
    if (header) {
        reply.verdict = header->verdict;
        reply.threads = header->threads;
        reply.hash = header->hash;
        reply.steps = header->steps;
        reply.from = host->from;
    }
    return reply;
}

/* Why the process ends. */
static void tell(int socket, enum pct_host_reason reason, int status, int call)
{
    const struct pct_host_reply reply = describe(reason, status, call);
    pct_host_sys(SYS_sendto, socket, (long)&reply, sizeof reply, MSG_NOSIGNAL, 0, 0);
}

static void end(int status) __attribute__((noreturn));
static void end(int status)
{
    pct_host_sys4(SYS_exit_group, status & 0xff, 0, 0, 0);
    __builtin_unreachable();
}

void pct_host_leave(enum pct_host_reason reason, int call)
{
    if (!host)
        return;
    tell(host->socket, reason, 0, call);
    if (pct_host_sys4(SYS_getpid, 0, 0, 0, 0) !=
        pct_shim.pid) /* a child that the filter could not tell from a thread */
        pct_host_sys4(SYS_kill, pct_shim.pid, SIGKILL, 0, 0);
    end(PCT_EXIT_INTERNAL);
}

/* --- The beginning ------------------------------------------------------------------------------------------------ */

static bool has_shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* does nothing without one */
    return pointer;
}

static int copy_own(long fd)
{
    return (int)PCT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, PCT_HOST_OWN);
}

int pct_host_move(long fd)
{
    if (fd < 0)
        return (int)fd;
    int moved = copy_own(fd);
    PCT_SYS1(SYS_close, fd);
    return moved;
}

/* Before it is listed what is mapped and open: the later slots change nothing of that. */
static enum pct_host_reason reserve_slots(struct host *h, int trace)
{
    const size_t usual = (size_t)1 << 30;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    struct stat status;
    h->room = PCT_SYS2(SYS_fstat, trace, &status) || (size_t)status.st_size < usual ? usual : (size_t)status.st_size;
    for (unsigned i = 0; i < PCT_HOST_SLOTS; i++) {
        struct slot *slot = &h->slots[i];
        slot->output = i ? copy_own(trace) : trace; /* to be replaced */
        slot->mapped = i ? pct_apart_map(h->room) : NULL;
        if (slot->output < 0)
            return PCT_HOST_DESCRIPTORS;
        if (i && (!slot->mapped || PCT_SYS6(SYS_mmap, slot->mapped, h->room, PROT_NONE, flags, -1, 0) < 0))
            return PCT_HOST_LARGE;
    }
    return PCT_HOST_NONE;
}

static enum pct_host_reason prepare(int socket, int trace, struct pct_host_ring *ring, bool contexts)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    if (has_shadow_stack())
        return PCT_HOST_STACKS;
    if (pct_address_space() != UINT64_MAX)
        return PCT_HOST_LIMIT;
    pct_map_ahead(); /* first, so that what is not put back lies in a row */
    struct host *h = pct_apart_map(sizeof *h);
    if (!h || PCT_SYS6(SYS_mmap, h, sizeof *h, PROT_READ | PROT_WRITE, flags, -1, 0) != (long)h)
        return PCT_HOST_LARGE;
    h->socket = socket;
    h->ring = ring;
    h->tasks = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/task", O_PATH | O_CLOEXEC, 0));
    h->descriptors = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/fd", O_PATH | O_CLOEXEC, 0));
    h->state = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0));
    if (h->tasks < 0 || h->descriptors < 0 || h->state < 0)
        return PCT_HOST_DESCRIPTORS;
    host = h;
    enum pct_host_reason reason = reserve_slots(h, trace);
    if (reason)
        return reason;
    PCT_SYS2(SYS_arch_prctl, ARCH_GET_GS, &h->gs);
    pct_host_threads_prepare(contexts, h->state);
    PCT_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &h->mask, MASK);
    for (int signal = 1; signal < NSIG; signal++) {
        PCT_SYS4(SYS_rt_sigaction, signal, NULL, &h->actions[signal], MASK);
        if (!(pct_host_libc_signals >> (signal - 1) & 1))
            pct_host_mask_handler(h->actions[signal].handler);
    }
    h->acted = ~UINT64_C(0); /* before the filter is in force, nobody notes them */
    PCT_SYS2(SYS_sigaltstack, NULL, &h->alternate);
    h->cpus_size = PCT_SYS3(SYS_sched_getaffinity, 0, sizeof h->cpus, h->cpus);
    pct_host_points_prepare();
    return PCT_HOST_NONE;
}

const struct pct_host_request *pct_host_begin(const int *files, bool contexts)
{
    int socket = files[0], own = copy_own(socket), trace = pct_host_move(files[1]);
    if (own >= 0) { /* or else the other one says so */
        PCT_SYS1(SYS_close, socket);
        socket = own;
    }
    struct pct_host_ring *ring = pct_host_ring_map(files[2]);
    PCT_SYS1(SYS_close, files[2]);
    enum pct_host_reason reason = own < 0 || trace < 0 ? PCT_HOST_DESCRIPTORS
                                  : !ring              ? PCT_HOST_LARGE
                                                       : prepare(socket, trace, ring, contexts);
    if (!reason) {
        if (pct_host_mark(&host->place))
            return &host->request;
        reason = pct_host_memory_keep();
    }
    if (reason) {
        if (host) {
            PCT_SYS1(SYS_close, host->tasks);
            PCT_SYS1(SYS_close, host->descriptors);
            PCT_SYS1(SYS_close, host->state);
            for (unsigned i = 1; i < PCT_HOST_SLOTS; i++)
                PCT_SYS1(SYS_close, host->slots[i].output);
        }
        host = NULL;
        pct_host_contexts = false;
        tell(socket, reason, 0, 0);
        PCT_SYS1(SYS_close, socket);
        PCT_SYS1(SYS_close, trace);
    }
    return NULL;
}

void *pct_host_trace(size_t *size)
{
    if (!host || !host->slot)
        return NULL;
    *size = host->size;
    return host->slot->mapped;
}

bool pct_host_populate(void *at, size_t size)
{
    struct slot *slot = pct_host_is_on() ? host->slot : NULL;
    const size_t from = slot ? (size_t)((char *)at - (char *)slot->mapped) : 0;
    const bool traces = slot && from < host->size;
    if (traces && from + size <= slot->ready)
        return true;
    if (!pct_populate(at, size))
        return false;
    if (traces && from <= slot->ready)
        slot->ready = from + size;
    return true;
}

void pct_host_trace_file(uint64_t *device, uint64_t *inode)
{
    *device = host->slot->device;
    *inode = host->slot->inode;
}

/* Those that are open. */
static void list_files(struct pct_host_files *files)
{
    for (int fd = PCT_HOST_FILES_FROM; fd < PCT_HOST_FILES_TO && files->count <= PCT_HOST_FILES; fd++) {
        if (PCT_SYS3(SYS_fcntl, fd, F_GETFD, 0) == -EBADF)
            continue;
        if (files->count && files->some[files->count - 1].to == fd)
            files->some[files->count - 1].to++;
        else if (files->count++ < PCT_HOST_FILES)
            files->some[files->count - 1] = (struct pct_host_some){ fd, fd + 1 };
    }
}

/* How many; 0: before Linux 6.2, nobody knows. */
static off_t count_files(void)
{
    struct stat status;
    return pct_host_sys4(SYS_fstat, host->descriptors, (long)&status, 0, 0) ? 0 : status.st_size;
}

void pct_host_close(void *trace, size_t size)
{
    struct pct_gap gaps[PCT_HOST_GAPS];
    if (!host || host->closed)
        return;
    if (!pct_shim.mapped)
        pct_host_leave(PCT_HOST_TRACE, 0);
    host->slot = host->slots;
    *host->slot =
        (struct slot){ trace, host->slot->output, pct_shim.trace_device, pct_shim.trace_inode, PCT_TRACE_HEADER_SIZE };
    PCT_SYS3(SYS_dup3, 1, host->slot->output, O_CLOEXEC);
    host->size = size;
    list_files(&host->files);
    host->open = count_files();
    if (!pct_host_filter(gaps, pct_host_memory_gaps(gaps, PCT_HOST_GAPS), &host->files))
        pct_host_leave(PCT_HOST_SECCOMP, 0);
    pct_host_threads_begin();
    host->closed = true;
}

bool pct_host_is_on(void)
{
    return host && host->closed;
}

bool pct_host_may_have(int fd)
{
    if (!pct_host_is_on() || host->files.count > PCT_HOST_FILES)
        return false;
    for (unsigned i = 0; i < host->files.count; i++)
        if (fd >= host->files.some[i].from && fd < host->files.some[i].to)
            return false;
    return fd == -1 || (fd >= PCT_HOST_FILES_FROM && fd < PCT_HOST_FILES_TO);
}

/* --- The end of a run, and the next ------------------------------------------------------------------------------- */

/* Other files for this slot. */
static void fill(struct slot *slot, int trace, int output)
{
    struct stat status;
    if (host->size > host->room && slot != host->slots)
        pct_host_leave(PCT_HOST_TRACE, 0);
    long at = pct_host_sys(SYS_mmap, (long)slot->mapped, (long)host->size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE | MAP_FIXED, trace, 0);
    if (at != (long)slot->mapped || pct_host_sys4(SYS_fstat, trace, (long)&status, 0, 0) ||
        (status.st_size != (off_t)host->size && pct_host_sys4(SYS_ftruncate, trace, (long)host->size, 0, 0)))
        pct_host_leave(PCT_HOST_TRACE, 0);
    pct_host_sys4(SYS_madvise, at, (long)host->size, MADV_DONTDUMP, 0);
    slot->device = status.st_dev;
    slot->inode = status.st_ino;
    slot->ready = 0;
    pct_host_sys4(SYS_dup3, output, slot->output, O_CLOEXEC, 0);
    pct_host_sys4(SYS_close, trace, 0, 0, 0);
    pct_host_sys4(SYS_close, output, 0, 0, 0);
}

/* The files of the next run. */
static void take_files(int count, const int *files)
{
    const struct pct_host_request *request = &host->request;
    if (request->slot >= PCT_HOST_SLOTS || request->files > 1 || count != 2 * request->files)
        end(PCT_EXIT_INTERNAL);
    struct slot *slot = &host->slots[request->slot];
    if (request->files)
        fill(slot, files[0], files[1]);
    if (request->files || slot != host->slot) {
        pct_host_sys4(SYS_dup2, slot->output, 1, 0, 0);
        pct_host_sys4(SYS_dup2, slot->output, 2, 0, 0);
    }
    host->slot = slot;
}

/* Whether there is no other thread but those that are kept: one that has ended may need a moment until it is parked, or
 * the kernel says that it is gone. */
static bool is_alone(void)
{
    struct stat tasks;
    for (int left = PATIENCE; left; left--) {
        bool parked;
        const unsigned kept = pct_host_threads_count(&parked);
        if (parked && !pct_host_sys4(SYS_fstat, host->tasks, (long)&tasks, 0, 0) &&
            tasks.st_nlink == TASKS_OF_ONE + kept)
            return true;
        pct_host_sys4(SYS_sched_yield, 0, 0, 0, 0);
    }
    return false;
}

/* goes_on: the next run may go on from a point in this one, with its mappings. */
static enum pct_host_reason examine(bool *goes_on)
{
    uint64_t pending = 0;
    siginfo_t info;
    if (pct_host_sys4(SYS_rt_sigpending, (long)&pending, MASK, 0, 0) || pending)
        return PCT_HOST_SIGNALS;
    const bool sealed = pct_host_is_sealed();
    if (!sealed &&
        pct_host_sys(SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0) != -ECHILD)
        return PCT_HOST_CHILDREN;
    if (!sealed && !is_alone())
        return PCT_HOST_THREADS;
    *goes_on = pct_host_points_stand();
    return *goes_on || pct_host_memory_trim() ? PCT_HOST_NONE : PCT_HOST_MAPPINGS;
}

/* Close what the run has left open. False: it is still open. */
static bool close_files(const struct pct_host_files *files)
{
    int from = PCT_HOST_FILES_FROM;
    if (host->open && count_files() == host->open)
        return true;
    for (unsigned i = 0; i <= files->count && files->count <= PCT_HOST_FILES; i++) {
        int to = i < files->count ? files->some[i].from : PCT_HOST_FILES_TO;
        if (from < to)
            pct_host_sys4(SYS_close_range, from, to - 1, 0, 0);
        from = i < files->count ? files->some[i].to : to;
    }
    return count_files() == host->open;
}

void pct_host_note_action(int signal)
{
    if (signal >= 1 && signal < NSIG)
        __atomic_fetch_or(&host->acted, UINT64_C(1) << (signal - 1), __ATOMIC_RELAXED);
}

void pct_host_act(uint64_t acted, const struct pct_host_action *actions)
{
    for (uint64_t left = acted | pct_host_acted(); left; left &= left - 1) {
        int signal = 1 + __builtin_ctzll(left);
        const struct pct_host_action *action = acted >> (signal - 1) & 1 ? &actions[signal] : &host->actions[signal];
        pct_host_sys4(SYS_rt_sigaction, signal, (long)action, 0, MASK);
    }
    host->acted = acted;
}

uint64_t pct_host_acted(void)
{
    return host->acted | pct_host_libc_signals;
}

const char *pct_host_text(unsigned *slot, uint64_t *requests)
{
    if (!host || !host->closed || !host->requests)
        return NULL;
    *requests = host->requests;
    *slot = (unsigned)(host->slot - host->slots);
    return host->request.text;
}

bool pct_host_has_files(void)
{
    struct stat status;
    return !host->open || count_files() != host->open ||
           pct_host_sys4(SYS_fstat, host->slot->output, (long)&status, 0, 0) || status.st_size;
}

static void put_memory_back(void)
{
    if (!pct_host_memory_restore() || (pct_host_undo && !pct_host_undo()))
        end(PCT_EXIT_INTERNAL);
    pct_host_act(0, NULL);
}

/* A host of contexts stays on its CPU for some runs: the next would choose it mostly, and asks for what it had at first
 * (pct_host_cpus()). */
static void free_cpu(struct host *h)
{
    enum { STAY = 64 };
    h->shown = false;
    if (h->pinned && ++h->stayed < STAY)
        return;
    h->pinned = 0;
    h->stayed = 0;
    if (h->cpus_size > 0)
        pct_host_sys4(SYS_sched_setaffinity, 0, h->cpus_size, (long)h->cpus, 0);
}

long pct_host_cpus(unsigned long *bits, unsigned *cpu)
{
    if (!pct_host_contexts || !pct_host_is_on() || !host->pinned)
        return 0;
    host->shown = true;
    *cpu = (unsigned)host->pinned - 1;
    __builtin_memcpy(bits, host->cpus, sizeof host->cpus);
    return host->cpus_size;
}

void pct_host_pinned(unsigned cpu)
{
    if (!pct_host_contexts || !pct_host_is_on())
        return;
    host->pinned = 1 + (long)cpu;
    host->shown = true;
}

long pct_host_ask_cpus(long size, unsigned long *bits)
{
    if (host->pinned && !host->shown && !(size % 8) && size >= host->cpus_size && host->cpus_size > 0) {
        __builtin_memcpy(bits, host->cpus, (size_t)host->cpus_size);
        return host->cpus_size;
    }
    return pct_host_sys4(SYS_sched_getaffinity, 0, size, (long)bits, 0);
}

bool pct_host_cpus_save(struct pct_host_cpus *cpus)
{
    cpus->pinned = host->pinned;
    cpus->shown = host->shown;
    cpus->size = pct_host_sys4(SYS_sched_getaffinity, 0, sizeof cpus->bits, (long)cpus->bits, 0);
    return cpus->size > 0;
}

/* Later runs may have gone to another one. */
void pct_host_cpus_load(const struct pct_host_cpus *cpus)
{
    if (!cpus->pinned || host->pinned != cpus->pinned)
        pct_host_sys4(SYS_sched_setaffinity, 0, cpus->size, (long)cpus->bits, 0);
    host->pinned = cpus->pinned;
    host->shown = cpus->shown;
    host->stayed++;
}

/* Whether it is known to have this base: an instruction tells (host_contexts.c); a selector is set without a system
 * call, too. */
static bool has_gs(uint64_t base)
{
    uint64_t now = ~base;
    uint32_t selector = 1;
    if (pct_host_contexts && pct_host_threads_bases)
        __asm__ volatile("rdgsbase %0\n\tmov %%gs, %1" : "=r"(now), "=r"(selector));
    return now == base && !selector;
}

/* On the host's own stack: everything else is about to change. */
static void go_back(void)
{
    int files[PCT_REQUEST_FILES];
    const uint64_t all = ~UINT64_C(0);
    bool goes_on = false;
    pct_host_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, MASK);
    enum pct_host_reason reason = examine(&goes_on);
    if (!close_files(&host->files) && !reason)
        reason = PCT_HOST_DESCRIPTORS;
    struct pct_host_reply reply = describe(reason, host->status, 0);
    if (reason) {
        tell(host->socket, reason, host->status, 0);
        end(host->status);
    }
    if (!pct_host_trace_stays(pct_shim.header->file_size) && host->slot->ready > PCT_TRACE_HEADER_SIZE)
        host->slot->ready = PCT_TRACE_HEADER_SIZE;
    pct_host_ring_over(host->ring, host->socket, &reply);
    if (!pct_host_contexts_over())
        end(PCT_EXIT_INTERNAL);
    pct_host_threads_over();
    struct host *h = host; /* the pointer is put back, to the same */
    if (!goes_on)
        put_memory_back();
    const int count = pct_host_ring_take(h->ring, h->socket, &h->request, files);
    if (count < 0)
        end(0);
    h->requests++;
    h->from = 0;
    if (goes_on) {
        const struct pct_host_kept *point = count ? NULL : pct_host_points_choose(h->request.text, h->request.slot);
        if (point) {
            h->from = pct_host_points_depth(point);
            take_files(count, files);
            pct_host_points_go(point);
        }
        /* That can only be where a run had given memory back from before main: nobody has made this one yet. */
        if (!pct_host_memory_trim())
            end(PCT_EXIT_INTERNAL);
        put_memory_back();
    }
    take_files(count, files);
    if (!has_gs(h->gs))
        pct_host_sys4(SYS_arch_prctl, ARCH_SET_GS, (long)h->gs, 0, 0);
    pct_host_sys4(SYS_sigaltstack, (long)&h->alternate, 0, 0, 0);
    free_cpu(h);
    pct_host_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&h->mask, 0, MASK);
    __asm__ volatile("fninit\n\tldmxcsr %0\n\tfldcw %1" : : "m"(h->place.mxcsr), "m"(h->place.control));
    pct_host_resume(&h->place);
}

void pct_host_over(bool flush)
{
    if (!pct_host_is_on() || pct_shim.mode != PCT_MODE_CONTROLLED)
        return;
    host->status = (int)pct_shim.header->exit_status;
    if (!pct_host_contexts && ((int)PCT_SYS0(SYS_gettid) != pct_shim.pid || !pct_sched_alone(&pct_S))) {
        tell(host->socket, PCT_HOST_THREADS, host->status, 0);
        return;
    }
    int (*const flushes)(FILE *) = flush ? (int (*)(FILE *))pct_real_libc("fflush") : NULL;
    if (flushes)
        flushes(NULL);
    if (pct_host_contexts && !pct_host_contexts_leave())
        pct_host_leave(PCT_HOST_THREADS, 0);
    pct_host_switch(host->stack + STACK, go_back);
}

bool pct_host_stands(void)
{
    return pct_host_is_on() && pct_host_contexts && !pct_sched_is_ring(&pct_S) && pct_shim.mode == PCT_MODE_CONTROLLED;
}

void pct_host_failed(int status)
{
    if (!pct_host_stands())
        return;
    host->status = status;
    if (!pct_host_contexts_leave())
        pct_host_leave(PCT_HOST_FAILED, 0);
    pct_host_switch(host->stack + STACK, go_back);
}
