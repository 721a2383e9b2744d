/* The simulated host: abstract programs under the real scheduler and the real strategies, without a real thread.
 *
 * For the tests in this directory. A program is a list of operations for each thread; sim_run() runs it once and says
 * how it ended. All of sched/ is the code that the shim uses; the simulated host stands where preload/run/engine.c
 * does, and the operations (simops.c) go through the scheduler as the wrappers in preload/ do. A thread is a stack and
 * a program counter on the one real thread there is (simhost.c), so a run is exact, repeatable and takes microseconds.
 *
 * A real clock and a world outside are simulated too: real time passes by 1 us with every operation and otherwise only
 * when everybody waits for it. Only one simulation exists at a time: the host's functions have no argument to tell it
 * by. */
#ifndef PCT_TESTS_SIMHOST_H
#define PCT_TESTS_SIMHOST_H

#include <sched/log.h>
#include <sched/record.h>
#include <sched/sched.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_THREADS 32u /* threads of a run, and lists of operations of a program */
#define SIM_THINGS                                                                                                     \
    8u /* mutexes, condition variables, semaphores, barriers, once controls, variables: this many of each */
#define SIM_EVENTS 8u
#define SIM_RUN_NS UINT64_C(10000000000) /* how long a thread that computes is left alone */
#define SIM_OBJECTS (10 * SIM_THINGS)    /* the most objects that a run has */

struct sim;

enum sim_kind {
    SIM_END, /* the thread finishes */
    SIM_LOCK,
    SIM_TRYLOCK,
    SIM_UNLOCK,
    SIM_WAIT,
    SIM_SIGNAL,
    SIM_BROADCAST,
    SIM_DOWN,
    SIM_TRYDOWN,
    SIM_UP,
    SIM_SLEEP,
    SIM_YIELD,
    SIM_CLOCK,
    SIM_CREATE,
    SIM_JOIN,
    SIM_BARRIER,
    SIM_RDLOCK,
    SIM_WRLOCK,
    SIM_TRYRDLOCK,
    SIM_TRYWRLOCK,
    SIM_RWUNLOCK,
    SIM_READ,
    SIM_WRITE,
    SIM_STORE,
    SIM_FILL,
    SIM_CHECK,
    SIM_AWAY,
    SIM_SPIN,
    SIM_SLEPT,
    SIM_ONCE,
    SIM_ONCE_DONE,
    SIM_FUTEX_WAIT,
    SIM_FUTEX_WAKE,
    SIM_REQUEUE,
    SIM_ATOMIC,
    SIM_DETACH,
    SIM_TRYJOIN,
    SIM_SPINLOCK,
    SIM_MAKE,
    SIM_KERNEL,
    SIM_LOADER,
    SIM_CONSISTENT,
    SIM_EXIT,
    SIM_EXIT_NOW,
    /* These are no operations for the scheduler: they happen between two of them. */
    SIM_SET,
    SIM_ADD,
    SIM_UNLESS,
    SIM_BACK,
    SIM_REPEAT,
    SIM_LOADED,
    SIM_CALL
};

struct sim_op {
    uint8_t kind; /* enum sim_kind */
    uint8_t a, b;
    bool flag;
    bool date; /* `value` is no length of time, but a point in it */
    int64_t value;
    void (*call)(struct sim *sim);
};

/* Who takes a robust mutex that a thread had at its end has 2 in its register; one that is lost, 3, and has not got it.
 *
 * Mutexes, condition variables, semaphores, barriers and variables are numbered from 0, each kind for itself. Every
 * thread has one register, where operations leave their result: 1 or 0 for those that may fail or time out. Times in
 * ns. */
