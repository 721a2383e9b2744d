/* A host: a copy that a fork server has made, which puts its memory back after a run, and makes another run
 * (common/host.h). What it promises is that a run in it is the one that a new copy would make.
 *
 * Memory is put back by the kernel's help: pages that could be written before the run are protected, asynchronously, so
 * that it tells which were (userfaultfd, PAGEMAP_SCAN); what was mapped since is unmapped (host_memory.c).
 *
 * What is not memory must not change. A filter of system calls (host_filter.c) lets those through that leave nothing
 * behind, or only what is undone here: threads that end, mappings, the mask of signals. Any other ends the process
 * before it is made: the command has that run forked, where nothing has happened yet. Nobody has to know all that a
 * program may do; what is not in the filter's list is not done in a host, but for what its trap looks at (host_trap.c).
 *
 * Threads begin and end in each run. They are contexts of main's kernel thread (host_contexts.c); of programs that ask
 * the kernel for more, each has a kernel thread, which stays (host_threads.c). Their
 * stacks stay mapped (host_stacks.c). */
#ifndef PCT_PRELOAD_HOST_H
#define PCT_PRELOAD_HOST_H

#include <common/host.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a new copy: become a host, with these files: a socket to the command, a trace, and the ring; contexts: its threads
 * may be such (host_contexts.c). Where that cannot be,
 * says why to the command: the copy is a run like any other, and the result is NULL. Likewise at first in a host. It
 * returns again for each later run, with the memory as it was, and the request's text (common/forkserver.h). By the
 * only thread, before the run. */
const struct pct_host_request *pct_host_begin(const int *files, bool contexts);

/* Where the trace of this run is mapped, and how large its file is. NULL: it is the first run. Before the run. */
void *pct_host_trace(size_t *size);

/* As pct_populate(). What earlier runs have asked for in the same trace is mostly there. Any process. */
bool pct_host_populate(void *at, size_t size);

/* The file of the trace, as the kernel knows it. Likewise. */
void pct_host_trace_file(uint64_t *device, uint64_t *inode);

/* The run is about to begin, with its trace mapped there: from now on, system calls are filtered. At once where the
 * process is no host. Before the run. */
void pct_host_close(void *trace, size_t size);

/* The run has ended by itself, with its trace closed. flush: libc has not yet written what its streams hold. Returns if
 * the process is no host, or ends now. By the thread that ends it. */
void pct_host_over(bool flush);

/* Whether the process is a host that goes on behind this run even if it fails: one of contexts. Such a run leaves its
 * snapshot, and then calls the other one: status: of the exit; or the signal, negated. That returns where it is none.
 * By the thread that has closed the trace. */
bool pct_host_stands(void);
void pct_host_failed(int status);

/* Whether the process is a host, in a run. */
bool pct_host_is_on(void);

/* Whether the run can have no process or kernel thread of its own: its threads are contexts, and the filter has been
 * there from its beginning on. */
bool pct_host_is_sealed(void);

/* What is put back after the memory, also of a point in the middle of a run, which it can rely on: by this, on the
 * host's own stack. NULL: nothing. False: it cannot be. Set before there is a host. */
extern bool (*pct_host_undo)(void);

/* The CPU that a host of contexts is on already, and the ones that the run had at first (1,024 bits): returns how many
 * bytes of these the kernel fills. 0: it is to be chosen; then say which, when it was. By the run's first thread. */
long pct_host_cpus(unsigned long *bits, unsigned *cpu);
void pct_host_pinned(unsigned cpu);

/* sched_getaffinity() of the caller, in such a host: as in a run that has not been pinned before. */
long pct_host_ask_cpus(long size, unsigned long *bits);

/* End the process if it is a host: the run is of no use, or fails. call: the number of the system call, with
 * PCT_HOST_CALL. Any thread, also in a signal handler. */
void pct_host_leave(enum pct_host_reason reason, int call);

/* The filter has not let this system call through. If the process is a host and the call leaves nothing all the same:
 * make it, with its result in this context, a ucontext_t. False: it was not made. In the handler of the signal. */
