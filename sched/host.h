/* The machine under the scheduler, as a table of functions: the shim's engine (preload/run/engine.c), or the simulated
 * one of the tests (tests/sim/simhost.c). All are called by the thread that holds the baton, unless one says otherwise.
 */
#ifndef PCT_SCHED_HOST_H
#define PCT_SCHED_HOST_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_thread;

struct pct_host {
    /* Zeroed memory, aligned to 64 bytes, never given back; NULL if there is none. */
    void *(*map)(size_t size);
    /* Pass the baton from one thread to another and return when `from` has it again. If `from` has finished or waits
     * outside, return at once; in the latter case somebody else may call this in its place. */
    void (*go)(struct pct_thread *from, struct pct_thread *to);
    /* Let a thread that is parked run without the baton (its wait returns PCT_GO_OUTSIDE). */
    void (*release)(struct pct_thread *thread);
    /* Park `from` while nobody holds the baton; return when it was given the baton. */
    void (*park)(struct pct_thread *from);
    /* Real nanoseconds since the start of the run. */
    uint64_t (*now)(void);
    /* Sleep in real time until now() >= when or *word != value; when may be PCT_NEVER. */
    void (*sleep)(uint64_t when, const uint32_t *word, uint32_t value);
    /* The same, but also until something may have changed for a thread in this list (by kernel_next) of those whose
     * predicates ask the kernel and that the outside world could end. */
    void (*poll)(uint64_t when, const uint32_t *word, uint32_t value, struct pct_thread *kernel_waits);
    /* A kernel wait of this thread that the outside world could end has ended while no thread of this process ran, and
     * without relatives: somebody else has sent something, or the kernel is late with what this process did. The host
     * counts the former. True: no more is to be told of. May be NULL. */
    bool (*sent)(const struct pct_thread *thread);
    /* Whether something outside may yet call pct_sched_attention() that no wait speaks of: a child's signal. May be
     * NULL. */
    bool (*may_be_signalled)(void);
    /* Return when what other processes, or this one by the kernel, have already sent to threads that are parked has
     * come to them: before a verdict that nothing can go on. May be NULL. */
    void (*settle)(void);
    /* Before time jumps to `until`, or (PCT_NEVER) a verdict says that nothing can go on: up to which virtual time no
     * thread of the process that is not in the schedule does anything by itself. 0: one may be about to; PCT_NEVER:
     * there is none, or they all wait for threads of the schedule. lately: what was so a moment before `until` will do.
     * May be NULL. */
    uint64_t (*strangers)(uint64_t until, bool lately);
    /* How often this thread, which is outside, has gone to sleep so far, plus 1, if it now sleeps until another thread
     * of this process wakes it, and no other process can; 0: it does not, or nobody knows. Without the baton, too. May
     * be NULL: nobody knows. */
    uint64_t (*asleep)(const struct pct_thread *thread);
    /* Whether other processes may change memory that threads of this one look at. May be NULL: they may not. */
    bool (*shares)(void);
    /* Whether any thread that waits in a loop for others to write (await.h) would read something else now than it did
     * in its last round. May be NULL: never. */
    bool (*changed)(void);
    /* No thread can go on by itself: the last moment before the process waits for time or the outside, and asked again
     * while it does. May be NULL. */
    void (*rests)(void);
    /* Threads have only spun for so long that this is a livelock, this one last. True: others can go on from now on
     * that could not before, or this goes on to end it. May be NULL: there are none. */
    bool (*spun)(const struct pct_thread *thread);
    /* This thread has come back from outside, or to where it lost the baton as it spun, and goes on: without a step of
     * its own, though it stands before something else next. True: the strategy is to be asked there. May be NULL: it
     * need not be. */
    bool (*returned)(const struct pct_thread *thread);
    /* Attention was called for: do what threads without the baton have left to be done. While s->joins, that is left
     * for later, and attention called for again. May be NULL. */
    void (*told)(void);
    /* The thread that holds the lock for which this one, blocked, waits without a deadline, and which nothing but its
     * release ends; PCT_NO_THREAD: it waits for no such lock, or it is not known. May be NULL. */
    uint32_t (*holder)(const struct pct_thread *thread);
    /* The family: processes that share this one's virtual time. relatives: whether there are others; NULL: never. While
     * there are, time jumps only when none of them can run. idle: nothing in this process can run until this virtual
     * time (PCT_NEVER: ever), or until something comes. True: so much time has passed for the family; *again: else,
     * when to ask again, real. world: it waits for what is beyond the family. busy: that is over; how much virtual time
     * is to pass for what has come. caught_up: so much has passed for that; may be NULL. */
    bool (*relatives)(void);
    /* Whether all of them sleep, and none until a deadline: nothing that they do could change what a thread spins on.
     * May be NULL. */
    bool (*still)(void);
    bool (*idle)(uint64_t now, uint64_t deadline, bool world, uint64_t *again);
    uint64_t (*busy)(uint64_t now);
    /* Whether that would be much, though it was not idle: others went on while it computed. May be NULL. */
    bool (*behind)(void);
    /* Behind `busy`: returns when this process may go on, where its family goes on one at a time. False: it does not.
     * May be NULL. */
    bool (*turn)(void);
    void (*caught_up)(uint64_t by);
    /* Whether there is, or was, such a process; NULL: never. Then a thread whose real wait only the family could end
     * has no limit there: recall ends that wait when its deadline has come. False: the thread is not in it yet. */
    bool (*family)(void);
    bool (*recall)(struct pct_thread *thread);
    /* Nobody is going to hold the baton, and a timer is armed: from now on pct_sched_tend() is to be called now and
     * then. May be NULL: then it is late. */
    void (*tend)(void);
    /* When the first of its timers is due whose signal a thread may wait for without a call, in virtual time;
     * PCT_NEVER: there is none. May be NULL: likewise. */
    uint64_t (*alarm)(void);
    /* Wake who sleeps on this word. May be NULL if nothing but the scheduler's own calls changes it. */
    void (*nudge)(uint32_t *word);
    /* Put memory behind a part of the trace's mapping. False: there is no space. */
    bool (*populate)(void *at, size_t size);
    /* Where in the target's code the thread, which runs, made the call that it is in; 0: not known. Only while sites
     * are recorded, or the strategy wants places. */
    uint64_t (*site)(const struct pct_thread *thread);
    /* What struct pct_site.callers says of that call; 0: not known. Only while these are recorded. May be NULL. */
    uint16_t (*callers)(const struct pct_thread *thread);
    /* A number for such an address that is the same in all runs; 0 for 0. May be NULL: nobody knows places. */
    uint32_t (*place)(uint64_t site);
    /* The thread, which runs, is about to make this step (from 1), which is one of those whose stack is wanted. */
    void (*stack)(const struct pct_thread *thread, uint64_t step);
    /* The thread, which runs, is about to make the step at which a debugger wants to look. Only after break_step was
     * set. */
    void (*pause)(struct pct_thread *thread);
    /* An explored run asks its strategy next: what it has made so far may be kept for runs that begin so. It returns
     * again in these. May be NULL. */
    void (*point)(void);
    /* In an explored run, or a replay of one, this thread comes to a point. What it has given up behind its last one,
     * of which nobody is told, is to stand in the log; who waits for that can go on. May be NULL: there is no such
     * thing. */
    void (*arrives)(const struct pct_thread *thread);
    /* The run is over by the tool's own verdict; does not return. message: NULL or one line. */
    void (*end)(enum pct_verdict verdict, const char *message) __attribute__((noreturn));
};

#endif
