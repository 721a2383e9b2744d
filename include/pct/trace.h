/* The trace of a run: one file (or one anonymous mapping) that the shim writes and the `pct` command reads.
 *
 *     header (PCT_TRACE_HEADER_SIZE bytes)  who ran, under which token, how it ended
 *     records (8 bytes a step)              the schedule: which thread did what to which object
 *     packed records                        if they were more than the recorder had room for there
 *     snapshot (optional)                   after a failure: memory map, registers and stacks of all threads
 *
 * The file is mapped shared while the target runs, so it survives whatever kills the target: a header that still says
 * PCT_VERDICT_RUNNING belongs to a process that was killed, and its records end at the first zero.
 * All numbers are little-endian. docs/TRACE.md describes the format for other readers.
 */
#ifndef PCT_TRACE_H
#define PCT_TRACE_H

#include <stdint.h>

#define PCT_TRACE_MAGIC "PCTTRACE"
#define PCT_TRACE_VERSION 2u /* the newest; what a trace is depends on its own */
#define PCT_TRACE_FLAT 1u    /* all records one behind the other */
#define PCT_TRACE_PACKED 2u  /* all but the last block packed: common/pack.h */
#define PCT_TRACE_HEADER_SIZE 8192u
#define PCT_TRACE_BLOCK 512u /* records; the running hash advances by blocks of this many */

/* A record: 1 valid bit | 15 thread | 7 operation | 16 argument | 25 object (from the highest bit down).
 * The object is its number by first use (0: none); of threads it is the id, of descriptors the descriptor.
 * The argument depends on the operation: see enum pct_op. */
#define PCT_RECORD(thread, op, arg, object)                                                                            \
    ((UINT64_C(1) << 63) | ((uint64_t)(thread) << 48) | ((uint64_t)(op) << 41) | ((uint64_t)((arg)&0xffffu) << 25) |   \
     ((uint64_t)(object)&0x1ffffffu))
#define PCT_RECORD_THREAD(r) ((uint32_t)((r) >> 48) & 0x7fffu)
#define PCT_RECORD_OP(r) ((uint32_t)((r) >> 41) & 0x7fu)
#define PCT_RECORD_ARG(r) ((uint32_t)((r) >> 25) & 0xffffu)
#define PCT_RECORD_OBJECT(r) ((uint32_t)(r)&0x1ffffffu)

/* Operations. X(identifier, name, object class): append only, the numbers stand in traces. What a new one means is for
 * rule_of() in sched/races_order.c, row_of() in cli/explore/dependence.c and cli/trace/events.c to say. */
