/* The steps of a trace, one after the other, with what they mean: why a thread was left after its step, and which
 * earlier step of another thread it had to wait for. Called by the report's schedule and by the exports of `pct trace`.
 *
 * A trace holds what was done, not why a thread stopped. The reason of a switch is worked out: the thread's next
 * operation could not have completed at that moment (its mutex was held, the thread that it joins had not finished), so
 * it was blocked; or it could, so it was preempted. For that, locks are followed from the first step on. A semaphore's
 * count is not in the trace, so of a thread before `sem wait` only that is said. Where only the last steps were
 * recorded, locks taken before them are not known, and a thread that was blocked on one counts as preempted. */
#ifndef PCT_CLI_EVENTS_H
#define PCT_CLI_EVENTS_H

#include "snapshot.h"

/* Why a thread was left. X(identifier, text). */
#define PCT_REASONS(X)                                                                                                 \
    X(NONE, "") /* it was not left, or nobody knows why */                                                             \
    X(PREEMPTED, "preempted")                                                                                          \
    X(BLOCKED, "blocked")                                                                                              \
    X(FINISHED, "finished")                                                                                            \
    X(WAITS, "waits")                                                                                                  \
    X(SLEEPS, "sleeps")                                                                                                \
    X(YIELDS, "yields")                                                                                                \
    X(SPINS, "spins")                                                                                                  \
    X(CALL, "sleeps in a call")                                                                                        \
    X(LONG, "runs too long")                                                                                           \
    X(OUTSIDE, "outside")                                                                                              \
    X(EXIT, "waits to exit")                                                                                           \
    X(SEM, "before sem wait")                                                                                          \
    X(IO, "before I/O")

enum pct_reason {
#define PCT_REASON_ENUM(id, text) PCT_REASON_##id,
    PCT_REASONS(PCT_REASON_ENUM)
#undef PCT_REASON_ENUM
        PCT_REASON_COUNT
};

const char *pct_reason_text(enum pct_reason reason);

/* How a step depends on an earlier one of another thread. X(identifier, text). */
#define PCT_LINKS(X)                                                                                                   \
    X(NONE, "")                                                                                                        \
    X(RELEASE, "unlock to lock") /* also from a condition wait, which gives the mutex up */                            \
    X(WAKE, "signal to wake")                                                                                          \
    X(POST, "post to wait")                                                                                            \
    X(CREATE, "create to start")                                                                                       \
    X(FINISH, "finish to join")                                                                                        \
    X(ARRIVE, "arrive to leave") /* of a barrier, from the last to arrive */                                           \
    X(ONCE, "done to once")                                                                                            \
    X(SEND, "send to handler")

enum pct_link {
#define PCT_LINK_ENUM(id, text) PCT_LINK_##id,
    PCT_LINKS(PCT_LINK_ENUM)
#undef PCT_LINK_ENUM
        PCT_LINK_COUNT
};

const char *pct_link_text(enum pct_link link);

struct pct_event {
    uint64_t step;   /* its number in the run, from 1 */
    uint64_t index;  /* of its record in the trace, from 0 */
    uint64_t record; /* PCT_RECORD_*() */
    uint32_t thread;
    uint32_t next; /* the thread of the next recorded step; the same as thread: it went on, or the trace ends */
    enum pct_reason reason; /* if next is another thread */
    enum pct_link link;     /* if not NONE: */
    uint64_t from;          /* the number of the step that this one had to wait for */
    uint32_t from_thread;
    uint32_t waiters; /* of a signal of a condition variable: how many waited for it */
    uint32_t woken;   /* and the thread that it woke; PCT_NO_THREAD: none, or that is not known for sure */
};

/* An operation that a thread has not made yet at some point of the trace. */
struct pct_pending {
    bool known;
    bool blocked;        /* it cannot complete */
    unsigned op, class_; /* class_: of what it waits for: of the mutex, where a wait has been signalled */
    uint32_t object;
    uint32_t holder; /* of what it waits for; PCT_NO_THREAD if nobody, or not known */
};

struct pct_events;

/* The snapshot tells what the threads were about to do at the end; it may be empty. Both must stay. NULL: out of
 * memory. */
struct pct_events *pct_events_open(const struct pct_trace *trace, const struct pct_snapshot *snapshot);
void pct_events_close(struct pct_events *events);

/* The next step. False at the end of the trace. */
bool pct_events_next(struct pct_events *events, struct pct_event *event);

/* What a thread does after the step that pct_events_next() gave last. */
struct pct_pending pct_events_pending(const struct pct_events *events, uint32_t thread);

/* The thread that holds this object for writing after that step, PCT_NO_THREAD if none does or that is not known. */
uint32_t pct_events_holder(const struct pct_events *events, uint32_t object);

/* Threads of this number or a greater one do not occur up to that step. */
uint32_t pct_events_threads(const struct pct_events *events);

/* Whether the thread has been seen up to that step: it was created, or made one. */
bool pct_events_seen(const struct pct_events *events, uint32_t thread);

/* The same, and it has not finished. */
bool pct_events_lives(const struct pct_events *events, uint32_t thread);

#endif