/* clang-format off */
#define LOCK(m)             { .kind = SIM_LOCK, .a = m, .value = -1 }
#define LOCK_FOR(m, ns)     { .kind = SIM_LOCK, .a = m, .value = ns }
#define TRYLOCK(m)          { .kind = SIM_TRYLOCK, .a = m }
#define UNLOCK(m)           { .kind = SIM_UNLOCK, .a = m }
#define CONSISTENT(m)       { .kind = SIM_CONSISTENT, .a = m }         /* register 0: there was nothing to repair */
#define WAIT(c, m)          { .kind = SIM_WAIT, .a = c, .b = m, .value = -1 }
#define WAIT_FOR(c, m, ns)  { .kind = SIM_WAIT, .a = c, .b = m, .value = ns }
#define SIGNAL(c)           { .kind = SIM_SIGNAL, .a = c }
#define BROADCAST(c)        { .kind = SIM_BROADCAST, .a = c }
#define DOWN(s)             { .kind = SIM_DOWN, .a = s, .value = -1 }
#define DOWN_FOR(s, ns)     { .kind = SIM_DOWN, .a = s, .value = ns }
#define DOWN_BY(s, ns)      { .kind = SIM_DOWN, .a = s, .value = ns, .date = true }
#define DOWN_SHARED(s)      { .kind = SIM_DOWN, .a = s, .value = -1, .flag = true } /* the world may post it too */
#define DOWN_SHARED_FOR(s, ns) { .kind = SIM_DOWN, .a = s, .value = ns, .flag = true }
/* The kernel keeps the semaphore: waiters ask it. Posted by UP_KERNEL, by the world too (DOWN_POLLED), or not. */
#define DOWN_KERNEL(s)      { .kind = SIM_DOWN, .a = s, .b = 1, .value = -1 }
#define DOWN_POLLED(s)      { .kind = SIM_DOWN, .a = s, .b = 1, .value = -1, .flag = true }
#define DOWN_POLLED_FOR(s, ns) { .kind = SIM_DOWN, .a = s, .b = 1, .value = ns, .flag = true }
#define DOWN_SIGNAL(s)      { .kind = SIM_DOWN, .a = s, .b = 2, .value = -1 } /* a signal handler may post it */
#define UP_KERNEL(s)        { .kind = SIM_UP, .a = s, .b = 1 }
#define TRYDOWN(s)          { .kind = SIM_TRYDOWN, .a = s }
#define UP(s)               { .kind = SIM_UP, .a = s }
#define SLEEP(ns)           { .kind = SIM_SLEEP, .value = ns }
#define YIELD               { .kind = SIM_YIELD }
#define CLOCK               { .kind = SIM_CLOCK }                      /* the register becomes virtual time; no step */
#define CREATE(list)        { .kind = SIM_CREATE, .a = list }          /* a thread with this list of operations */
#define CREATE_SLOWLY(list, ns) { .kind = SIM_CREATE, .a = list, .value = ns } /* in a call that sleeps meanwhile */
#define JOIN(list)          { .kind = SIM_JOIN, .a = list }            /* the thread created last with this list */
#define JOIN_FOR(list, ns)  { .kind = SIM_JOIN, .a = list, .value = ns } /* register 0: it timed out */
#define RDLOCK(m)           { .kind = SIM_RDLOCK, .a = m, .value = -1 }
#define RDLOCK_FOR(m, ns)   { .kind = SIM_RDLOCK, .a = m, .value = ns }
#define WRLOCK(m)           { .kind = SIM_WRLOCK, .a = m, .value = -1 }
#define WRLOCK_FOR(m, ns)   { .kind = SIM_WRLOCK, .a = m, .value = ns }
#define TRYRDLOCK(m)        { .kind = SIM_TRYRDLOCK, .a = m }
#define TRYWRLOCK(m)        { .kind = SIM_TRYWRLOCK, .a = m }
#define RWUNLOCK(m)         { .kind = SIM_RWUNLOCK, .a = m }
#define BARRIER(b)          { .kind = SIM_BARRIER, .a = b }
#define READ(v)             { .kind = SIM_READ, .a = v }               /* shared variable to register */
#define WRITE(v, x)         { .kind = SIM_WRITE, .a = v, .value = x }
#define FILL(v, x)          { .kind = SIM_FILL, .a = v, .value = x } /* variables v and v+1, in one step */
#define STORE(v)            { .kind = SIM_STORE, .a = v }              /* register to shared variable */
#define CHECK(v, x)         { .kind = SIM_CHECK, .a = v, .value = x }  /* reads v and asserts v == x */
#define CHECK_NOT(v, x)     { .kind = SIM_CHECK, .a = v, .value = x, .flag = true }
#define ONCE(o)             { .kind = SIM_ONCE, .a = o }               /* register 1: up to ONCE_DONE is the routine */
#define ONCE_DONE(o)        { .kind = SIM_ONCE_DONE, .a = o }
#define GUARD(o)            { .kind = SIM_ONCE, .a = o, .flag = true } /* of a static: as ONCE, up to GUARD_END */
#define GUARD_END(o, x)     { .kind = SIM_ONCE_DONE, .a = o, .flag = true, .value = x } /* 1: it is made */
#define FUTEX_WAIT(v, x)    { .kind = SIM_FUTEX_WAIT, .a = v, .value = x } /* if v == x */
#define FUTEX_WAKE(v, n)    { .kind = SIM_FUTEX_WAKE, .a = v, .value = n } /* register: how many were woken */
#define REQUEUE(v, n, w)    { .kind = SIM_REQUEUE, .a = v, .b = w, .value = n } /* wakes n, moves the others to w */
#define ATOMIC_READ(v)      { .kind = SIM_ATOMIC, .a = v, .b = PCT_OP_ATOMIC_LOAD }
#define ATOMIC_WRITE(v, x)  { .kind = SIM_ATOMIC, .a = v, .b = PCT_OP_ATOMIC_STORE, .value = x }
#define ATOMIC_ADD(v, x)    { .kind = SIM_ATOMIC, .a = v, .b = PCT_OP_ATOMIC_UPDATE, .value = x } /* register: old v */
#define ATOMIC_TRY(v, x)    { .kind = SIM_ATOMIC, .a = v, .b = PCT_OP_ATOMIC_TRY, .value = x } /* if 0; likewise */
#define DETACH(list)        { .kind = SIM_DETACH, .a = list }          /* as JOIN; register 0: it is detached already */
#define TRYJOIN(list)       { .kind = SIM_TRYJOIN, .a = list }
#define SPINLOCK(s)         { .kind = SIM_SPINLOCK, .a = s, .b = PCT_OP_SPIN_LOCK }
#define TRYSPINLOCK(s)      { .kind = SIM_SPINLOCK, .a = s, .b = PCT_OP_SPIN_TRYLOCK }
#define PASS(s)             { .kind = SIM_SPINLOCK, .a = s, .b = PCT_OP_STREAM }
#define SPINUNLOCK(s)       { .kind = SIM_SPINLOCK, .a = s, .b = PCT_OP_SPIN_UNLOCK }
/* An object is initialised (a semaphore to x) or destroyed, by the operation of this name: MAKE(SEM_INIT, 0, 1). */
#define MAKE(name, o, x)    { .kind = SIM_MAKE, .a = o, .b = PCT_OP_##name, .value = x }
#define DESTROY(m)          MAKE(MUTEX_DESTROY, m, 0)                  /* register 0: it is held, and stays */
#define KERNEL(n)           KERNEL_BY(n ? PCT_OP_WRITE : PCT_OP_READ, n)
#define KERNEL_BY(op, n)    { .kind = SIM_KERNEL, .b = op, .value = n } /* adds to the kernel's; register: that */
#define KERNEL_WAIT(op)     { .kind = SIM_KERNEL, .b = op, .flag = true } /* until there is any, and takes one */
#define LOAD                { .kind = SIM_LOADER }                     /* what follows up to LOADED, one by one */
#define LOADED              { .kind = SIM_LOADED }                     /* no point: nobody is told */
#define AWAY(ns)            { .kind = SIM_AWAY, .value = ns }          /* outside the scheduler for so much real time */
#define SPIN_UNTIL(v, x)    { .kind = SIM_SPIN, .a = v, .value = x }   /* until v == x, without a step of its own */
#define COMPUTE_UNTIL(v, x) { .kind = SIM_SPIN, .a = v, .value = x, .flag = true } /* likewise, not idle */
#define SLEPT(ns)           { .kind = SIM_SLEPT, .value = ns }         /* this real time in a call that nobody knows */
#define EXIT                { .kind = SIM_EXIT }
#define EXITING             { .kind = SIM_EXIT, .flag = true }         /* the same, and on to the exit handlers */
#define EXIT_NOW            { .kind = SIM_EXIT_NOW }
#define SET(x)              { .kind = SIM_SET, .value = x }            /* the register */
#define ADD(x)              { .kind = SIM_ADD, .value = x }
#define UNLESS(x, n)        { .kind = SIM_UNLESS, .a = n, .value = x } /* unless the register is x, skip the next n */
#define BACK(n)             { .kind = SIM_BACK, .a = n }               /* go on n operations before this one */
#define REPEAT(times, n)    { .kind = SIM_REPEAT, .a = n, .value = times } /* the n before this, anew */
#define CALL(function)      { .kind = SIM_CALL, .call = function }     /* the test looks at, or changes, anything */
#define THREAD(...)         (const struct sim_op[]){ __VA_ARGS__, { .kind = SIM_END } }
/* clang-format on */

