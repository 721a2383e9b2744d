/* What every family of wrappers in the shim uses.
 *
 * Rules for code that lives in somebody else's process:
 *  1. Call nothing that can be overridden: own code, raw system calls (sys.h), memory from mmap. libc's functions only
 *     through REAL(), and only to do what the program asked for.
 *  2. A wrapper leaves errno as the real call would.
 *  3. A wrapper may be called before main, in a fork child, in a signal handler, after the thread's last destructor:
 *     then pct_enter() returns NULL, and the wrapper passes the call through (PASS).
 *  4. Whatever touches the scheduler holds the baton, that is, came through pct_enter() or PCT_ENTER(). A call that may
 *     sleep with the baton loses it to the watchdog: after it, pct_keep() (MAY_SLEEP) before anything of the
 *     scheduler's.
 *
 * A wrapper of an operation that cannot block:
 *
 *     PCT_ENTER(self);
 *     if (!self)
 *         return PASS(PCT_OP_X, PCT_CLASS_Y, object, REAL(x)(object));
 *     struct pct_object *o = pct_at(self, PCT_OP_X, object, PCT_CLASS_Y);    passes the scheduling point
 *     int result = REAL(x)(object);
 *     pct_done(self, PCT_OP_X, 0, o);                                        records the step
 *     pct_program_changed(o);                                                if others may wait for what it changed
 *     return result;
 *
 * Of one that can block, and of which the real object says whether it would (flockfile() in io/stdio.c; with deadlines
 * and processes that share the object, sync/mutex.c):
 *
 *     static bool ready(const struct pct_thread *thread)                     would x succeed? Asked by other threads
 *     {
 *         return <what wait.ready_arg points to says so>;
 *     }
 *
 *     PCT_ENTER(self);
 *     if (!self)
 *         return PASS(PCT_OP_X, PCT_CLASS_Y, object, REAL(x)(object));
 *     struct pct_object *o = pct_object_at(&pct_S.objects, object, PCT_CLASS_Y);
 *     do                                                                     passes the point; disabled until ready()
 *         pct_wait_for(self, PCT_OP_X, o, ready, object, PCT_NEVER);
 *     while (REAL(tryx)(object) == EBUSY);                                   in vain: others were faster, or a handler
 *     pct_done(self, PCT_OP_X, 0, pct_object_at(...));                       again: others may have destroyed it
 *
 * What has no try is modelled beside the object (sync/barrier.c). On descriptors: io/io.h. A try that fails is followed
 * by pct_sched_spin(). A call that waits for what pct cannot ask for: OUTSIDE().
 */
#ifndef PCT_PRELOAD_SHIM_H
#define PCT_PRELOAD_SHIM_H

#include "real.h"
#include <common/config.h>
#include <common/text.h>
#include <errno.h>
#include <sched/memory.h>
#include <sched/record.h>
#include <sched/sched.h>

#define PCT_EXPORT __attribute__((visibility("default")))

/* Functions that every start calls: the linker puts them together, at the front of the code, which the loader reads
 * anyway. */
#define PCT_STARTS __attribute__((cold))

/* A variable that belongs to one run: the child of a fork, which begins a run of its own, finds zeros there. */
#define PCT_OF_RUN __attribute__((section("pct_run")))

/* What a thread saw last in loops that may wait (spin_reads.h). */
struct pct_shim_looks {
    uint64_t seen[4]; /* addresses with values */
    uint64_t step;    /* of the run, at the last look */
    uint32_t next, count;
    uint64_t paused; /* steps of the run behind the last PAUSE that was one */
    uint64_t pauses; /* since then, with no step in between */
};

/* An atomic access that may fail, while it is made. */
struct pct_shim_try {
    uintptr_t address;
    size_t size; /* 0: there is none */
    uintptr_t pc;
    uint64_t arrived; /* see struct pct_access */
};

/* A spin whose next round of accesses is watched (leave.h). */
struct pct_shim_leave {
    uint64_t step;   /* of the run */
    uintptr_t first; /* the place of an access that comes first in the code */
    uint32_t accesses;
    uint16_t found; /* so often, before the first access */
    bool wanted;
};

/* A signal handler that has interrupted code of the target's: see pct_signal_unpin(). */
struct pct_pin {
    const void *frame;   /* ours, from which it was called */
    const void *context; /* what the kernel has saved of the interrupted code: a ucontext_t */
    uint64_t pc, sp;     /* where that was */
    bool alternate;      /* it runs on the alternate stack */
};

