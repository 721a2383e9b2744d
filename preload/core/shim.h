/* The state of the shim, which all of preload/ shares: of the process, of each thread of the target, and where the
 * scheduler's is. What a wrapper does with it stands in point.h, for calls without the baton in pass.h. */
#ifndef PCT_PRELOAD_SHIM_H
#define PCT_PRELOAD_SHIM_H

#include <common/config.h>
#include <sched/sched.h>
#include <pthread.h>
#include <signal.h>

#define PCT_EXPORT __attribute__((visibility("default")))

/* Functions that every start calls, and variables that it looks at: the linker puts them together (libpct.ld). */
#define PCT_STARTS __attribute__((cold))
#define PCT_OF_START __attribute__((section("pct_start")))

/* A variable that belongs to one run: the child of a fork, which begins a run of its own, finds zeros there. */
#define PCT_OF_RUN __attribute__((section("pct_run")))

/* An atomic access that may fail, while it is made. */
struct pct_shim_try {
    uintptr_t address;
    size_t size; /* 0: there is none */
    uintptr_t pc;
    uint64_t arrived; /* see struct pct_access */
};

/* A spin whose next round of accesses is watched (leave.h). */
struct pct_shim_leave {
    uint64_t step;     /* of the run */
    uint64_t went_on;  /* for this much CPU time since it was found, in ns */
    uintptr_t first;   /* the place of an access that comes first in the code */
    uint32_t accesses; /* since it was found */
    uint32_t found;    /* so often, before the first access */
    bool wanted;
};

/* What a thread keeps the baton for, see pct_signal_unpin(): a signal handler that has interrupted code of the
 * target's, or dl_iterate_phdr(). */
struct pct_pin {
    const void *frame;   /* ours, from which it was called */
    const void *context; /* what the kernel has saved of the interrupted code: a ucontext_t; NULL: no handler */
    uint64_t pc, sp;     /* where that was; without a handler, where ours returns to, and where that stands */
    bool alternate;      /* it runs on the alternate stack */
};

struct pct_await;

/* Below struct pct_shim_thread.patched: where it is saved what the program was at there, and its frame pointer. */
enum { PCT_PATCHED_PC = 160, PCT_PATCHED_BP = 192 };

/* A wait under another mask of signals (sigsuspend, ppoll): what they are. */
struct pct_masked {
    uint64_t during, before;
    bool is; /* there is one, and none of its handlers runs */
};

/* A thread of the target. `core` is the scheduler's; the rest is written by the thread itself, its handlers included,
 * by who makes, joins, cancels or signals it, with the baton, and by the watchdog where a member is atomic or `revoked`
 * says so. */
