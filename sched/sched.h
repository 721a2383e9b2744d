/* The scheduler: threads, scheduling points, waiting, virtual time.
 *
 * It knows no libc and no pthreads: the shim (preload/) runs real threads over it, the simulated host (tests/sim/) runs
 * abstract programs. Everything here is called by the thread that holds the baton, and by it alone, unless a function
 * says otherwise; so there is no lock inside. The pieces:
 *
 *     sched.c    scheduling points, picking, waiting and waking, ends of threads
 *     object.c   objects by address, numbered by first use
 *     timer.c    deadlines, virtual time
 *     progress.c threads that make no progress; spin_reads.h: loops that wait by reading memory
 *     slack.c    waits that may time out before all others have done what they can
 *     record.c   the trace and its running hash
 *     replay.c   what the strategy `replay` cannot do: time, the world outside, revocations; comparing steps
 *     outside.c  waits that only the outside world can end; idle.c: when no thread can run
 *     group.c    many that wait for one object: enabled and disabled together
 *     deadlock_cycle.c    threads that wait for each other while others sleep
 *     revoke.c    holders of the baton that pass no point
 *     sites.c    where in the target's code each step is made, if that is to be recorded
 *     races.c    data races, and races_order.c what orders accesses; clocks.c
 *     pin.c      a thread that keeps the baton; unseen.c: what the host tells of what the scheduler does not see
 *     memory.c   which memory accesses are scheduling points
 *     log.c      what an explored run tells the command; await.c: loops that wait in one
 *     post_access.c    accesses that the scheduler hears of when they are made
 *
 * A scheduling point of an operation that cannot block:   pct_point(), do it, pct_record().
 * Of one that can: try it; when that fails, pct_sched_wait() until its predicate holds, try again, pct_record().
 * A step is counted by pct_record(), so k counts operations that completed, as in the PCT paper (section 3).
 */
#ifndef PCT_SCHED_H
#define PCT_SCHED_H

#include "host.h"
#include "object.h"
#include "progress.h"
#include <common/end.h>
#include <pct/strategy.h>
#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCT_LIKELY(x) __builtin_expect(!!(x), 1)
#define PCT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Virtual time: nanoseconds since the start of the run. A step takes 1 us, so that a thread that sleeps wakes even
 * while others never stop; a read of the clock takes 100 ns, so that a loop around the clock ends. */
#define PCT_STEP_NS UINT64_C(1000)
#define PCT_READ_NS UINT64_C(100)
#define PCT_NEVER UINT64_MAX

/* Threads that pct does not know; threads that have finished, and free what libc has left: they only keep shortcuts
 * from being taken. */
#define PCT_FOREIGN_THREADS 1u
#define PCT_FOREIGN_FINISHED 2u
#define PCT_FOREIGN_SILENT 4u /* with THREADS: some cannot tell when they have changed something */

/* How long, in real time, one is waited for that the kernel was told to wake: reached if the machine stands still. */
#define PCT_EXPECT_NS UINT64_C(10000000000)

/* A process that ends waits at most this many steps for the others to block (the paper's final wait, section 4.2): a
 * thread that never blocks must not keep it from ending. */
#define PCT_FINAL_WAIT_STEPS UINT64_C(20000)

enum pct_state {
    PCT_STATE_ENABLED, /* its pending operation can complete, or it is running */
    PCT_STATE_BLOCKED, /* it cannot */
    PCT_STATE_OUTSIDE, /* it waits outside the scheduler, without the baton */
    PCT_STATE_FINISHED
};

/* What ended a wait. */
enum pct_result {
    PCT_READY,       /* the predicate holds, or pct_sched_wake() chose this thread */
    PCT_TIMEOUT,     /* the deadline has passed */
    PCT_CANCELLED,   /* pct_sched_cancel() */
    PCT_INTERRUPTED, /* pct_sched_interrupt(): there is a signal to handle */
    PCT_GO_OUTSIDE   /* nothing else can run: wait for real, without the baton, then pct_sched_return() */
};