/* A thread of the target. */
struct pct_shim_thread {
    struct pct_thread core; /* first: the scheduler's pointers are ours */
    uint32_t word;          /* the futex: 1 says go */
    int32_t tid;
    uint64_t owner;          /* GLIBC: __owner and __nusers of a plain mutex that this thread holds */
    uint64_t locks, unlocks; /* its records of these operations on a mutex, without the mutex */
    pthread_t handle;
    void *(*start)(void *);
    void *argument;
    uint64_t regs[8];                    /* where it parked: rbx rbp r12 r13 r14 r15 rsp rip; for reports */
    uint32_t cond_waits;                 /* for condition variables, so far */
    struct pct_object nap;               /* what a sleeping or signal-waiting thread waits for */
    const volatile int *ending;          /* the kernel clears it when the thread before us is gone */
    const struct pct_shim_thread *ended; /* that thread */
    const void *loader; /* the frame of the dl_iterate_phdr() whose callback it is in, NULL: none; see loader.h */
    void (*once_routine)(void); /* that it is about to run */
    struct pct_object *once_object;
    uint32_t destructor_rounds;
    uint32_t lingers; /* it has finished, but waits for something: nobody must wait until it is gone. Atomic */
    bool c11;         /* start returns int */
    bool beside;      /* it has left the schedule for good, and may make hardly a system call: seccomp.h */
    bool started;     /* it has had the baton */
    bool vforks;      /* it waits for a child of vfork */
    bool repin;       /* its attributes named CPUs */
    bool detached;
    bool joined;
    bool cpus_set;
    struct pct_shim_thread *joiner; /* who waits for it in join */
    struct pct_shim_thread *joining;
    unsigned long cpus[16]; /* what it set as its CPUs */
    /* Cancellation */
    bool cancel_disabled;
    bool cancel_async;
    bool cancel_asked; /* by another thread */
    bool cancel_sent;  /* told to libc, on our own turn */
    bool cancel_due;   /* asked, and it has come to no cancellation point since */
    bool futex_shared; /* the kernel may wake what it waits for: at the end of a thread */
    __pthread_unwind_buf_t
        *unwind; /* of AWAY(), while it is away; a handler that runs there may jump, so it is taken out meanwhile */
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
    bool stepping;             /* executes instruction by instruction until it is out of a wrapper */
    bool trap_hidden;          /* the target has blocked SIGTRAP, and the kernel has not: watch.h */
    uint64_t trap_blocked;     /* SIGTRAP's bit, if it was blocked before that */
    int half_open;             /* the end of a named pipe that it waits with in open(), plus 1; 0: none */
    uint64_t signal_mask;      /* of a thread that has not started, or that waits for a child of vfork */
    int handled;               /* the last signal whose handler has run in it */
    struct pct_pin pin;        /* the handler for which it keeps the baton, while pct_S.pinned says so */
    bool restart;              /* the handlers that have interrupted its wait all have SA_RESTART */
    /* Memory: memory.c */
    struct pct_object location;      /* that it is about to access */
    struct pct_memory_recent recent; /* what it looked at last */
    struct pct_shim_looks looks;
    struct pct_shim_leave leave;
    struct pct_shim_try tried;
    uintptr_t watched;              /* it stands here, behind an access to what is watched; 0: it does not */
    uintptr_t stack_from, stack_to; /* its stack; 0: not found out yet */
    uintptr_t stack_given;          /* where the program has put it; 0: libc does */
    size_t stack_size;              /* as the thread was made with; 0: not known */
    /* The watchdog */
    uint32_t seized; /* enum in watchdog.c, atomic: it takes, or took, the baton from this thread */
};

enum pct_mode {
    PCT_MODE_OFF, /* before the start, in children that pct does not follow */
    PCT_MODE_CONTROLLED,
    PCT_MODE_FREE /* strategy none: the operating system schedules, pct only records */
};