bool pct_host_trapped(int call, void *context);

/* --- Points in the middle of a run, from which later ones go on --- */

enum pct_host_point { PCT_HOST_POINT_NONE, PCT_HOST_POINT_KEPT, PCT_HOST_POINT_RESUMED };

/* Between two steps of an explored run, which has followed `depth` places of its plan: keep all, so that a later run
 * whose plan begins with these goes on from here. Returns again in each such run, with RESUMED. NONE: it cannot be
 * kept. With the baton. */
enum pct_host_point pct_host_point_keep(uint32_t depth);

/* --- Between the parts of a host --------------------------------------------------------------------------------- */

/* Where the filter lets everything through: a system call of the host's own. As pct_sys(). */
long pct_host_sys(long number, long a, long b, long c, long d, long e, long f);
static inline long pct_host_sys4(long number, long a, long b, long c, long d)
{
    return pct_host_sys(number, a, b, c, d, 0, 0);
}

/* Whether the process is a host, in a run that may have descriptors of its own; this may be one of them (-1: any). */
bool pct_host_may_have(int fd);

/* A descriptor of the host's own for this one, which is closed. Negative: there is none, or fd was. */
int pct_host_move(long fd);

/* The action of this signal may have been changed, by any thread of the run: it is put back. Any int. */
void pct_host_note_action(int signal);

/* Those whose actions may change without a note: bit 0 is signal 1. */
extern const uint64_t pct_host_libc_signals;

/* The host's own descriptors are the first free ones from there on. */
enum { PCT_HOST_OWN = 200 };

/* All in between are those of a run, but for these, which were open before, rising; the host's own are among them.
 * count: more than there is room for: a run may make none. */
enum { PCT_HOST_FILES_FROM = 3, PCT_HOST_FILES_TO = 1024, PCT_HOST_FILES = 24 };
struct pct_host_files {
    unsigned count;
    struct pct_host_some {
        int from, to;
    } some[PCT_HOST_FILES]; /* rising, none beside another */
};

/* The filter is in force for the process from now on. gaps: where mappings may come and go. False: it
 * cannot be. */
struct pct_gap {
    uintptr_t from, to;
};
enum { PCT_HOST_GAPS = 8 /* that the filter looks at */ };
bool pct_host_filter(const struct pct_gap *gaps, unsigned count, const struct pct_host_files *files);

/* Of a system call that the filter of a host with contexts does not let through: whether it would, if threads had
 * kernel threads. */
bool pct_host_is_of_thread(int call);

/* Where a run begins, or goes on: what a function leaves to its caller. */
struct pct_host_place {
    uint64_t regs[8]; /* rbx rbp r12 r13 r14 r15 rsp rip */
    uint32_t mxcsr;
    uint16_t control;
};

/* Returns 0; and 1, when pct_host_resume() goes back there. */
int pct_host_mark(struct pct_host_place *place) __attribute__((returns_twice));
void pct_host_resume(const struct pct_host_place *place) __attribute__((noreturn));

/* As the kernel knows it. */
struct pct_host_action {
    uint64_t handler, flags, restorer, mask;
};

/* host_points.c. Before the memory is kept. */
void pct_host_points_prepare(void);

/* The run is over: whether later ones may go on from a point in it. */
bool pct_host_points_stand(void);

/* The point from which this run, in that slot, is to go on; NULL: none. */
struct pct_host_kept;
const struct pct_host_kept *pct_host_points_choose(const char *text, unsigned slot);

/* How many places of the plan were made there. */
uint32_t pct_host_points_depth(const struct pct_host_kept *point);

/* Go on from there: on the host's own stack, all else as before the memory is put back. */
void pct_host_points_go(const struct pct_host_kept *point) __attribute__((noreturn));

/* host.c: the request of this run, its slot, and how many there were; NULL: it is the first. Whether it has descriptors
 * open that the host has not, or has written. Signals whose actions may be others than when the run began; from now on
 * these are, and have these. */