/* Why the next scheduling point is not passed the fast way: bits of pct_sched.due. The others are steps:
 * pct_sched_set_stop(). */
enum {
    PCT_DUE_ATTENTION = 1, /* threads without the baton have changed something: see who is back, ask all predicates */
    PCT_DUE_KERNEL = 2,    /* they may have changed what the kernel says: ask it again */
    PCT_DUE_ENABLED = 4,   /* since the last pick one has become enabled, or all but one disabled: ask the strategy */
    PCT_DUE_OFTEN = 8,     /* as long as there is a wait whose predicate is asked at each step */
    PCT_DUE_PINNED = 16,   /* as long as a thread is pinned: what it passes over is counted */
    PCT_DUE_SITES = 32     /* for the whole run: the site of each step is recorded */
};

struct pct_sched;
struct pct_thread;

/* Something that happens at a point in virtual time. Deadlines of waits are some, the host may have more:
 * pct_sched_set_timer(). At the same time, the one of the lower order comes first. */
struct pct_timer {
    uint64_t deadline;                                          /* virtual ns */
    uint64_t order;                                             /* threads: the id; others: from PCT_MAX_THREADS on */
    void (*fire)(struct pct_sched *s, struct pct_timer *timer); /* it is no longer armed then */
    uint32_t place;                                             /* in the heap + 1, 0: not armed */
};

/* How many of its own the host may have. */
#define PCT_MAX_TIMERS 32768u

/* Whether the pending operation of this thread could complete now. Must not change anything. */
typedef bool pct_readiness(const struct pct_thread *thread);

/* A wait: what the thread is about to do, on what, and what can end it. */
struct pct_wait {
    pct_readiness *ready;      /* NULL: only pct_sched_wake() ends it */
    const void *ready_arg;     /* for the predicate: pct_thread.wait.ready_arg */
    struct pct_object *object; /* may be NULL */
    enum pct_op op;
    bool alike;        /* all that wait for this object by this predicate, with this ready_arg, get the same answer */
    bool kernel;       /* the predicate asks the kernel: ask again whenever that may answer differently */
    bool outside;      /* the outside world could end it */
    bool attention;    /* so could what calls pct_sched_attention(): a signal. Then it is no deadlock */
    bool cancellable;  /* pct_sched_cancel() ends it */
    bool certain;      /* what it waits for always comes in the end: a child's death */
    bool kin;          /* with outside: nobody beyond the family could end it (struct pct_host) */
    bool often;        /* nobody tells when the predicate's answer changes: ask it at each step */
    bool again;        /* an interruption does not end it: counted in object->away, the thread comes back */
    uint64_t deadline; /* virtual ns, PCT_NEVER */
    /* When anything else has ended the wait, the thread still has to wait for this: a condition variable's mutex. */
    struct pct_object *then_object;
    pct_readiness *then_ready;
    const void *then_arg;
    enum pct_op then_op;
    bool then_alike;
};

/* The waiters of an object of whom all can go on, or none: see group.c. */
struct pct_group {
    uint16_t *threads; /* ids, in the order of the queue */
    uint32_t count, room;
    bool enabled;            /* they all are */
    struct pct_group *chain; /* free list */
};

/* A thread, inside a struct of the host's, which sets its id before it is made, and the site of its start. All else the
 * scheduler writes, with the baton, but for `called`. */