struct pct_shim {
    enum pct_mode mode;
    bool pending; /* the run begins with the first call that needs it (start.c) */
    bool exited;  /* exit was called meanwhile */
    int exit_status;
    int pid;        /* of the process that started */
    int launcher;   /* the pct that started it, or one of its parents; 0: none did */
    int supervisor; /* of that, 0: it has none */
    bool one_cpu;   /* all threads are pinned to one CPU: this one */
    unsigned cpu;
    bool quiet;     /* PCT_LOG */
    bool ended;     /* the trace is closed */
    bool assertion; /* one has failed: the SIGABRT that follows is its */
    bool robust;    /* robust mutexes are in use */
    bool confined;  /* there is a filter of system calls */
    bool named;     /* the program has given a thread a name of its own */
    bool watchdog;  /* PCT_WATCHDOG */
    uint64_t run_ns;
    struct pct_config config;
    const struct pct_strategy *strategy;
    uint64_t space;                /* bytes of address space that the shim has taken, at least */
    struct pct_shim_thread *slots; /* by id: slots.h */
    struct pct_trace_header *header;
    size_t mapped;          /* bytes of the trace file's mapping; 0: there is none */
    const char *trace_path; /* absolute; of the first process, where that is another one; NULL: no trace */
    uint64_t trace_device, trace_inode;
    bool cancel_interrupts; /* GLIBC: pthread_cancel() sends a signal also to threads at no cancellation point */
    int clear_tid;          /* GLIBC: where struct pthread holds the tid that the kernel clears; 0: unknown */
    uint32_t children;      /* forked so far */
    uint64_t randoms;       /* numbers given to the target so far */
    uint32_t recorder;      /* lock of the recorder in PCT_MODE_FREE */
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

/* process.c: in a child of vfork, on its parent's stack, the thread that made it. */
extern __thread struct pct_shim_thread *pct_vforking;

static inline struct pct_shim_thread *pct_shim_of(const struct pct_thread *thread)
{
    return (struct pct_shim_thread *)thread;
}

/* start.c: begin the run that is pending, if the caller is the thread that it begins with. As pct_enter(). */
struct pct_shim_thread *pct_enter_first(void);

/* The calling thread, if it is under control and holds the baton; else NULL. For shortcuts only, which leave what they
 * do not know to code that enters: this begins no run. */
static inline struct pct_shim_thread *pct_holder(void)
{
    struct pct_shim_thread *self = pct_self;
    return PCT_LIKELY(self && &self->core == pct_S.current) ? self : NULL;
}

/* The same for a wrapper; NULL: pass the call through. */
struct pct_shim_thread *pct_enter_slow(void);
static inline struct pct_shim_thread *pct_enter(void)
{
    struct pct_shim_thread *self = pct_holder();
    return PCT_LIKELY(self != NULL) ? self : pct_enter_slow();
}

/* Whether there is a run, after beginning one that is pending: for wrappers that only take notes. */
static inline bool pct_running(void)
{
    pct_enter();
    return pct_S.host != NULL && !pct_vforking;
}

/* signals.h: let in the signals that were put off, or sent, while the thread was parked or in a wrapper. */
void pct_signal_deliver(struct pct_shim_thread *self);

/* handler.c: if the thread is pinned (sched.h) for a handler that it has left by a jump, it is no longer. Before a
 * switch is asked for. */
void pct_signal_unpin(struct pct_shim_thread *self);

static inline bool pct_signal_waits(const struct pct_shim_thread *self)
{
    return PCT_UNLIKELY(__atomic_load_n(&self->held, __ATOMIC_RELAXED) || self->sent);
}

/* The same as pct_enter(), for a wrapper that calls anything: until it returns, signals are put off. */
static inline __attribute__((always_inline)) struct pct_shim_thread *pct_mark(struct pct_shim_thread *self,
                                                                              const void *frame)
{
    /* A wrapper within a wrapper (a target's malloc that locks) is a part of it. A mark below this frame was left
     * behind by a wrapper that ended by a jump. */
    if (self && (!self->inside || (uintptr_t)self->inside < (uintptr_t)frame))
        self->inside = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return self;
}

static inline __attribute__((always_inline)) void pct_leave_at(struct pct_shim_thread *self, const void *frame)
{
    if (!self || self->inside != frame)
        return;
    self->inside = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (pct_signal_waits(self))
        pct_signal_deliver(self);
}

static inline __attribute__((always_inline)) void pct_leave(struct pct_shim_thread **self)
{
    pct_leave_at(*self, __builtin_frame_address(0));
}

/* Declares `self`: the calling thread, marked as inside a wrapper until the function returns; NULL as from pct_enter().
 */
#define PCT_ENTER(self)                                                                                                \
    struct pct_shim_thread *self __attribute__((cleanup(pct_leave))) = pct_mark(pct_enter(), __builtin_frame_address(0))

/* Whether the calling thread has left the schedule for good, or is a child in its parent's memory. */
static inline bool pct_is_beside(void)
{
    return pct_self ? pct_self->beside : pct_vforking != NULL;
}

/* A call is about to be passed through. True: the caller has the baton, but could not be told whether the call would
 * block (pct_io_enter); so it makes the call without, and comes back then. */
bool pct_passing(enum pct_op op, enum pct_class class_, const volatile void *object);

/* A call was passed through: record it (strategy none), or count what that says about control. */
void pct_passed(enum pct_op op, enum pct_class class_, const volatile void *object);

/* After a call without the baton. */
void pct_come_back(struct pct_shim_thread *self);

#define PASS(op, class_, object, call)                                                                                 \
    ({                                                                                                                 \
        bool pct_left_ = pct_passing(op, class_, object);                                                              \
        __typeof__(call) pct_result_ = (call);                                                                         \
        if (pct_left_)                                                                                                 \
            pct_come_back(pct_self);                                                                                   \
        else                                                                                                           \
            pct_passed(op, class_, object);                                                                            \
        pct_result_;                                                                                                   \
    })

/* A call that does not block, and has no object: with its point and step if the caller has the baton. */
#define AT_POINT(self, op, call)                                                                                       \
    ({                                                                                                                 \
        if (self)                                                                                                      \
            pct_here(self, op);                                                                                        \
        __typeof__(call) pct_result_ = (self) ? (call) : PASS(op, PCT_CLASS_NONE, NULL, call);                         \
        if (self)                                                                                                      \
            pct_done(self, op, 0, NULL);                                                                               \
        pct_result_;                                                                                                   \
    })

/* After the baton came back: what others have asked of this thread meanwhile (cancellation, signals). */
void pct_resumed(struct pct_shim_thread *self);

/* Before the scheduler is entered: if the stack has no room for it, let the fault come here, where nothing is half
 * done. A handler of the target's on another stack may jump out of it and go on. What a wrapper takes itself comes on
 * top: docs/SANDBOX.md, tests/cases/handler_stack.c. */
void pct_probe_stack(void); /* and ends a pin whose handler was left */

/* Pass the scheduling point of an operation on this object that cannot block. */
struct pct_object *pct_at_slow(struct pct_shim_thread *self, enum pct_op op, const volatile void *object,
                               enum pct_class class_);
static inline struct pct_object *pct_at(struct pct_shim_thread *self, enum pct_op op, const volatile void *object,
                                        enum pct_class class_)
{
    if (pct_quiet(&pct_S))
        return pct_object_at(&pct_S.objects, object, class_);
    return pct_at_slow(self, op, object, class_);
}

/* The same for an operation without an object. */
void pct_here_slow(struct pct_shim_thread *self, enum pct_op op);
static inline void pct_here(struct pct_shim_thread *self, enum pct_op op)
{
    if (!pct_quiet(&pct_S))
        pct_here_slow(self, op);
}

static inline void pct_done(const struct pct_shim_thread *self, enum pct_op op, uint32_t arg,
                            const struct pct_object *object)
{
    pct_record(&pct_S, &self->core, op, arg, object ? object->number : 0);
}

/* pct_sched_wait(), and then pct_resumed(). A wait that a cancellation ends does not begin while one is due:
 * PCT_CANCELLED. */
enum pct_result pct_wait(struct pct_shim_thread *self, const struct pct_wait *wait);

/* The same for a plain wait. */
static inline enum pct_result pct_wait_for(struct pct_shim_thread *self, enum pct_op op, struct pct_object *object,
                                           pct_readiness *ready, const volatile void *arg, uint64_t deadline)
{
    struct pct_wait wait = {
        .op = op, .object = object, .ready = ready, .ready_arg = (const void *)arg, .deadline = deadline
    };
    return pct_wait(self, &wait);
}

static inline void pct_program_changed(struct pct_object *object)
{
    if (PCT_UNLIKELY(object->waiters))
        pct_sched_changed(&pct_S, object);
}

/* Whether other processes take part in this object. flag: what the object says of itself; where that may be wrong
 * (robust mutexes, condition variables of the old version), the memory map decides, once for each object. */
bool pct_shared_slow(struct pct_object *object);
static inline bool pct_shared(struct pct_object *object, bool flag)
{
    return PCT_UNLIKELY(flag) && (object->shared ? object->shared == PCT_SHARED_YES : pct_shared_slow(object));
}

/* Run a call without the baton, and come back. A cancellation may end the call: then the thread comes back before the
 * program's cleanup handlers run. GLIBC: this is what pthread_cleanup_push is in C without exceptions, so it asks
 * nothing of an unwinder that the cancellation does not. */
#define AWAY(self, call)                                                                                               \
    ({                                                                                                                 \
        __pthread_unwind_buf_t pct_unwind_;                                                                            \
        if (__builtin_expect(pct_sigsetjmp(pct_unwind_.__cancel_jmp_buf, 0), 0))                                       \
            pct_cancelled_away(&pct_unwind_);                                                                          \
        __pthread_register_cancel(&pct_unwind_);                                                                       \
        (self)->unwind = &pct_unwind_;                                                                                 \
        __typeof__(call) pct_result_ = (call);                                                                         \
        (self)->unwind = NULL;                                                                                         \
        __pthread_unregister_cancel(&pct_unwind_);                                                                     \
        pct_come_back(self);                                                                                           \
        pct_result_;                                                                                                   \
    })
int pct_sigsetjmp(struct __cancel_jmp_buf_tag *buffer, int mask) __asm__("__sigsetjmp") __attribute__((returns_twice));
void pct_cancelled_away(__pthread_unwind_buf_t *buffer) __attribute__((noreturn)); /* cancel.c */

/* Run a call that may block on the outside world, without the baton. */
#define OUTSIDE(self, op, object, call)                                                                                \
    ({                                                                                                                 \
        pct_probe_stack();                                                                                             \
        pct_sched_leave(&pct_S, &(self)->core, op, object);                                                            \
        pct_signal_away(self);                                                                                         \
        AWAY(self, call);                                                                                              \
    })

/* After a call with the baton that may have slept all the same (for a lock inside libc, for a disk), or that ran code
 * of the target: the watchdog may have taken the baton away meanwhile. Leaves errno alone. */
static inline void pct_keep(struct pct_shim_thread *self)
{
    if (PCT_UNLIKELY(pct_S.current != &self->core))
        pct_enter_slow();
    /* The target's code may have made steps; there must be room for the one that is about to be recorded. */
    if (pct_is_full(&pct_S) && pct_S.current == &self->core)
        pct_sched_make_room(&pct_S, &self->core);
}
#define MAY_SLEEP(self, call)                                                                                          \
    ({                                                                                                                 \
        __typeof__(call) pct_result_ = (call);                                                                         \
        pct_keep(self);                                                                                                \
        pct_result_;                                                                                                   \
    })

static inline void pct_uncontrolled(enum pct_uncontrolled what)
{
    pct_sched_count_uncontrolled(&pct_S, what, 1);
}

/* clock.c: a point in time on one of the system's clocks as virtual time. False: not a valid time or clock. */
bool pct_deadline(clockid_t clock, const struct timespec *when, uint64_t *deadline);
/* This many nanoseconds from now, in virtual time. What is farther away than PCT_FAR, 292 years, is there: time may
 * still jump to it. */
#define PCT_FAR (PCT_NEVER / 2)
uint64_t pct_deadline_in(uint64_t length);
/* The thread looks at what changes without its doing (a clock, the CPU that it is on): often enough in a row, that is a
 * spin, and a step. With the baton. */
void pct_read_may_spin(struct pct_shim_thread *self);
/* Whether pct keeps this clock. */
bool pct_keeps_clock(clockid_t clock);
/* The real time left until a limit from pct_sched_outside_limit(); NULL for none. */
struct timespec *pct_limit_timespec(uint64_t limit, struct timespec *storage);
/* Turn a real duration into a real point in time on CLOCK_MONOTONIC, in place. */
struct timespec *pct_from_now(struct timespec *t);
/* A virtual deadline as a point in real time on this clock, for waits in which another process takes part. */
void pct_real_deadline(clockid_t clock, uint64_t deadline, struct timespec *when);
/* Nanoseconds of a valid timespec, cut at PCT_NEVER - 1. */
uint64_t pct_nanoseconds(const struct timespec *t);
bool pct_valid(const struct timespec *t);

/* sleep.c */
int pct_yield(struct pct_shim_thread *self);

/* mutex.c: for condition variables and C11. */
int pct_mutex_try(struct pct_shim_thread *self, pthread_mutex_t *mutex);
int pct_mutex_release(struct pct_shim_thread *self, pthread_mutex_t *mutex, struct pct_object *object);
pct_readiness pct_mutex_ready;
bool pct_mutex_alike(const pthread_mutex_t *mutex);         /* its waits are alike: struct pct_wait */
uint32_t pct_mutex_holder(const struct pct_thread *thread); /* as of struct pct_host */
/* Whether other processes take part in it. */
bool pct_mutex_shared(const pthread_mutex_t *mutex);

/* thread.c */
void pct_thread_start(void) PCT_STARTS;
int pct_thread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument, bool c11);
struct pct_shim_thread *pct_thread_find(pthread_t handle);
extern uint32_t pct_thread_coming; /* threads that the scheduler knows and the kernel does not yet */
/* The calling kernel thread is this one from now on. */
void pct_thread_adopt(struct pct_shim_thread *slot);
void pct_thread_pin(void); /* affinity.c */
void pct_affinity_start(const char *cpu) PCT_STARTS;
void pct_affinity_pin(void);
/* A fork server waits on the CPU that PCT_CPU names, or where the command wants it (cli/process/cpu_sharing.c): a run
 * that begins there need not move when it is pinned. The run is free to go until then, as one that was started by exec.
 */