/* Something the outside world does at this real time: it posts a semaphore, or nothing. */
struct sim_event {
    uint64_t at; /* real ns; 0: no event */
    uint8_t sem;
    bool post;
    bool attention; /* and calls pct_sched_attention(), as a thread does that the scheduler does not know */
};

struct sim_program {
    const char *name;
    const struct sim_op *thread[SIM_THREADS]; /* thread[0] is main */
    int64_t var[SIM_THINGS];                  /* values at the start */
    uint32_t sem[SIM_THINGS];
    uint32_t barrier[SIM_THINGS]; /* how many must arrive */
    uint32_t robust;              /* bit i: mutex i is */
    struct sim_event event[SIM_EVENTS];
    uint32_t foreign;  /* PCT_FOREIGN_*: threads take part that the scheduler does not know */
    uint64_t stranger; /* up to this real time the host says that there is one; 0: it does not say */
    uint64_t asleep;   /* and that it sleeps until this virtual time; 0: it may act at any time */
    uint64_t relative; /* real ns until which another process of the family can run; 0: there is none */
};

struct sim_options {
    const struct pct_strategy *strategy;
    struct pct_run run;
    uint64_t max_steps;
    bool real_time;
    enum pct_end end; /* of pct_sched */
    uint64_t slack;   /* of deadlines, in ns; 0: they are kept in their order */
    bool slack_coins;
    bool slow;         /* never take a short cut round the scheduler */
    bool audit;        /* before every operation, compare all threads' states with what the program says */
    uint64_t *records; /* the record area, or NULL: only the last steps are kept, in a ring */
    uint64_t max;      /* records that fit in it */
    uint64_t populate; /* bytes of it that can have memory; 0: all */
    const uint64_t *replay;
    uint64_t replay_count;
    struct pct_channel *channel; /* an explored run: with the plan in there, and still time; or NULL */
};