struct pct_thread {
    /* All that is looked at when its object changes, of a thousand waiters maybe: one cache line. */
    uint32_t id;
    enum pct_state state;           /* pct_state() knows: in a group, it is the group's */
    struct pct_group *group;        /* NULL: in none */
    uint32_t group_place;           /* no more than this many stand before it in the group */
    struct pct_thread *prev, *next; /* in the object's queue, in order of arrival */
    struct pct_wait wait;           /* the pending operation */
    uint64_t stamp;                 /* its id where records have it */
    enum pct_result result;
    bool queued;              /* stands in wait.object's queue */
    bool in_then;             /* the first part of the wait is over */
    bool near;                /* its deadline is within the slack, and its coin says that this matters */
    bool early;               /* and only that enables it */
    bool passed_over;         /* it has not run since progress.c saw that it could */
    bool awaits;              /* await.c: it waits in a loop for others to write */
    bool recallable;          /* outside.c: it waits outside without a limit, until its timer has the host recall it */
    bool absent;              /* it is gone, but has not finished yet: pct_sched_gone() */
    struct pct_timer timer;   /* armed while it waits with a deadline; outside, if it is recallable */
    struct pct_timer nearing; /* armed until that deadline is near */
    uint32_t coins;           /* drawn for its waits with a deadline */
    uint64_t spins;           /* spins since it last blocked */
    uint32_t long_runs;       /* revoke.c: it lost the baton so often because it ran on and on */
    uint64_t mark;            /* deadlock_cycle.c: the search that met it last */
    uint32_t clock_reads;     /* reads of the clock since step clock_step */
    uint64_t clock_step;
    /* There is something for it to do, a signal: its waits are interrupted; atomic, pct_sched_call(). */
    uint32_t called;
    struct pct_thread *arrival;                   /* in the list of those that came back from outside */
    struct pct_thread *kernel_prev, *kernel_next; /* in the list of those whose predicates ask the kernel */
    struct pct_object self;                       /* for joiners */
    struct pct_site site; /* of its last point, while sites are recorded; the host sets that of its start */
};

struct pct_trace_header;
struct pct_races;
struct pct_channel;

/* The state of a run. All of it is written with the baton, but for what is marked as atomic. Who writes what stands at
 * each part. The host sets what it configures before pct_sched_start(); from then on it asks by the functions of
 * state.h and fast_path.h, and says what it knows by those below. What belongs to one thread stands in struct
 * pct_thread, to one object in struct pct_object, signs of no progress in struct pct_progress, and what the strategy
 * remembers in its own block. */
struct pct_sched {
    /* The fast path: one cache line, in this order. */
    struct pct_thread *current; /* who holds the baton and is outside the scheduler's own code; NULL inside it */
    uint64_t *record;           /* where the next record goes */
    uint64_t *stop;             /* the record at which anything but recording is to be done */
    struct pct_objects objects; /* object.c; begins with what a look-up needs */
    uint32_t due;               /* PCT_DUE_*; atomic: threads without the baton set bits, too */
    uint32_t in_full;           /* no operation may take a shortcut: pct_sched_in_full() */
    uint64_t block_step;        /* record.c: steps passed when the block being filled began */
    uint64_t base;              /* virtual time less step * step_ns; at first what the host says */
    uint64_t rest;              /* of virtual time: passed while nothing could run; less than 0: more CPU time passed */

    /* The host configures. */
    const struct pct_host *host;
    const struct pct_strategy *strategy;
    struct pct_run run;
    struct pct_thread *(*thread_at)(uint32_t id); /* the host keeps the threads, inside larger structs of its own */
    uint64_t step_ns;                             /* PCT_STEP_NS, 0 in real time */
    uint64_t max_steps;
    uint64_t run_ns; /* a thread that passes no point for this long loses the baton */
    /* In virtual time, a wait whose deadline is at most this many ns ahead may time out while others could run; 0: only
     * when no other thread can go on, or this many steps were made. coins: in one half of the waits only, drawn. */
    uint64_t slack;
    bool slack_coins;
    bool still;                  /* time stands, and only goes on to deadlines; with step_ns not 0 */
    enum pct_end end;            /* not PCT_END_DRAWN */
    struct pct_races *races;     /* the race detector, or NULL */
    const struct pct_calm *calm; /* of the strategy `script`, or NULL, */
    uint64_t *calm_stop;         /* and where `stop` would be with no end of the budget */
    struct pct_channel *log;     /* of an explored run, or NULL: log.h */
    bool explored;               /* a run that has one, or has the steps of such a run: pct_sched_is_explored() */
    bool places;                 /* the strategy wants to know where operations are: pct_sched_start() finds out */

