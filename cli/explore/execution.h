/* One finished run as systematic exploration sees it: events, made of the run's log and trace. An event is what a
 * thread did from the moment at which it was chosen to the next choice: one operation, and the program's own code
 * behind it. Pure functions; may be called by anybody, with memory from malloc. */
#ifndef PCT_CLI_EXECUTION_H
#define PCT_CLI_EXECUTION_H

#include <common/exploration.h>
#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How an event uses an object. What of these commutes: pct_uses_commute(). */
enum pct_use {
    PCT_USE_ANY,      /* anything: commutes with nothing */
    PCT_USE_READS,    /* memory */
    PCT_USE_TAKES,    /* a lock, alone */
    PCT_USE_GIVES,    /* it back */
    PCT_USE_BUSY,     /* tried to, and could not */
    PCT_USE_SHARES,   /* a lock, with others that share it */
    PCT_USE_PARTS,    /* gives such a share back */
    PCT_USE_DOWN,     /* a semaphore */
    PCT_USE_UP,       /* likewise */
    PCT_USE_EMPTY,    /* tried to take a semaphore down, and could not */
    PCT_USE_NOBODY,   /* a signal that woke nobody */
    PCT_USE_ARRIVES,  /* at a barrier, not as the last */
    PCT_USE_ENDS,     /* the thread that the object is */
    PCT_USE_DETACHES, /* likewise */
    PCT_USE_FREES,    /* a block of memory, behind the operation */
    PCT_USE_PASSES    /* takes a lock, and gives it back at once */
};

struct pct_touch {
    uint64_t key;    /* the object: common/exploration.h */
    uint32_t before; /* DOWN, UP, EMPTY: what the semaphore counted before; ARRIVES: how many are to arrive behind it;
                        if known */
    uint16_t more;   /* of memory: this many locations behind this one, too */
    uint8_t use;     /* enum pct_use */
    bool counted;    /* `before` is known */
};

enum { PCT_EXECUTION_SETS = 64 };
enum { PCT_EVENT_TOUCHES = 10, PCT_EVENT_CAUSES = 3 };

/* Whether an event is one more round of a loop that looks at memory and counts (PCT_LOG_AGAIN), behind those that are
 * followed in any case. */
enum pct_again { PCT_AGAIN_NOT, PCT_AGAIN_PERHAPS, PCT_AGAIN_ENDLESS };

struct pct_event { /* there are many: its members stand so that none needs padding */
    uint16_t thread;
    uint8_t op;      /* enum pct_op: what was pending when the thread was chosen */
    uint8_t wait_op; /* of DEADLINE: what the thread waits for */
    uint8_t touches; /* how many of touch[]; */
    uint8_t alone; /* of DEADLINE: of this many of them, the first, its own wait; of the others, those that may end with
                      it */
    uint8_t own; /* this many of them, the first, are its operation's: the others were used between scheduling points */
    uint8_t causes;
    bool global : 1;    /* commutes with nothing: what it uses is not known, */
    bool crashed : 1;   /* or the process ended in its middle */
    bool jumped : 1;    /* time went on before it, when nobody could run; or it ends the process, which goes last */
    bool waits : 1;     /* it could be disabled: what enables it is no race with it */
    bool timed_out : 1; /* its deadline ended its wait */
    uint8_t again : 2;  /* enum pct_again */
    uint8_t unused;
    uint16_t choices; /* how many waiters it could wake: 0 or more than 1 */
    uint16_t chosen;
    uint16_t hidden; /* how often it used what is kept for all threads between scheduling points: execution.c */
    uint32_t cause[PCT_EVENT_CAUSES]; /* the events that ended the wait before it, or made its thread */
    uint32_t late;                    /* its deadline came: pct_event_after(), pct_event_over() */
    uint32_t number;                  /* among those of its thread, from 1 */
    uint32_t place;                   /* in the code: PCT_LOG_ANNOUNCE */
    struct pct_touch touch[PCT_EVENT_TOUCHES];
};

/* Of COND_WAKE: its deadline came behind this many events; 0: another thread woke it. */
static inline uint32_t pct_event_after(const struct pct_event *event)
{
    return event->op == PCT_OP_COND_WAKE ? event->late : 0;
}

/* Of others: its deadline came behind this many events, less 1, and it no longer waits; 0: it did not. */
static inline uint32_t pct_event_over(const struct pct_event *event)
{
    return event->op == PCT_OP_COND_WAKE ? 0 : event->late;
}

/* Bytes of the event up to the last touch that it has. */
static inline size_t pct_event_size(const struct pct_event *event)
{
    return offsetof(struct pct_event, touch) + event->touches * sizeof *event->touch;
}

/* The same event, of which no more than that is there; *to has room for as much. */
static inline void pct_event_copy(struct pct_event *to, const struct pct_event *event)
{
    memcpy(to, event, pct_event_size(event));
}

/* A thread at the end of a run. */
struct pct_pending {
    bool lives, enabled;
    struct pct_event event; /* what it would have done next */
};

/* The deadline of a wait could have come, and did not: something else ended it, or time went on when nobody could run.
 */
struct pct_missed {
    /* This many events came before it could no longer come early: the last of them may be what ended the wait. */
    uint32_t at;
    struct pct_event event;
};

/* A wait whose deadline may come early, and so may be taken along by another thread's. */
struct pct_timed {
    uint64_t key; /* what it waits for; 0: nothing that others use */
    uint32_t thread;
    uint32_t began, near, over; /* the event that it began in, in which its deadline came near, and the deadline that
                                   was not earlier: its index, plus 1; 0: before all, or never */
};

struct pct_execution {
    struct pct_event *event;
    uint32_t count;
    uint32_t threads;
    struct pct_pending *pending; /* by thread */
    struct pct_missed *missed;   /* in the order of .at */
    uint32_t misses;
    struct pct_timed *timed; /* in the order of .near */
    uint32_t timeds;
    /* By event, bit i: thread i could have made it; and not only because its deadline may come early. Of the first
     * PCT_EXECUTION_SETS threads. */
    uint64_t *enabled, *ready;
    bool cut;        /* the process ended in the middle of the last event: a crash, an assertion, a bound */
    bool blocked;    /* a loop that waits for memory to change has made a round that another execution is without */
    bool again;      /* an event, or a pending one, is not PCT_AGAIN_NOT */
    bool frees;      /* an event has PCT_USE_FREES; */
    bool frees_told; /* of a program that tells of its accesses to the heap */
    bool pieces;     /* a thread has used what another one uses, too, several times between two scheduling points */
    bool outside;    /* a thread has changed what the kernel keeps, perhaps for later runs, too */
    uint32_t doubts; /* bit i: enum pct_doubt i */
    uint32_t place[PCT_DOUBT_COUNT]; /* of these, where in the code; 0: not known */
    uint32_t unknown; /* plus 1: an operation (enum pct_op) that pct explore has no row for; 0: there was none */
};

/* Make it of the log of a run and the records of its trace. ended: the process ended as it wanted to, at exit, or in a
 * deadlock. Returns 0, -ENOMEM, or -EINVAL: the two do not fit. */
int pct_execution_read(struct pct_execution *execution, const struct pct_log_entry *log, uint32_t log_count,
                       const uint64_t *records, uint64_t record_count, bool ended);

/* As if it had ended before event `cut`, where nobody else can go on: what threads were about to do is pending. Whoever
 * is woken behind that only waits for it. */
void pct_execution_cut(struct pct_execution *execution, uint32_t cut);
void pct_execution_free(struct pct_execution *execution);

#endif