const char *pct_host_text(unsigned *slot, uint64_t *requests);
bool pct_host_has_files(void);

/* host.c: the CPUs that it has, and what the run knows of that; once more. */
struct pct_host_cpus {
    unsigned long bits[1024 / (8 * sizeof(unsigned long))];
    long size;
    long pinned; /* 1 + the CPU that contexts have; 0: none yet */
    bool shown;  /* the run has asked for that */
};
bool pct_host_cpus_save(struct pct_host_cpus *cpus);
void pct_host_cpus_load(const struct pct_host_cpus *cpus);

uint64_t pct_host_acted(void);
void pct_host_act(uint64_t acted, const struct pct_host_action *actions);

/* host_contexts.c: contexts at a point. */
struct pct_host_contexts *pct_host_contexts_map(unsigned count);
struct pct_host_contexts *pct_host_contexts_of(struct pct_host_contexts *all, unsigned number);
bool pct_host_contexts_save(struct pct_host_contexts *to);
bool pct_host_contexts_load(const struct pct_host_contexts *from);
void pct_host_contexts_bases(const struct pct_host_contexts *from);

/* Remember all memory that is private. Returns 0 (PCT_HOST_NONE), or why it cannot be. By the only
 * thread. */
enum pct_host_reason pct_host_memory_keep(void);

/* Unmap what was mapped since. False: other mappings are not what they were. */
bool pct_host_memory_trim(void);

/* Put back what was written since: on a stack of the host's own. */
bool pct_host_memory_restore(void);

/* Write to code, which is not made writable for that. False: the process is no host, or the kernel does not let it. */
bool pct_host_memory_write(void *to, const void *from, size_t size);

/* Whether nothing was mapped there; false, too, where this is no host. */
bool pct_host_memory_was_free(uintptr_t from, size_t size);

/* Whether a run may make this system call, mmap(), munmap(), mprotect(), madvise() or mremap(): it leaves nothing, or
 * what it leaves is unmapped. */
bool pct_host_memory_may(int call, const long *arguments);

/* Where the heap ends. And a run gives some of it back: even if it ends there again, what is there is not watched, and
 * the host ends behind this run. */
uintptr_t pct_host_memory_broke(void);
void pct_host_memory_shrinks(void);

/* Memory at a point in the middle of a run, as far as it is another than at the beginning. Shared itself. */
enum { PCT_SAVED_PAGES = 1024, PCT_SAVED_RANGES = 128, PCT_SAVED_MAPPED = 255 };
struct pct_saved_map {
    uint32_t count;
    struct pct_saved_mapping {
        uintptr_t from, to;
        uint64_t rights; /* as a question for them tells */
    } mapped[PCT_SAVED_MAPPED];
    uintptr_t broke; /* the end of the heap */
};
struct pct_saved {
    uint32_t pages, ranges;
    uint64_t calls;                         /* host_stacks.c */
    struct pct_gap range[PCT_SAVED_RANGES]; /* what was mapped since, */
    uint32_t before[PCT_SAVED_RANGES];      /* and how many pages stand before it in: */
    uint64_t page[PCT_SAVED_PAGES];         /* the addresses; rising, up to those of what was mapped since, */
    char copies[PCT_SAVED_PAGES * 4096];
    struct pct_saved_map map; /* where nothing was mapped at first */
};

/* False: it cannot be. */
bool pct_host_memory_save(struct pct_saved *saved);

/* The mappings are looked at; and are those of that point among them? */
void pct_host_memory_look(void);
bool pct_host_memory_has(const struct pct_saved *saved);

/* Unmap what is mapped besides. False: it is not what it was there. */
bool pct_host_memory_cut(const struct pct_saved *saved);

/* Make it what it was there, behind that: on a stack of the host's own. */
bool pct_host_memory_load(const struct pct_saved *saved);

/* Where nothing was mapped, from the largest on. */
unsigned pct_host_memory_gaps(struct pct_gap *gaps, unsigned most);

#endif