#define PCT_OPS(X)                                                                                                     \
    X(NONE, "none", NONE)                                                                                              \
    X(THREAD_START, "start", THREAD)   /* a thread's first step */                                                     \
    X(THREAD_FINISH, "finish", THREAD) /* its last, after its destructors */                                           \
    X(THREAD_CREATE, "create", THREAD) /* object: the new thread */                                                    \
    X(THREAD_JOIN, "join", THREAD)     /* arg: see PCT_ARG_* */                                                        \
    X(THREAD_TRYJOIN, "tryjoin", THREAD)                                                                               \
    X(THREAD_DETACH, "detach", THREAD)                                                                                 \
    X(THREAD_EXIT, "thread exit", THREAD)                                                                              \
    X(THREAD_CANCEL, "cancel", THREAD)                                                                                 \
    X(TESTCANCEL, "testcancel", NONE)                                                                                  \
    X(MUTEX_LOCK, "lock", MUTEX)                                                                                       \
    X(MUTEX_TRYLOCK, "trylock", MUTEX) /* arg: PCT_ARG_BUSY when it failed */                                          \
    X(MUTEX_UNLOCK, "unlock", MUTEX)                                                                                   \
    X(MUTEX_INIT, "mutex init", MUTEX)                                                                                 \
    X(MUTEX_DESTROY, "mutex destroy", MUTEX)                                                                           \
    X(MUTEX_CONSISTENT, "mutex consistent", MUTEX)                                                                     \
    X(COND_WAIT, "cond wait", COND) /* begins to wait, and gives the mutex up */                                       \
    X(COND_WAKE, "cond wake", COND) /* returns from the wait with the mutex; arg: PCT_ARG_TIMEOUT */                   \
    X(COND_SIGNAL, "signal", COND)  /* arg: index of the waiter chosen, PCT_ARG_NOBODY if none waited */               \
    X(COND_BROADCAST, "broadcast", COND)                                                                               \
    X(COND_INIT, "cond init", COND)                                                                                    \
    X(COND_DESTROY, "cond destroy", COND)                                                                              \
    X(RWLOCK_RDLOCK, "read lock", RWLOCK)                                                                              \
    X(RWLOCK_WRLOCK, "write lock", RWLOCK)                                                                             \
    X(RWLOCK_TRYRDLOCK, "try read lock", RWLOCK)                                                                       \
    X(RWLOCK_TRYWRLOCK, "try write lock", RWLOCK)                                                                      \
    X(RWLOCK_UNLOCK, "rwlock unlock", RWLOCK)                                                                          \
    X(RWLOCK_INIT, "rwlock init", RWLOCK)                                                                              \
    X(RWLOCK_DESTROY, "rwlock destroy", RWLOCK)                                                                        \
    X(BARRIER_ARRIVE, "barrier arrive", BARRIER)                                                                       \
    X(BARRIER_LEAVE, "barrier leave", BARRIER)                                                                         \
    X(BARRIER_INIT, "barrier init", BARRIER)                                                                           \
    X(BARRIER_DESTROY, "barrier destroy", BARRIER)                                                                     \
    X(SPIN_LOCK, "spin lock", SPIN)                                                                                    \
    X(SPIN_TRYLOCK, "spin trylock", SPIN)                                                                              \
    X(SPIN_UNLOCK, "spin unlock", SPIN)                                                                                \
    X(SPIN_INIT, "spin init", SPIN)                                                                                    \
    X(SPIN_DESTROY, "spin destroy", SPIN)                                                                              \
    X(SEM_WAIT, "sem wait", SEM)                                                                                       \
    X(SEM_TRYWAIT, "sem trywait", SEM)                                                                                 \
    X(SEM_POST, "sem post", SEM)                                                                                       \
    X(SEM_INIT, "sem init", SEM)                                                                                       \
    X(SEM_DESTROY, "sem destroy", SEM)                                                                                 \
    X(ONCE, "once", ONCE) /* arg: PCT_ARG_RUN when this thread runs the routine */                                     \
    X(ONCE_DONE, "once done", ONCE)                                                                                    \
    X(GUARD_ACQUIRE, "static guard acquire", GUARD)                                                                    \
    X(GUARD_RELEASE, "static guard release", GUARD)                                                                    \
    X(FUTEX_WAIT, "futex wait", FUTEX)                                                                                 \
    X(FUTEX_WOKEN, "futex woken", FUTEX)                                                                               \
    X(FUTEX_WAKE, "futex wake", FUTEX) /* arg: index of the first waiter chosen */                                     \
    X(YIELD, "yield", NONE)                                                                                            \
    X(SLEEP, "sleep", NONE) /* begins to sleep */                                                                      \
    X(AWAKE, "awake", NONE) /* has slept */                                                                            \
    X(CLOCK, "clock", NONE) /* a read of the clock that is part of a spin, or shows that the thread has computed */    \
    X(SIGNAL_SEND, "signal send", THREAD)                                                                              \
    X(SIGNAL_WAIT, "signal wait", NONE)                                                                                \
    X(EXIT, "exit", NONE) /* the process begins to end; waits for its turn */                                          \
    X(EXIT_NOW, "exit now",                                                                                            \
      NONE) /* the process ends at once: _exit, quick_exit, abort, or the last of exit's handlers is done */           \
    X(FORK, "fork", NONE)                                                                                              \
    X(OUTSIDE, "outside", NONE) /* nothing could run until this came; arg and object: microseconds, high and low bits, \
                                   and PCT_RECORD_JUMPS */                                                             \
    X(READ, "read", FD)                                                                                                \
    X(WRITE, "write", FD)                                                                                              \
    X(POLL, "poll", NONE)                                                                                              \
    X(CLOSE, "close", FD)                                                                                              \
    X(ACCEPT, "accept", FD)                                                                                            \
    X(CONNECT, "connect", FD)                                                                                          \
    X(SHUTDOWN, "shutdown", FD)                                                                                        \
    X(FILE_LOCK, "file lock", FD) /* flock, lockf, fcntl */                                                            \
    X(FILE_UNLOCK, "file unlock", FD)                                                                                  \
    X(MESSAGE, "message queue", NONE)                                                                                  \
    X(CHILD_WAIT, "wait for child", NONE)                                                                              \
    X(STUCK, "stuck", NONE) /* lost the baton without having passed a point; arg: PCT_ARG_SPINS and the like */        \
    X(SIGNAL_HANDLE, "signal handler", NONE) /* begins; arg: the signal */                                             \
    X(TIMER_SET, "timer set", NONE)          /* arms or disarms a timer */                                             \
    X(LOAD, "load", MEMORY)                  /* of plain memory, by programs that tell (docs/MEMORY.md) */             \
    X(STORE, "store", MEMORY)                                                                                          \
    X(ATOMIC_LOAD, "atomic load", MEMORY)                                                                              \
    X(ATOMIC_STORE, "atomic store", MEMORY)                                                                            \
    X(ATOMIC_UPDATE, "atomic update", MEMORY) /* reads and writes at once */                                           \
    X(ATOMIC_TRY, "atomic exchange", MEMORY)  /* the same, where a loop may depend on what it finds */                 \
    X(OPEN, "open", FD)                       /* of a named pipe; arg: PCT_ARG_BUSY when it begins to wait */          \
    X(DEADLINE, "deadline",                                                                                            \
      NONE) /* time goes on to that of this thread's wait, though others could run; arg and object: as of OUTSIDE */   \
    X(REQUEST, "request", NONE)           /* an asynchronous one is made, or withdrawn */                              \
    X(REQUEST_DONE, "request done", NONE) /* by the thread that performs it */                                         \
    X(REQUEST_WAIT, "wait for request", NONE)                                                                          \
    X(LOADER, "loader", LOADER)      /* is about to take the loader's lock: dlopen and the like */                     \
    X(POINT, "point", POINT)         /* pct_point() of <pct/script.h> */                                               \
    X(CHOICE, "choice", NONE)        /* pct_choose() of it; arg: what was chosen */                                    \
    X(FUNCTION_ENTER, "enter", NONE) /* stands where a function that --functions names begins */                       \
    X(FUNCTION_RETURN, "return", NONE)                                                                                 \
    X(STREAM, "use stream", MUTEX) /* waits until its lock is free, and libc takes it for a moment */