    /* sched.c, threads.c, pick_waiter.c: threads and picks */
    void *strategy_state;
    uint32_t threads, withdrawn; /* that ever existed; of these, could not be made */
    uint32_t live;               /* that have not finished */
    uint32_t enabled;
    uint32_t max_enabled;
    uint64_t budget_end; /* the step at which the strategy's budget is used up */
    uint64_t picked_at;  /* the step of the last pick */
    uint64_t switches, preemptions;
    uint64_t choices; /* signals and wakes that had several waiters to choose from */
    /* pin.c: keeps the baton until it blocks: it may stand inside a lock that nobody knows of. */
    struct pct_thread *pinned;
    uint64_t passed_over;                       /* points at which others could run, but the thread is pinned */
    struct pct_group *free_groups;              /* group.c */
    const void *begun_with[PCT_MOST_ROLES - 1]; /* threads.c: functions that threads begin with, NULL: none yet */
    struct pct_progress progress;               /* progress.c */
    uint64_t uncontrolled[PCT_UNCONTROLLED_COUNT];

    /* unseen.c: what the host tells */
    uint32_t foreign; /* who makes calls without the baton: PCT_FOREIGN_*; atomic */
    uint32_t unseen;  /* what may enable a waiter without a call to pct_sched_changed() */

    /* sched.c: waits, by what could end them */
    struct pct_thread *kernel_waits, *kernel_last; /* in kernel waits, in order of arrival */
    uint32_t kernel_outside, kernel_kin; /* of them, that the outside world could end; that only the family could */
    uint32_t can_outside, can_kin;       /* the same of others, but for signals, which are in the former */
    uint32_t can_attention;              /* that attention could end */
    uint32_t can_both;                   /* for a signal, which is one of either kind */
    uint32_t often;                      /* those whose predicates are asked at each step */
    uint32_t awaiting;                   /* await.c: in loops, for others to write to memory */

    /* outside.c */
    uint32_t outside, kin_outside;    /* threads in PCT_STATE_OUTSIDE; for which only the family does anything */
    uint32_t recallable;              /* those of these with a deadline, of its time also where nobody is left of it */
    struct pct_thread *arrivals;      /* came back from outside; lock-free list, atomic */
    uint64_t idle_real, idle_virtual; /* when nobody began to hold the baton */
    uint64_t idle_until;              /* when somebody must be back, virtual; atomic */
    uint64_t idle_deadline;           /* of the first timer, virtual; PCT_NEVER: none */
    uint64_t ahead;        /* real time less virtual time at the first arrival from outside, once that was met */
    uint64_t stranger_at;  /* the virtual time before which no stranger does anything, when that was asked last */
    uint32_t idle;         /* 1: nobody holds the baton; atomic */
    bool met;              /* `ahead` is known */
    bool stranger;         /* a thread that is not in the schedule may act before the next deadline */
    bool may_be_signalled; /* host->may_be_signalled(), when it was asked last */
    bool sent;             /* host->sent() need not be told any more */
    bool unasked;          /* kernel waits are not asked: who has the baton has none of the target's descriptors */
    bool joins;            /* a thread is about to stand in a queue, where others would not find it yet to wake it */
    bool kept_back;        /* threads could go on, and the strategy waits for another one (idle.c) */
    uint64_t reluctant;    /* it is reluctant, and waits until this real time; 1: it did, in vain; 0: it is not */
    bool lock_waits;       /* deadlock_cycle.c: a thread has begun to wait since it searched last */
    uint64_t cycle_mark;   /* of its searches */
    uint32_t patience;     /* how often to look again before a deadlock is called, with PCT_FOREIGN_FINISHED */

    /* timer.c, slack.c */
    uint32_t timers_count, nearing_count;
    uint32_t jumps;             /* to deadlines in a row, since step jumped_at */
    struct pct_timer **timers;  /* binary heap by (deadline, order) */
    struct pct_timer **nearing; /* the same, of deadlines that come near */
    uint64_t jumped_at;
    uint64_t deadlines;       /* of waits, to which slack applied or would have, whatever the coin said */
    uint64_t fixed_deadlines; /* others: of waits that the outside may end, and the host's timers */
    uint32_t early;           /* threads that only slack enables */

