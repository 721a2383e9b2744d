/* Threads that make no progress: what all signs of it mean, and from when on.
 *
 *     sign                                                                    seen by                 threshold
 *     a yield, a failed try, a sleep of no length                             the wrapper, which      the first one
 *                                                                             calls pct_sched_spin()
 *     reads of a clock in a row, with no step in between                      pct_progress_clock()    PCT_CLOCK_READS
 *     accesses that look at the same few locations and change nothing         pct_progress_look()     PCT_MEMORY_SPIN
 *     reads of a loop that waits, which see what they saw before              pct_spin_reads_wait()   PCT_MEMORY_SPIN
 *     PAUSE instructions with no step in between                              pct_spin_pause_no_progress() likewise
 *     polling: the same few operations over and over while others could run   the trace, in blocks    PCT_POLLING_*
 *     starvation: a thread could run and never did, while others went on,     the trace, in blocks    PCT_STARVATION_*
 *     sooner where these do nothing but wake one another
 *     a loop on memory that passes no scheduling point at all                 the watchdog            by samples of
 *                                                                             (revoke.c)              registers: below
 *
 * Each makes the thread spin this many times for the strategy (`spinning`), which lowers its priority (PCT,
 * section 4.1, "starvation free"), and is asked at the next point. Where only sleepers could change what is waited for,
 * time jumps to the next deadline; a run of nothing but spins for long enough is a livelock.
 *
 * Not here: what proves a spin to the watchdog (preload/watchdog/preempt.c) counts interruptions in real time and
 * states of a processor, not steps, and what becomes of it is a step of op STUCK; and what a strategy without chance
 * does when spins do not help (strategies/lockstep.h), as strategies know nothing of the scheduler. */
#ifndef PCT_SCHED_PROGRESS_H
#define PCT_SCHED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct pct_sched;
struct pct_thread;

/* This many steps in a row that are all spins, by whichever threads, are a livelock: every strategy has let the others
 * go first thousands of times by then. Twice as many if a deadline is pending, to which time jumps in between; never
 * while something from outside may come, or another process may change memory. */
#define PCT_LIVELOCK_SPINS UINT64_C(1000000)
/* This many looks at memory count as one of them: threads that look a million times before they sleep are real
 * (redis's), and several may do so at once. */
#define PCT_SPIN_LOOKS 16u

/* A thread that has spun on memory this often since it last blocked, while nobody else could run, waits for a sleeper.
 */
#define PCT_SPINS_ALONE 64u

/* This many reads of a clock with no step in between are a loop that waits for time. */
#define PCT_CLOCK_READS 100u

/* As many accesses in a row that look at the same few locations and change nothing are a spin. */
#define PCT_MEMORY_SPIN 64u
/* It is told to the strategy once for this many of them. A strategy may answer one spin by lowering the priority with
 * a small probability only (PCT: 1/16), and each of these steps is one of the k. */
#define PCT_SPIN_STEPS 4u

/* A thread that for this many blocks of the trace does nothing but the same few operations (locks a mutex, looks,
 * unlocks it) while others could run is polling: that is one long spin, which would starve them under a strategy with
 * priorities. When it does the same again later, this many steps are enough to know: a prime, so that it does not
 * always stop at the same place of its round, with the same lock in its hands. A round is at most this many operations.
 */
#define PCT_POLLING_BLOCKS 8u
#define PCT_POLLING_STEPS 37u
#define PCT_POLLING_ROUND 16u

/* Once in this many steps it is asked who could run and never did since the last time: for such a thread, others step
 * back. More than most runs have, so that the guarantee is theirs; little enough to be made in a second. It counts as
 * this many spins: a whole block. */
#define PCT_STARVATION_STEPS UINT64_C(500000)
#define PCT_STARVATION_SPINS 256u
/* Threads that wake one another for nothing but the same few operations poll together, and no strategy with priorities
 * ends that: then it is asked once in this many blocks. They are told by the first records of blocks: this many, of at
 * least two threads, and of no more kinds. */
#define PCT_STARVATION_BLOCKS 16u
#define PCT_STARVATION_SAMPLE 64u
#define PCT_STARVATION_KINDS 32u

/* A thread that the watchdog found in a loop has gone round it millions of times: this many spins, which take this much
 * virtual time. */
#define PCT_STUCK_SPINS 64u
#define PCT_STUCK_NS UINT64_C(20000000)
/* A thread that lost the baton as it ran on and on keeps it for a tenth of that the next time, but at least this long.
 * What it runs needs to be interrupted, and that more than once: an interpreter whose lock others ask for, and wait. */