void pct_affinity_wait_there(void);
void pct_affinity_go_free(void);
void pct_affinity_unpin(int32_t tid); /* a thread of ours, not of the target; 0: the caller */
void pct_affinity_inherit(struct pct_shim_thread *thread, const pthread_attr_t *attr);

/* cancel.c: act on a cancellation that is pending: at the start of a cancellation point, and wherever a wait has ended
 * with PCT_CANCELLED. Returns if libc acts on none: the thread is ending already. */
void pct_cancel_point(struct pct_shim_thread *self);

/* engine.c */
extern const struct pct_host pct_host_futex;
void pct_engine_start(void);
/* Ask libc's version how it cancels. Before the target's first call. */
void pct_cancel_start(void);
void pct_engine_linger(struct pct_shim_thread *self);
/* A thread is about to be made while this many live. */
void pct_engine_expect(uint32_t threads);
void pct_engine_wait(struct pct_shim_thread *self);
int pct_engine_tid(void); /* the kernel's id of the calling thread */
/* The same of any thread, also of one that libc does not know. No system call for one of the target's, which a sandbox
 * may forbid. */
int pct_engine_any_tid(void);

/* watchdog.c: a second thread is about to exist, and exists: whether a watchdog is needed turns out as the run goes on.
 * With the baton. */