enum pct_op {
#define PCT_OP_ENUM(id, name, class) PCT_OP_##id,
    PCT_OPS(PCT_OP_ENUM)
#undef PCT_OP_ENUM
        PCT_OP_COUNT
};

/* Whether the argument and the object of a record are microseconds. */
#define PCT_RECORD_HAS_TIME(r)                                                                                         \
    (PCT_RECORD_OP(r) == PCT_OP_OUTSIDE || PCT_RECORD_OP(r) == PCT_OP_DEADLINE || PCT_RECORD_OP(r) == PCT_OP_CLOCK)
#define PCT_RECORD_TIME(r)                                                                                             \
    ((uint64_t)(PCT_RECORD_ARG(r) & (PCT_RECORD_OP(r) == PCT_OP_OUTSIDE ? 0xfffu                                       \
                                     : PCT_RECORD_OP(r) == PCT_OP_CLOCK ? 0x1ffu                                       \
                                                                        : 0xffffu))                                    \
         << 25 |                                                                                                       \
     PCT_RECORD_OBJECT(r))
/* Of OUTSIDE, the highest bits of the argument: so often, or more often, time had jumped to a timer since the step
 * before it. */
#define PCT_RECORD_JUMPS(r) (PCT_RECORD_ARG(r) >> 12)
#define PCT_RECORD_JUMPS_MOST 15u
/* Of CLOCK: which read since the step before it this was, if it was not one too many. */
#define PCT_RECORD_READ(r) (PCT_RECORD_ARG(r) >> 9)

/* Classes of objects, for reports. */
#define PCT_CLASSES(X)                                                                                                 \
    X(NONE, "")                                                                                                        \
    X(THREAD, "thread")                                                                                                \
    X(MUTEX, "mutex")                                                                                                  \
    X(COND, "condition variable")                                                                                      \
    X(RWLOCK, "rwlock")                                                                                                \
    X(BARRIER, "barrier")                                                                                              \
    X(SPIN, "spinlock")                                                                                                \
    X(SEM, "semaphore")                                                                                                \
    X(ONCE, "once")                                                                                                    \
    X(GUARD, "static guard")                                                                                           \
    X(FUTEX, "futex")                                                                                                  \
    X(FD, "descriptor")                                                                                                \
    X(MEMORY, "memory")                                                                                                \
    X(LOADER, "loader")                                                                                                \
    X(POINT, "point")