    /* exit.c */
    uint32_t left;              /* threads that lived, at most, when the process began to end */
    struct pct_thread *exiting; /* is ending the process */
    uint64_t exit_by;           /* from this step on it goes before all others */

    /* record.c */
    struct pct_trace_header *header;
    uint64_t *records;      /* the record area (used again and again once blocks are packed), or the ring */
    uint64_t records_ready; /* records that have memory behind them */
    uint64_t records_max;   /* that fit in the area */
    uint64_t *block;        /* the first record of the block being filled */
    uint64_t hash;          /* of all full blocks */
    uint64_t timed;         /* the step behind the last record that has a time in it; 0: there was none */
    uint32_t *packed;       /* where the next packed block goes; NULL: blocks are not packed */
    char *packed_ready;     /* up to here there is memory */
    char *packed_end;       /* up to here there may be */
    struct pct_pack *pack;  /* NULL: the record area has not come to its end yet */
    uint64_t *nowhere;      /* where records go when the trace is closed */
    const uint64_t *ends;   /* the end of the trace, once that is finished */
    uint32_t turning;       /* a block is being turned, or the trace is closed; atomic */
    bool ring;              /* the area is a ring: nothing but the last steps is kept */

    /* replay.c */
    uint64_t replay_checked; /* steps compared with run.records so far */
    /* The next recorded thread is outside, and sleeps perhaps for threads that wait for their turn: since this step
     * (one more; 0: it does not). When to look again, in real time; what was seen the last time. */
    uint64_t replay_held, replay_look, replay_asleep;

    /* sites.c */
    struct pct_site *sites; /* by step, or NULL: not recorded */
    uint64_t sites_max;     /* that there is room for */
    uint64_t sited;         /* steps whose sites are there */
    bool callers;           /* also who called there */
    const uint64_t *stacks; /* the steps whose stacks are still wanted, in order */
    uint32_t stacks_count;

    /* pct_sched_pause_at(), or a debugger in the stopped process (preload/core/debugger.h) */
    uint32_t break_other; /* no pause before a step of this thread: its id + 1 */
    uint64_t break_step; /* host->pause() before this step (from 1), or the first one behind it that a thread makes at a
                            point; 0: never */
};

/* The thread, which holds the baton, keeps it until it blocks or is unpinned. Returns who did before: to put back. */
struct pct_thread *pct_sched_pin(struct pct_sched *s, struct pct_thread *self);

/* From now on this one is pinned, as before pct_sched_pin(); NULL: nobody. */
void pct_sched_unpin(struct pct_sched *s, struct pct_thread *before);

/* Begin: `s` zeroed, with host, thread_at, strategy, run, max_steps, step_ns, slack set and the recorder started
 * (pct_record_start). Returns 0, -ENOMEM, or the strategy's error with *why set; with 0, *why is the strategy's remark
 * on its parameters or NULL. */
int pct_sched_start(struct pct_sched *s, const char **why);

/* A new thread, zeroed by the caller and reachable through thread_at(s->threads). It is enabled at once, and runs when
 * it is first picked. Where PCT_MAX_THREADS have been made, its id may be set to one of a finished thread that nobody
 * speaks of any more, and is not zeroed. */
void pct_sched_create(struct pct_sched *s, struct pct_thread *thread);

/* The same in two parts, where making a thread may pass scheduling points (an allocator with a lock): first it gets its
 * id; then it is there, or could not be made. */
void pct_sched_reserve(struct pct_sched *s, struct pct_thread *thread);

/* What a thread that was reserved begins with: the address of its function, of this process. Before it is started; on
 * the turn of whoever makes it. */
void pct_sched_begins_with(struct pct_sched *s, const struct pct_thread *thread, const void *function);
void pct_sched_start_thread(struct pct_sched *s, struct pct_thread *thread);
void pct_sched_withdraw(struct pct_sched *s, struct pct_thread *thread);