void pct_watchdog_plan(void);
void pct_watchdog_listen(void);
/* In a fork child: that of the parent is not here. */
void pct_watchdog_forget(void);
/* The kernel's id of the watchdog's own thread; 0: there is none. */
int32_t pct_watchdog_tid(void);
/* Make the watchdog, if there is none yet and there may be one. Any thread, also in a signal handler. */
void pct_watchdog_start(void);
/* Likewise, also for a process with a single thread: the host's tend (struct pct_host). */
void pct_watchdog_tend(void);
/* The same, and wait until it has made all the system calls of its start. */
void pct_watchdog_have(void);
/* As pct_futex_wait(word, 0), for a thread that waits for the baton; it may return for no reason. */
void pct_watchdog_wait(const uint32_t *word);
/* Whether the watchdog took the baton from this thread: it has to come back. */
bool pct_watchdog_took(struct pct_shim_thread *self);

/* start.c: a forked child begins a run of its own. */
void pct_start_child(uint32_t ordinal, uint64_t parent_seed);

/* exit.c: pass the point of the final wait. */
void pct_exit_point(struct pct_shim_thread *self, int status);

/* exit.c, at the start: see it, too, when a sanitizer ends the process. */
void pct_exit_watch(void);

/* foreign_threads.c: as of struct pct_host. */
uint64_t pct_foreign_threads(uint64_t until);
void pct_foreign_threads_forget(void); /* in a fork child */

/* end.c */
void pct_end_normal(void);         /* the process ends by itself */
void pct_end_behind(void *unused); /* the same, behind all handlers of exit: with a point */
void pct_end_died(void);           /* a sanitizer ends it, after its report */
void pct_end_verdict(enum pct_verdict verdict, const char *message) __attribute__((noreturn));
void pct_end_crash(int signal, void *context);
void pct_say(const char *line); /* on standard error, with "pct: " before it */

/* disposition.c, handler.c */
void pct_signal_start(void) PCT_STARTS;
/* Whether a child process lives that could send a signal that the target handles. */
bool pct_signal_may_come(void);
/* The thread is outside from now on, until pct_come_back(). */
void pct_signal_away(struct pct_shim_thread *self);
/* The thread is about to finish: handle what has come, and let nothing in any more. */
uint64_t pct_signal_retire(struct pct_shim_thread *self);

#endif