#define PCT_AGAIN_NS UINT64_C(100000000)

/* Nothing runs but timers of the host, this many times in a row without a step in between: they wake nobody, which is a
 * livelock. Where a thread's own deadline is to come, that many are too few: MOST of them take some seconds. */
#define PCT_VAIN_JUMPS 10000u
#define PCT_MOST_JUMPS 1000000u

/* What a run has shown of it so far: a member of struct pct_sched, written by progress.c; single fields by sched.c and
 * pct_memory_progress() (memory.h). */
struct pct_progress {
    uint64_t spun_at;  /* the step of the last spin */
    uint64_t in_a_row; /* spins up to then with nothing else in between */
    uint64_t told;     /* times that the strategy was told of a spin, and may have lowered a priority by chance */
    /* The sum of the operations that one thread repeated for the whole last block, 0: there were others. */
    uint64_t polling;
    uint64_t known[8];      /* those that were found to be polling before: then PCT_POLLING_STEPS are enough */
    uint64_t looked_at;     /* the last step at which polling was looked for */
    uint64_t company;       /* the step at which somebody was last enabled beside another one */
    uint64_t starvation_at; /* the step from which on starvation is looked for */
    /* What the last blocks began with, a table by hash, 0: free; how many, and for how many blocks no more. */
    uint64_t common[2 * PCT_STARVATION_KINDS];
    uint32_t common_count, common_blocks;
    uint32_t blocks;   /* for this many blocks it has been polling */
    uint32_t pollings; /* that were found */
};

/* What a thread saw last in loops that may wait by reading memory (spin_reads.h). */
struct pct_spin_reads {
    uint64_t seen[4]; /* addresses with values */
    uint64_t step;    /* of the run, at the last read */
    uint32_t next, count;
    uint64_t paused; /* steps of the run behind the last PAUSE that was one */
    uint64_t pauses; /* since then, with no step in between */
};

/* What a thread looked at last. */
struct pct_memory_recent {
    uint64_t record[4];
    uint32_t next, repeats;
    bool spun; /* its looks were a spin, and it has only looked since, and there */
};

/* The running thread is about to pass a point without making progress. Call before its pct_point(). */
void pct_sched_spin(struct pct_sched *s, struct pct_thread *self);

/* The running thread reads what changes without its doing (a clock, the CPU that it is on). True: it did so for too
 * long without a step, which is a spin: a step follows (PCT_OP_CLOCK). */
bool pct_progress_clock(struct pct_sched *s, struct pct_thread *self);

/* The step of such a read. passed: virtual ns that go by, for the thread has computed that long; read: which read since
 * its last step it is, 0 if it is a spin, which has passed a point. Others have none: nobody goes before them. */
void pct_progress_clock_step(struct pct_sched *s, struct pct_thread *self, uint32_t read, uint64_t passed);

/* In a replay: how much time passed at this read. */
uint64_t pct_replay_clock(const struct pct_sched *s, const struct pct_thread *self, uint32_t read);

/* The running thread looks at memory by an access whose record is this one, as it does again and again? Then others go
 * first at the next point. */
void pct_progress_look(struct pct_sched *s, struct pct_thread *self, struct pct_memory_recent *recent, uint64_t record);

/* The same, but it is no spin yet: for pct_memory_pass(), which has asked. */
void pct_memory_looked(struct pct_sched *s, const struct pct_thread *self, struct pct_memory_recent *recent,
                       uint64_t record);

/* For how many ns this thread may run on and on without a step while others could go on. */
uint64_t pct_sched_patience(const struct pct_sched *s, const struct pct_thread *thread);

/* Inside the scheduler: */
/* Others should go before this thread, though it may have made progress; as after this many spins. */
void pct_progress_deprioritize(struct pct_sched *s, struct pct_thread *thread, uint32_t spins);
/* The thread waits for what only sleepers could change: time goes on to the next deadline, if that is so. */
void pct_progress_jump(struct pct_sched *s);
/* At the end of a block of the trace, and more often once a thread was seen to poll: does it do so now? */
void pct_progress_polling(struct pct_sched *s);
/* The next step at which to look, once a thread was seen to poll. */
uint64_t pct_progress_polling_next(const struct pct_sched *s);
/* At the end of a block of the trace: does a thread starve? Then the one that runs is to let others go first. */
void pct_progress_starvation(struct pct_sched *s);

#endif