/* The first thread takes the baton. */
void pct_sched_begin(struct pct_sched *s, struct pct_thread *first);

/* The thread, which has the baton, goes on in the target's code: a new one that has got it for the first time. */
void pct_sched_go_on(struct pct_sched *s, struct pct_thread *self);

/* The thread has finished: joiners become enabled, and the baton goes to the next thread, if any is left. Returns
 * without the baton. */
void pct_sched_finish(struct pct_sched *s, struct pct_thread *self);

/* Which thread runs the next step, given that `self` (NULL: none) is where the baton is: the whole decision, with
 * everything that is due before it. For the functions of this module, and for the simulated host, which has no real
 * threads to pass a baton between. NULL: nobody can run now (all have finished, or the baton is free until somebody
 * comes back from outside). A thread that is not enabled: it is to keep the baton until the next deadline, and asks
 * again. */
struct pct_thread *pct_sched_next(struct pct_sched *s, struct pct_thread *self);

/* The running thread has passed its point, and somebody else's steps came in between (a handler's, code of the target's
 * that libc has called): so that there is room for the record that it is about to make. Where pct_is_full(). */
void pct_sched_make_room(struct pct_sched *s, struct pct_thread *self);

/* The slow half of pct_point(). */
void pct_sched_point(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object);

/* The running thread has just made an operation that nobody knew of before: record it, and let others go first now,
 * before the thread's next instruction, if a switch is due. may_switch: false where the thread may hold a lock that
 * nobody knows of; then the switch comes with its next point. */
void pct_sched_behind(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object,
                      bool may_switch);

/* Wait until the thread is chosen and its operation can complete; see struct pct_wait. If it can complete now and no
 * switch is due, returns at once. */
enum pct_result pct_sched_wait(struct pct_sched *s, struct pct_thread *self, const struct pct_wait *wait);

/* Whether this thread is to wait again for what is there: in the recorded run it came only now. */
bool pct_replay_waits_again(const struct pct_sched *s, const struct pct_thread *self);

/* An object has changed: ask the predicates of those that wait for it again. Call after every operation that may enable
 * or disable a waiter, if object->waiters is not 0. */
void pct_sched_changed(struct pct_sched *s, struct pct_object *object);

/* The kernel may answer the predicates of kernel waits differently now: behind every operation on descriptors. */
void pct_sched_ask_kernel_waits(struct pct_sched *s);
static inline void pct_sched_kernel_changed(struct pct_sched *s)
{
    if (PCT_UNLIKELY(s->kernel_waits != NULL))
        pct_sched_ask_kernel_waits(s);
}

/* Not this process alone can end this kernel wait any more; world: nor the family. */
void pct_sched_widen(struct pct_sched *s, struct pct_thread *thread, bool world);

/* End the wait of a thread in object's queue whose wait has no predicate (a condition variable, a futex). */
void pct_sched_wake(struct pct_sched *s, struct pct_thread *thread);

/* Move a thread that waits in one object's queue to the end of another's. */
void pct_sched_move(struct pct_sched *s, struct pct_thread *thread, struct pct_object *object);

/* End a cancellable wait with PCT_CANCELLED; without effect on others. */
void pct_sched_cancel(struct pct_sched *s, struct pct_thread *thread);

/* End any wait with PCT_INTERRUPTED, so that the thread runs; without effect on a thread that does not wait. If the
 * operation could complete now, or can when the thread runs, it is PCT_READY instead: such a call is not interrupted. A
 * handler that runs before the operation may still take what was there, so whoever waits tries, and waits again. In
 * the second part of a wait, what ended the first stands. */
void pct_sched_interrupt(struct pct_sched *s, struct pct_thread *thread);

/* Which of `waiters` the strategy would wake: an index below it. They are those in the queue, and others behind these
 * that are not in it for a moment. */
uint32_t pct_sched_choose(struct pct_sched *s, const struct pct_object *queue, uint32_t waiters);

/* A number below `ways` (up to 65,535), which the step that comes next must have as its argument. */
uint32_t pct_sched_choose_number(struct pct_sched *s, uint32_t ways);