enum pct_class {
#define PCT_CLASS_ENUM(id, name) PCT_CLASS_##id,
    PCT_CLASSES(PCT_CLASS_ENUM)
#undef PCT_CLASS_ENUM
        PCT_CLASS_COUNT
};

/* Arguments of records. */
#define PCT_ARG_TIMEOUT 1u
#define PCT_ARG_BUSY 2u
#define PCT_ARG_CANCELLED 3u
#define PCT_ARG_RUN 4u
#define PCT_ARG_ERROR 5u
#define PCT_ARG_SPINS 6u     /* on plain memory */
#define PCT_ARG_SLEEPS 7u    /* in a call that pct does not intercept */
#define PCT_ARG_RUNS 8u      /* on and on */
#define PCT_ARG_ASKED 9u     /* of an access that a watchpoint told of: the strategy was asked behind it */
#define PCT_ARG_SPURIOUS 10u /* of a return from a condition variable: nobody has signalled (--spurious) */
#define PCT_ARG_TIMER 11u    /* on and on, until the signal of a timer is due */
#define PCT_ARG_AGAIN 12u    /* on and on, as before in this run, for less time */
#define PCT_ARG_NOBODY 0xffffu

#define PCT_STATUS_UNKNOWN -1

/* How a run ended. */
#define PCT_VERDICTS(X)                                                                                                \
    X(RUNNING, "running")     /* not yet, or killed before it could say */                                             \
    X(EXIT, "exit")           /* the target ended by itself; pct_trace_header.exit_status */                           \
    X(CRASH, "crash")         /* by a signal; pct_trace_header.signal */                                               \
    X(ASSERTION, "assertion") /* __assert_fail and then SIGABRT; the text is in .message */                            \
    X(DEADLOCK, "deadlock")                                                                                            \
    X(LIVELOCK, "livelock")                                                                                            \
    X(DIVERGENCE, "divergence") /* a replay left the recorded schedule; .message says where */                         \
    X(INTERNAL, "internal error")                                                                                      \
    X(TIMEOUT, "timeout") /* `pct run --timeout` asked for the final report */                                         \
    X(RACE, "data race")  /* with --races=fail */

enum pct_verdict {
#define PCT_VERDICT_ENUM(id, name) PCT_VERDICT_##id,
    PCT_VERDICTS(PCT_VERDICT_ENUM)
#undef PCT_VERDICT_ENUM
        PCT_VERDICT_COUNT
};

/* Exit codes of the target when the tool ended it, and of the `pct` command. docs/EXIT-CODES.md. */
enum {
    PCT_EXIT_USAGE = 2,              /* bad option, variable, strategy, token or trace; the target was not started */
    PCT_EXIT_SCRIPT_ASSERTION = 116, /* `pct script`: an assertion of the script failed */
    PCT_EXIT_DID_NOT_FIT = 117,      /* `pct script`: the threads did not do what the script says */
    PCT_EXIT_RACE = 118,             /* a data race, with --races=fail */
    PCT_EXIT_CONFIDENCE = 119,       /* `--confidence`: no run failed, but it was not reached */
    PCT_EXIT_DEADLOCK = 120,
    PCT_EXIT_LIVELOCK = 121,
    PCT_EXIT_DIVERGENCE = 122,
    PCT_EXIT_NOT_CONTROLLED = 123, /* the linker did not preload libpct.so into the target */
    PCT_EXIT_TIMEOUT = 124,        /* `pct run --timeout` killed it */
    PCT_EXIT_INTERNAL = 125
};