struct sim_result {
    enum pct_verdict verdict; /* EXIT: all threads finished, or one called exit */
    char message[512];
    const char *broken; /* a rule of the host's interface that was not kept, or a failed sim_check(); NULL: none */
    uint32_t culprit;   /* whose assertion failed, PCT_NO_THREAD */
    uint64_t steps, hash, switches, preemptions, virtual_ns, real_ns, recorded;
    uint64_t outside; /* waits that were left to the outside world */
    uint64_t deadlines, fixed_deadlines;
    uint32_t threads, max_enabled;
    uint64_t asked;   /* predicates of mutexes */
    uint32_t unready; /* how often a thread was given the baton and its operation could not complete */
    int64_t var[SIM_THINGS];
};

/* What a waiting thread needs, as the program says it: for the audit. */
enum sim_need {
    SIM_NEED_NOTHING,
    SIM_NEED_MUTEX,
    SIM_NEED_SEM,
    SIM_NEED_END,
    SIM_NEED_WAKE,
    SIM_NEED_TIME,
    SIM_NEED_SHARE, /* a read-write lock */
    SIM_NEED_ALONE,
    SIM_NEED_ONCE, /* nobody runs the routine */
    SIM_NEED_SPIN,
    SIM_NEED_KERNEL, /* that it has any */
    SIM_NEED_LOADER,
    SIM_NEED_NOBODY /* waits for the condition variable, to destroy it */
};

struct sim_thread {
    struct pct_thread core; /* first: the scheduler's pointers are ours */
    const struct sim_op *at;
    int64_t reg;
    uint64_t story; /* a hash of the operations that it has made, and what it had in its register behind each */
    uint64_t repeated;
    struct pct_object sleep_object; /* what it waits for while it sleeps */
    /* What it is about to do. */
    enum sim_need need;
    uint8_t what;    /* the mutex, semaphore, or thread */
    bool woken;      /* of SIM_NEED_WAKE: it has been */
    bool detached;   /* or joined by a try */
    bool then_mutex; /* after that it needs mutex `mutex` */
    uint8_t mutex;
    uint64_t deadline; /* virtual ns */
    /* Its place on the real machine. */
    void *stack_pointer; /* while it does not run; NULL: has never run */
    void *stack;
    bool parked;         /* inside go() or park() */
    bool released;       /* may run without the baton, but has not yet */
    bool away;           /* waits outside, for a real time or a semaphore */
    uint64_t away_until; /* real ns */
    int away_sem;        /* -1: none */
};