/* The running thread is about to end the process: pass the point before what exit calls, and the one behind it, before
 * the process is gone. Which of them is the final wait, if any, `end` says. */
void pct_sched_exit(struct pct_sched *s, struct pct_thread *self);
void pct_sched_end(struct pct_sched *s, struct pct_thread *self);

/* Leave the scheduler for a call that may block on the outside world, until this deadline (virtual ns, PCT_NEVER): the
 * baton goes on; returns without it. kin: nobody beyond the family could end it. */
void pct_sched_leave(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object,
                     uint64_t deadline, bool kin);

/* After PCT_GO_OUTSIDE or pct_sched_leave(), without the baton: how long the real wait may last, in real nanoseconds
 * (PCT_NEVER: no bound); then come back, and return with the baton. */
uint64_t pct_sched_outside_limit(struct pct_sched *s, const struct pct_thread *self);
void pct_sched_return(struct pct_sched *s, struct pct_thread *self);

/* With the baton, by who has just ended the wait of a thread that is outside: wait until one of these threads has come
 * back, which takes no virtual time, and no longer than PCT_EXPECT_NS. It can be chosen from the next step on. */
void pct_sched_expect(struct pct_sched *s, bool (*these)(const struct pct_thread *thread, uint64_t arg), uint64_t arg);

/* Whether anything could come of taking the baton from its holder, who passes no point: somebody else could run, or
 * this replay's recording says so. */
bool pct_sched_may_take(const struct pct_sched *s, const struct pct_thread *holder, uint32_t arg);
/* Until it is set back, nobody (NULL) may be thought stuck. Returns who could. With the baton. */
struct pct_thread *pct_sched_swap_current(struct pct_sched *s, struct pct_thread *current);

/* The running thread spins, or has run for long, and passes no point: others go first. arg: PCT_ARG_SPINS, _RUNS. */
void pct_sched_preempt(struct pct_sched *s, struct pct_thread *self, uint32_t arg);

/* Called for a holder of the baton that sleeps, by whoever found it, and has made sure that it does nothing meanwhile:
 * it is outside from now on, and comes back by pct_sched_return(). kin: only a relative or this process ends it. */
void pct_sched_revoke(struct pct_sched *s, struct pct_thread *thread, bool kin);
/* Behind it: the baton goes on. Whoever calls these may have none of the target's descriptors. */
void pct_sched_pass_revoked(struct pct_sched *s, struct pct_thread *thread);
void pct_sched_pass_on(struct pct_sched *s, struct pct_thread *thread);

/* Likewise for a thread that is gone, and has the baton, which goes on: in its name, it comes to the point of its end,
 * or has finished (true). Else the host is told to release it when it is its turn, and calls this again. One that is
 * outside comes back first, by the second. */
bool pct_sched_gone(struct pct_sched *s, struct pct_thread *thread);
void pct_sched_return_gone(struct pct_sched *s, struct pct_thread *thread);

/* Called now and then without the baton, by nobody's thread, in real time: if nobody holds it, as all threads are
 * outside, and a timer of the host's is due, it goes off. */
void pct_sched_tend(struct pct_sched *s);

/* Called without the baton, also from signal handlers: something has changed that the scheduler did not see. */
void pct_sched_attention(struct pct_sched *s);

/* Likewise: at the next step, ask the kernel for all kernel waits that the outside world could end. A run that has none
 * does not notice, so real time has no part in it. */
void pct_sched_ask_kernel(struct pct_sched *s);

/* What the host knows of threads and waits that the scheduler does not see. Each may be said by any thread. */
/* Threads of this kind (PCT_FOREIGN_*) make calls without the baton: no shortcut may assume that there are no others.
 * False: that was known. */
bool pct_sched_meet_foreign(struct pct_sched *s, uint32_t kind);
/* No operation may take a shortcut from now on. */
void pct_sched_in_full(struct pct_sched *s);