/* What the scheduler could not order, counted. X(identifier, text for the report). */
#define PCT_UNCONTROLLED(X)                                                                                            \
    X(FOREIGN, "operations by threads that pct did not see start")                                                     \
    X(PSHARED, "operations on process-shared objects")                                                                 \
    X(OUTSIDE, "waits that were left to the outside world")                                                            \
    X(FUTEX, "raw futex operations that are not modelled")                                                             \
    X(CHILD, "child processes")                                                                                        \
    X(HANDLER, "operations in signal handlers out of turn")                                                            \
    X(EXIT, "threads whose end the kernel did not confirm in time")                                                    \
    X(SLEPT, "sleeps in calls that pct does not intercept: other threads went on")                                     \
    X(SPUN, "spins on plain memory, without a call: other threads, or a timer, went first")                            \
    X(RAN, "long runs without a call, ended by real time: other threads, or a timer, went first")                      \
    X(SIGNAL, "signals that came from outside, or to the process group")                                               \
    X(PARENT, "signals to the pct that started the run: not delivered")                                                \
    X(SITE, "instructions that access memory and could not be patched")                                                \
    X(MODULE, "modules of which nothing could be patched")                                                             \
    X(WATCH, "accesses to a watched variable, in signal handlers and the like, that were no scheduling points")        \
    X(STRICT, "threads in strict seccomp mode (read and write only): they ran outside the schedule")                   \
    X(HELD, "ends of the process, which others held up for 20,000 steps: it ended before them")                        \
    X(INLINE, "waits and wakes by futexes of the program's own: taking such a lock while it is free is no scheduling " \
              "point without --memory=atomics")                                                                        \
    X(UNSEEN, "runs in which races were not looked for, as nothing tells of memory accesses: build the program with "  \
              "pct-cc, or say --memory=globals")                                                                       \
    X(APART, "libraries loaded apart (dlmopen), with a libc of their own: what they do by it, pct does not see")       \
    X(PRIORITY, "threads with a real-time priority (SCHED_FIFO, SCHED_RR)")                                            \
    X(COMPUTED, "reads of a clock behind long computing: they show the CPU time that it took")

enum pct_uncontrolled {
#define PCT_UNCONTROLLED_ENUM(id, text) PCT_UNCONTROLLED_##id,
    PCT_UNCONTROLLED(PCT_UNCONTROLLED_ENUM)
#undef PCT_UNCONTROLLED_ENUM
        PCT_UNCONTROLLED_COUNT
};

#define PCT_TOKEN_MAX 512u

/* Where a thread was stuck with the baton (PCT_UNCONTROLLED_SLEPT, _SPUN, _RAN), and how often.
 * PCT_UNCONTROLLED_MODULE: which module could not be patched. */
#define PCT_PLACES 16u
struct pct_place {
    uint64_t count; /* 0: the table ends here */
    uint32_t kind;  /* enum pct_uncontrolled */
    uint32_t thread;
    int32_t call; /* the number of the system call that it slept in, -1 if it ran; MODULE: enum pct_plan_refusal */
    uint32_t unused;
    char where[72]; /* FILE+0xOFFSET */
};

/* GLIBC: its SIGSETXID, see preload/watchdog/preempt.c. */
enum { PCT_TRACE_REQUEST_SIGNAL = 33 };

/* The message of a deadlock in which only some threads wait for each other. */
#define PCT_MESSAGE_CYCLE "threads wait for each other in a cycle, and all others only sleep or wait for the outside"