struct pct_shim_thread {
    struct pct_thread core; /* first: the scheduler's pointers are ours */
    uint32_t word;          /* the futex: 1 says go */
    int32_t tid;
    uint64_t owner;          /* GLIBC: __owner and __nusers of a plain mutex that this thread holds */
    uint64_t locks, unlocks; /* its records of these operations on a mutex, without the mutex */
    pthread_t handle;
    void *context; /* that it is, in a host; NULL: a kernel thread, or the first one */
    void *(*start)(void *);
    void *argument;
    uint64_t regs[8];               /* where it parked: rbx rbp r12 r13 r14 r15 rsp rip; for reports */
    uint32_t cond_waits;            /* for condition variables, so far */
    int there;                      /* what the kernel clears at the end of the main thread; 0: it stands in libc */
    struct pct_object sleep_object; /* what a sleeping or signal-waiting thread waits for */
    const volatile int *ending;     /* the kernel clears it when the thread before us is gone */
    const struct pct_shim_thread *ended; /* that thread */
    const void *loader; /* the frame of the dl_iterate_phdr() whose callback it is in, NULL: none; see loader.h */
    void (*once_routine)(void); /* that it is about to run */
    struct pct_object *once_object;
    uint32_t destructor_rounds;
    uint32_t exiting; /* it has finished, but waits for something: nobody must wait until it is gone. Atomic */
    int ends_with;    /* the exit status that it has called exit() with, plus 1; 0: it has not */
    bool c11;         /* start returns int */
    bool unscheduled; /* it has left the schedule for good, and may make hardly a system call: sandbox.h */
    bool started;     /* it has had the baton */
    bool vforks;      /* it waits for a child of vfork */
    bool spawns;      /* likewise, inside libc: posix_spawn */
    bool execs;       /* atomic: it becomes another program (pct_bell_settle()) */
    bool repin;       /* its attributes named CPUs */
    bool detached;
    bool joined;
    bool cpus_set;
    bool asked_to_write;            /* it waits for a lock for writing, which others had meanwhile: rwlock.c */
    struct pct_shim_thread *joiner; /* who waits for it in join */
    struct pct_shim_thread *joining;
    unsigned long cpus[16]; /* what it set as its CPUs */
    /* Cancellation */
    bool cancel_disabled;
    bool cancel_async;
    bool cancel_asked;               /* by another thread */
    bool cancel_sent;                /* told to libc, on our own turn */
    bool cancel_due;                 /* asked, and it has come to no cancellation point since */
    bool futex_shared;               /* other processes may wake what it waits for, or the kernel at a thread's end */
    uint16_t guard_pages;            /* below its stack, where pct has put that; as the program would have them */
    __pthread_unwind_buf_t *unwind;  /* of CALL_CANCELLABLE(), while it is away; a handler that runs there may jump, so
                                        it is taken out meanwhile */
    struct timespec *limit;          /* of the wait for signals that it begins: a handler makes it zero */
    uint32_t futex_bits;             /* of a FUTEX_WAIT_BITSET */
    uint32_t futex_value;            /* of *futex_word when it began to wait */
    uint32_t *futex_word;            /* what it waited for first */
    struct futex_waitv *futex_words; /* that it waits for, if they are many */
    struct pollfd *descriptors;      /* that it waits for in select(), if they are many */
    /* Signals: signals.h. What handlers write and the thread reads, or the other way round, are single words. */
    const void *inside;        /* the frame of the wrapper that it is in; NULL: none */
    uint64_t held;             /* put off until its turn, and blocked until then; bit n-1 for signal n; atomic */
    struct pct_sent *sent;     /* by other threads while it was parked; oldest first */
    const siginfo_t *delivers; /* the one of them that it sends to itself right now */
    bool turn;                 /* what arrives now may be handled at once */
    bool away;                 /* in a real call, without the baton */
    bool back;                 /* in a real call that is over, with the baton: a handler has brought it back */
    bool stepping;             /* executes instruction by instruction until it is out of a wrapper */
    bool trap_hidden;          /* the target has blocked SIGTRAP, and the kernel has not: watch.h */
    bool restart;              /* the handlers that have interrupted its wait all have SA_RESTART */
    bool absent;               /* since its last sleep it has looked for what is not there: absent.h */
    uint8_t begins;            /* before FUNCTION_ENTER: what begins there, enum pct_site_begins as bits */
    uint64_t trap_blocked;     /* SIGTRAP's bit, if it was blocked before that */
    int half_open;             /* the end of a named pipe that it waits with in open(), plus 1; 0: none */
    uint32_t absences;         /* sleeps in a row that came behind a look for what is not there */
    struct pct_masked masked;  /* signals.h: pct_signal_mask_begin() */
    uint64_t signal_mask;      /* of a thread that has not started, or that waits for a child of vfork */
    const void *handles;       /* the frame below which it runs its handlers; it may have jumped out since */
    int handled;               /* the last signal whose handler has run in it */
    uint32_t recall;           /* doorbell.c; atomic */
    struct pct_pin pin;        /* what it keeps the baton for, while pct_sched_is_pinned() says so */
    /* Memory: memory.c */
    struct pct_object location;      /* that it is about to access */
    struct pct_memory_recent recent; /* what it looked at last */
    struct pct_spin_reads reads;
    struct pct_shim_leave leave;
    struct pct_shim_try tried;
    struct pct_await *await;        /* await.h */
    const uint64_t *entry;          /* the registers and the stack that it came with to the access; NULL: not known */
    const uint64_t *vectors;        /* its vector registers, where they are not on the stack, as XSAVE has saved them */
    uintptr_t here;                 /* where it stands in the program's code, where no call says so; 0: one does */
    uintptr_t stack_from, stack_to; /* its stack; 0: not found out yet */
    uintptr_t patched;              /* its stack where patched code stood last; 0: nowhere */
    uintptr_t stack_top;            /* the frame from which its start routine was called; 0: the first thread's */
    uintptr_t stack_given;          /* where the program has put it; 0: libc does */
    size_t stack_size;              /* as the thread was made with; 0: not known */
    /* Clocks: computed.h */
    struct pct_computed {
        uint64_t real, cpu; /* when it was looked at last, and its CPU time then, ns */
        uint64_t step;      /* behind its last step that was too many reads of a clock */
        uint64_t from;      /* its CPU time at the first of these with no other step in between */
        uint32_t times;     /* it has computed for long between two reads */
    } computed;
    /* The watchdog */
    struct pct_rounds *rounds; /* it goes through a loop instruction by instruction: rounds.h; NULL: it does not */
    uint64_t rounds_sp;        /* where its stack was at the last of these */
    uint64_t rounds_blocked;   /* SIGTRAP's bit, if it was blocked before that */
    uint32_t revoked;          /* enum in watchdog.c, atomic: it takes, or took, the baton from this thread */
    bool rounds_pushed;        /* the next of these rounds is PUSHF */
};