struct sim {
    struct pct_sched sched;
    struct pct_trace_header header;
    const struct sim_program *program;
    const struct sim_options *options;
    struct sim_result *result;
    struct sim_thread thread[SIM_THREADS];
    struct sim_thread *running; /* whose stack is in use; NULL: the driver's */
    struct sim_thread *baton;   /* who holds the baton, unless sched.idle */
    bool done;
    uint32_t outsiders; /* threads that are away or released, and events that are still to come */
    uint32_t events_done;
    uint32_t idle_sleeps; /* calls of sleep() that did not advance the clock, in a row */
    uint64_t real_ns;
    uint64_t populate_left;
    /* Things. Mutexes: the holder plus 1; of robust ones, how the last holder left it. */
    enum { SIM_WHOLE, SIM_LEFT, SIM_LOST } left[SIM_THINGS];
    uint32_t mutex[SIM_THINGS], sem[SIM_THINGS], arrived[SIM_THINGS];
    char cond[SIM_THINGS], barrier[SIM_THINGS]; /* nothing but their addresses is used */
    int32_t rwlock[SIM_THINGS];                 /* how many share it; -1: it is held alone */
    uint8_t spin[SIM_THINGS];                   /* 1: it is held */
    uint32_t loader, inside;                    /* who loads, plus 1; who was not seen to have come to its end */
    uint8_t once[SIM_THINGS];                   /* 1: somebody runs the routine; 2: it has been run */
    int64_t kernel, exits;
    int64_t var[SIM_THINGS];
    uint32_t created[SIM_THREADS]; /* by list of operations: the thread created last with it, plus 1 */
    /* For the tests' own use, zeroed before each run. */
    uint64_t note[16];
};

extern struct sim sim;

/* Options for this strategy with its defaults and seed 0. */
struct sim_options sim_defaults(const struct pct_strategy *strategy);

/* Set this parameter, if the strategy has it. */
void sim_set(struct sim_options *options, const char *param, uint64_t value);

/* Run a program once. A run whose strategy does not accept its parameters ends with verdict INTERNAL. */
void sim_run(const struct sim_program *program, const struct sim_options *options, struct sim_result *result);

/* For SIM_CALL: note that something is not as it should be. The first one counts. */
void sim_check(bool holds, const char *otherwise);

/* simaudit.c: whether what this thread is about to do could complete now, worked out from the program alone. */
bool sim_could_proceed(const struct sim_thread *t);
/* Likewise: the running thread is about to make its step: does the scheduler believe what is so? */
void sim_audit(void);

/* simops.c: pass the point of an operation that cannot block; wait; both until it may be made. */
void sim_point(struct sim_thread *self, enum pct_op op, struct pct_object *object);
enum pct_result sim_wait(struct sim_thread *self, const struct pct_wait *wait, enum sim_need need, uint8_t what);

/* When the wait of this operation is over, in virtual ns; PCT_NEVER: it has no deadline. */
uint64_t sim_deadline(const struct sim_op *op);

/* Likewise: the point of its operation is passed; whether this deadline is. */
void sim_passed(struct sim_thread *self);
bool sim_is_late(uint64_t deadline);

/* simlocks.c: the operations of mutexes, of read-write locks, and of barriers. */
void sim_mutex(struct sim_thread *self, const struct sim_op *op);
void sim_rwlock(struct sim_thread *self, const struct sim_op *op);
void sim_barrier(struct sim_thread *self, uint8_t b);

/* Likewise, of mutexes, for waits on condition variables: whether one is free; the thread comes to one that is, and has
 * this in its register; whether it has not got a robust one that it was to have; it gives one up. Its end gives up all
 * robust ones. */
pct_readiness sim_mutex_ready;
int64_t sim_mutex_take(const struct sim_thread *self, uint8_t m, struct pct_object *object);
bool sim_mutex_lacks(const struct sim_thread *self, uint8_t m);
void sim_mutex_release(const struct sim_thread *self, uint8_t m, struct pct_object *object);
void sim_mutex_end(const struct sim_thread *self);

/* simwords.c: the operations of once controls, futexes, atomics and the kernel. */
void sim_word(struct sim_thread *self, const struct sim_op *op);

/* simobjects.c: the operations of spin locks and the loader; objects are initialised and destroyed. Whether nobody
 * waits for a condition variable but to destroy it. */
void sim_object(struct sim_thread *self, const struct sim_op *op);
bool sim_nobody_waits(const struct pct_object *queue);

/* For the host: the thread comes to a point, and may have left the loader. */
void sim_arrives(const struct pct_thread *thread);

/* simops.c: the life of a thread. Does not return. */
void sim_live(struct sim_thread *self) __attribute__((noreturn));

/* simlocks.c: who holds the mutex that this thread waits for, for the scheduler. */
uint32_t sim_holder(const struct pct_thread *thread);

/* For simops.c */
void sim_stop(enum pct_verdict verdict, const char *message) __attribute__((noreturn));
void sim_to_driver(void); /* leave this stack until somebody comes back to it */
void sim_pass_time(void); /* an operation takes real time, and the outside world goes on meanwhile */
void sim_stay_away(struct sim_thread *self, uint64_t until, int sem); /* wait outside */
void sim_finished(void) __attribute__((noreturn));                    /* the thread has passed pct_sched_finish() */

#endif