struct pct_trace_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;  /* PCT_TRACE_HEADER_SIZE */
    uint64_t file_size;    /* bytes of the file that mean something; 0 while running */
    uint64_t records_size; /* bytes that the record area may grow to; packed blocks begin behind them */
    uint64_t steps;        /* valid unless the verdict is RUNNING: then count the records */
    uint64_t first;        /* the number, from 0, of the first step in the record area: not 0 only where just the last
                              steps were kept, for a report */
    uint64_t recorded;     /* steps that stand in the record area. Less than steps if space ran out */
    uint64_t hash;         /* the running hash over all steps; docs/TRACE.md has its definition */
    uint64_t seed;
    uint64_t epoch;                  /* seconds since 1970 at which virtual time began */
    uint64_t switches;               /* times that the baton passed to another thread */
    uint64_t preemptions;            /* those of them that left an enabled thread behind */
    uint64_t virtual_ns;             /* virtual time that passed */
    uint64_t uncontrolled_first[16]; /* the first of `uncontrolled`, where there were no more once */
    uint32_t verdict;                /* enum pct_verdict */
    int32_t exit_status;             /* PCT_STATUS_UNKNOWN: a sanitizer ended the target, with a status of its own */
    int32_t signal;
    int32_t pid;
    uint32_t threads; /* n: threads that ever existed */
    uint32_t max_enabled;
    uint32_t objects;
    uint32_t culprit;  /* the thread that crashed or failed the assertion; PCT_NO_THREAD if none */
    uint64_t snapshot; /* offset of the snapshot in the file, 0 for none */
    uint64_t snapshot_size;
    char strategy[64];
    char token[PCT_TOKEN_MAX]; /* without the hash while running, with it at the end */
    char message[1024];        /* the assertion's text, where a replay diverged, what was lost */
    char command[2048];        /* the arguments of the target, shell-quoted, cut if too long */
    uint64_t points;           /* what the strategy's parameter k should have been; 0: the number of steps */
    int32_t launcher;          /* the `pct` that made this file for one run, 0: none did */
    int32_t supervisor;        /* the process that supervises that one, 0: none does */
    struct pct_place places[PCT_PLACES];
    uint32_t watched;    /* the shim looks at `request`, at the latest when it gets PCT_TRACE_REQUEST_SIGNAL */
    uint32_t request;    /* not 0: end the run with PCT_VERDICT_TIMEOUT and a snapshot; written by the `pct` command */
    uint32_t races;      /* data races found, each pair of places once: as many sections of the snapshot, and: */
    int32_t server;      /* not 0: this is no run; the process shall fork runs when asked to on this descriptor */
    uint64_t file_most;  /* bytes that the file may grow to, said by the launcher; 0: it has not */
    uint32_t suppressed; /* data races that were not counted because the user does not want them to be, likewise */
    uint32_t images; /* programs that this process was before it became this one, by exec; their steps are not here */
    uint64_t uncontrolled[32]; /* by enum pct_uncontrolled; all 0: see uncontrolled_first */
    uint64_t choices;          /* signals and wakes that had several waiters to choose from, and pct_choose() */
    uint64_t spins;            /* times that the strategy was told that a thread spins */
    uint32_t left;             /* threads that lived, at most, when the process began to end */
    uint32_t possible_races;   /* more sections of the snapshot: accesses in machine code that are possibly races */
    uint64_t deadlines;        /* of waits, which slack may let come early, or could have; */
    uint64_t fixed_deadlines;  /* and others: of waits that the outside may end, and timers */
    uint64_t passed_over; /* scheduling points at which others could run and were not asked for: in a handler that has
                                  interrupted the program's own code, and in libc's calls that hold a lock of its */
    uint64_t randoms;     /* random numbers of the system's that the target got from the seed */
    uint32_t images_open; /* one of `images` had several threads, or did what pct does not control */
    uint32_t held_ms;   /* the most CPU time for which a thread made no call while others could go on, from 20 ms on; */
    char image[256];    /* if `images` is not 0: the program's file, "": its name is too long */
    uint32_t held_by;   /* and that thread */
    uint32_t withdrawn; /* of `threads`: could not be made, so that their ids are nobody's */
};