enum pct_mode {
    PCT_MODE_OFF, /* before the start, in children that pct does not follow */
    PCT_MODE_CONTROLLED,
    PCT_MODE_FREE /* strategy none: the operating system schedules, pct only records */
};

/* The process: filled in by start.c before the run begins, anew in a child. Later only single words change: that
 * something has been seen, and counts; those that threads without the baton change, too, are atomic. */
struct pct_shim {
    enum pct_mode mode;
    bool pending; /* the run begins with the first call that needs it (start.c) */
    bool server;  /* this is a fork server, or one has forked it */
    bool exited;  /* exit was called meanwhile */
    int exit_status;
    int pid;        /* of the process that started */
    int launcher;   /* the pct that started it, or one of its parents; 0: none did */
    int supervisor; /* of that, 0: it has none */
    bool one_cpu;   /* all threads are pinned to one CPU: this one */
    unsigned cpu;
    bool quiet;             /* PCT_LOG */
    bool ended;             /* the trace is closed */
    bool left;              /* likewise, for good: a sandbox lets a process of one thread make but few calls */
    bool assertion;         /* one has failed: the SIGABRT that follows is its */
    bool robust;            /* robust mutexes are in use */
    bool confined;          /* there is a filter of system calls */
    bool told;              /* code that was compiled for it has told of an access to memory */
    bool untold;            /* with PCT_PATCH_STACKS: some patched code's accesses to its stack tell nothing */
    uint32_t renamed;       /* how often the program has given a thread a name of its own */
    bool watchdog;          /* PCT_WATCHDOG */
    bool cancel_interrupts; /* GLIBC: pthread_cancel() sends a signal also to threads at no cancellation point */
    uint64_t run_ns;
    struct pct_config config;
    const struct pct_strategy *strategy;
    uintptr_t main_stack;          /* where the first thread's stack began: argc and all behind it is the kernel's */
    pthread_t main_thread;         /* which ends otherwise than all others, also in copies of the process */
    uint64_t space;                /* bytes of address space that the shim has taken, at least */
    struct pct_shim_thread *slots; /* by id: slots.h */
    struct pct_trace_header *header;
    size_t mapped;          /* bytes of the trace file's mapping; 0: there is none */
    const char *trace_path; /* absolute; of the first process, where that is another one; NULL: no trace */
    uint64_t trace_device, trace_inode;
    int libc_tid;      /* GLIBC: where struct pthread holds the tid; 0: unknown */
    int clear_tid;     /* GLIBC: where in it stands the word that the kernel clears at the end; 0: unknown */
    uint32_t children; /* forked so far */
    uint64_t randoms;  /* numbers given to the target so far */
    uint32_t recorder; /* lock of the recorder in PCT_MODE_FREE */
};

enum { PCT_TRACE_PATH = 1024 }; /* room for trace_path */

/* The scheduler's state has a page of its own that a forked child finds zeroed, however it was forked. */
union pct_page {
    struct pct_sched sched;
    char page[4096];
};
extern union pct_page pct_page;
#define pct_S pct_page.sched

extern struct pct_shim pct_shim;
extern __thread struct pct_shim_thread *pct_self;

/* In a child of vfork, on its parent's stack, the thread that made it. */
extern __thread struct pct_shim_thread *pct_vforking;

static inline struct pct_shim_thread *pct_shim_of(const struct pct_thread *thread)
{
    return (struct pct_shim_thread *)thread;
}

static inline void pct_uncontrolled(enum pct_uncontrolled what)
{
    pct_sched_count_uncontrolled(&pct_S, what, 1);
}

#endif