/* With the baton: something may enable a waiter without a call to pct_sched_changed(), from now on; or no longer.
 * Counted. */
void pct_sched_unseen(struct pct_sched *s, bool begins);

/* For a run without a schedule, by any thread: the id of one more thread; PCT_NO_THREAD: there are too many. */
uint32_t pct_sched_free_id(struct pct_sched *s);

/* Without the baton, by who takes it from a thread that sleeps with it, or gives it back: if this one holds it, that
 * one does from now on. */
bool pct_sched_swap_holder(struct pct_sched *s, struct pct_thread *from, struct pct_thread *to);

/* Call host->pause() before this step (from 1), or the first one behind it that a thread makes at a point; 0: before
 * none. With the baton, or before the run begins. */
void pct_sched_pause_at(struct pct_sched *s, uint64_t step);

/* With the baton: a choice among waiters was made that the strategy was not asked for. */
void pct_sched_chose(struct pct_sched *s);

/* Nobody enters the scheduler any more: all calls are passed through. By its last thread, or when the trace is closed.
 */
void pct_sched_shut(struct pct_sched *s);

/* The same, as the host has found what fails the run. */
void pct_sched_fail(struct pct_sched *s, enum pct_verdict verdict, const char *text) __attribute__((noreturn));

/* Arm a timer of the host's, anew if it is armed; PCT_NEVER: disarm it. fire() is called with the baton, inside the
 * scheduler; what it does is to be a function of the scheduler's state. An armed timer is no deadlock. */
void pct_sched_set_timer(struct pct_sched *s, struct pct_timer *timer, uint64_t deadline);

/* Record where each step is made; before the run begins. callers: also who called there. stacks: the numbers of steps
 * (from 1, rising) before which the host is told to keep the stack of their thread; may be NULL, must stay. From then
 * on no step takes the fast path. */
void pct_sites_start(struct pct_sched *s, bool callers, const uint64_t *stacks, uint32_t count);

/* Virtual time, ns since the start. */
uint64_t pct_sched_now(const struct pct_sched *s);
/* The same, as a read of the clock by the running thread: advances it. */
uint64_t pct_sched_read_clock(struct pct_sched *s);
/* Of the time so far, what was nobody's CPU time: nothing could run. With the baton. */
static inline uint64_t pct_sched_rest(const struct pct_sched *s)
{
    return s->rest;
}
/* It was no more than this: somebody has waited for CPU time to pass, and it has. */
static inline void pct_sched_set_rest(struct pct_sched *s, uint64_t rest)
{
    s->rest = (int64_t)rest < (int64_t)s->rest ? rest : s->rest;
}

/* Whether there is something for the thread to do (pct_thread.called). Any thread, also in a signal handler. */
static inline void pct_sched_call(struct pct_thread *thread, bool something)
{
    __atomic_store_n(&thread->called, something, __ATOMIC_SEQ_CST);
}

/* So much was done that pct could not order. Any thread. */
static inline void pct_sched_count_uncontrolled(struct pct_sched *s, enum pct_uncontrolled what, uint64_t count)
{
    __atomic_fetch_add(&s->uncontrolled[what], count, __ATOMIC_RELAXED);
}

static inline enum pct_state pct_state(const struct pct_thread *thread)
{
    if (!thread->group)
        return thread->state;
    return thread->group->enabled ? PCT_STATE_ENABLED : PCT_STATE_BLOCKED;
}

/* Whether the run follows a recorded one (strategies/replay.c). */
static inline bool pct_is_replay(const struct pct_sched *s)
{
    return s->run.records != NULL;
}

/* Steps passed so far. */
static inline uint64_t pct_steps(const struct pct_sched *s)
{
    return s->block_step + (uint64_t)(s->record - s->block);
}

/* How many threads could go on without a time-out. Of the others, those that wait for a deadline within the slack may
 * be chosen, but they keep nothing from being done that is done when nobody can run. */
static inline uint32_t pct_readiness_now(const struct pct_sched *s)
{
    return s->enabled - s->early;
}

#include "fast_path.h"
#include "state.h"

#endif