/* The snapshot: a sequence of sections, each with this head, 8-byte aligned. */
enum {
    PCT_SNAP_MAPS = 1,
    PCT_SNAP_THREAD = 2,
    PCT_SNAP_STACK = 3,
    PCT_SNAP_OBJECT = 4,
    PCT_SNAP_SITES = 5, /* only where the run was told to record them (PCT_SITES) */
    PCT_SNAP_STEP = 6,
    PCT_SNAP_RACE = 7,
    PCT_SNAP_PLACES = 8, /* only of runs that learn: memory-points=learned */
    PCT_SNAP_POINT = 9,
    PCT_SNAP_SCRIPT = 10, /* only of runs of `pct script` */
    /* Likewise: the trace of another process that the script has lines for; thread: its number. Empty: it left none. */
    PCT_SNAP_PROCESS = 11
};
struct pct_snap_section {
    uint32_t type;
    uint32_t thread; /* THREAD, STACK */
    uint64_t size;   /* of the data that follow, in bytes, before padding to 8 */
};
/* MAPS: the text of /proc/thread-self/maps. */
/* THREAD: one of these. */
struct pct_snap_thread {
    uint32_t id;
    int32_t tid;
    uint32_t state;    /* enum pct_snap_state */
    uint32_t op;       /* enum pct_op: the pending operation */
    uint32_t object;   /* number, or thread id for class THREAD */
    uint32_t holder;   /* the thread that holds that object, PCT_NO_THREAD if unknown */
    uint64_t deadline; /* virtual ns, UINT64_MAX for none */
    uint64_t regs[17]; /* by DWARF number: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip; only rbx rbp rsp r12-r15 rip are
                            meaningful for a parked thread */
    char name[16];
};
enum pct_snap_state { PCT_SNAP_RUNNING, PCT_SNAP_ENABLED, PCT_SNAP_BLOCKED, PCT_SNAP_FINISHED, PCT_SNAP_OUTSIDE };
/* STACK: uint64_t address, then the bytes at that address. */
/* RACE: one of these for each data race that was found: two accesses that nothing orders. */
struct pct_snap_access {
    uint32_t thread;
    uint8_t write, atomic; /* write: PCT_SNAP_GIVES_UP where it gave the memory up, by free() and the like; atomic:
                              PCT_SNAP_UNTOLD where machine code does not tell */
    uint8_t size;          /* bytes from .address that the two have in common, and more of one of them */
    uint8_t lock_count;    /* how many of .lock mean something */
    uint64_t address;
    uint64_t step; /* the step that it was, or after which it came if it did not count */
    /* Where it was made, then the calls that led there: addresses behind the instruction; 0: no more. */
    uint64_t frames[15];
    uint32_t lock[4]; /* the numbers of mutexes and the like that the thread held */
};
enum { PCT_SNAP_GIVES_UP = 2, PCT_SNAP_UNTOLD = 2 };
struct pct_snap_race {
    struct pct_snap_access access[2]; /* in the order in which they were made; of an UNTOLD one: possibly a race */
};
/* OBJECT: one of these for each object that a blocked thread waits for; then for some of the others, whose .holder is
 * not said. */
struct pct_snap_object {
    uint32_t number;
    uint32_t class_; /* enum pct_class */
    uint64_t address;
    uint32_t holder;
    uint32_t waiters;
};
/* SITES: one of these for each recorded step, in order; fewer if space ran out. Addresses mean something together with
 * MAPS. */
struct pct_site {
    uint64_t call : 48;    /* where the call that made the step returns to in the target's code; of a thread's start,
                              the function that it starts with; 0: not known */
    uint64_t callers : 16; /* a hash of the calls above it, as far as unwind tables lead to them; 0: not known */
    uint64_t object;       /* the address of the step's object, 0: none, or not known */
};
/* .callers: from 0 on, one more address that a call returns to, at most PCT_SITE_CALLERS: of each the part that does
 * not depend on where its file was loaded. */
enum { PCT_SITE_CALLERS = 4 };
static inline uint16_t pct_site_add_caller(uint16_t callers, uint64_t address)
{
    uint16_t more = (uint16_t)(callers * 31U + (address & 0xfff) + 1);
    return more ? more : 1;
}
/* POINT: one of these for each object of that class. */
struct pct_snap_point {
    uint32_t number;
    char name[60]; /* cut if it is longer, and then without a zero */
};
/* PLACES: one of these for each place in the code that made points of plain accesses to memory, or whose accesses
 * raced. */
struct pct_snap_place {
    uint64_t name; /* a hash of its file's name and its offset there */
    uint64_t flags;
};
enum {
    PCT_PLACE_POINT = 1, /* it made scheduling points */
    PCT_PLACE_RACED = 2  /* some other access was not ordered with one of its */
};
/* SCRIPT: this, its notes, and texts, each ended by a zero: the name of the script's file; the script; if there are
 * parts, what all processes did, as the list of the strategy `processes`, unless that is not known. */
struct pct_snap_script {
    uint32_t notes;
    uint32_t name_size, text_size; /* bytes, with the zero */
    uint32_t parts;                /* lines for other processes, whose steps are in traces of their own: PROCESS */
};
/* A line of the script was done when the run had made this many steps. */
struct pct_snap_script_note {
    uint32_t line, thread; /* thread: that it was about, plus 1; 0: none */
    uint64_t step;
};
/* STEP: one of these, and then the bytes of the stack from its address upwards: where `thread` stood before a step. */
struct pct_snap_step {
    uint64_t step;     /* its number, from 1 */
    uint64_t regs[17]; /* as those of a parked thread */
    uint64_t address;  /* of the bytes that follow */
};

#endif
