/* A recorded run as the rules of diagnosis see it: its steps, what each thread held at each of them, and what each was
 * about to do at the end. Pure; on the command's only thread. */
#ifndef PCT_CLI_HISTORY_H
#define PCT_CLI_HISTORY_H

#include "index.h"
#include <cli/trace/snapshot.h>

struct pct_unwinder;

#define PCT_NO_STEP UINT32_MAX
#define PCT_NO_HOLD UINT32_MAX

/* What an access does to its object. A post adds to a count. */
enum pct_access {
    PCT_ACCESS_NONE,
    PCT_ACCESS_READ,
    PCT_ACCESS_WRITE,
    PCT_ACCESS_UPDATE,
    PCT_ACCESS_POST,
    PCT_ACCESS_UNKNOWN
};

/* What an exchange does to a lock that is made of the word (words.h), which others may have, too, if it shares it; or
 * an update, which is a notice to who waits. */
enum pct_word { PCT_WORD_NONE, PCT_WORD_TAKES, PCT_WORD_SHARES, PCT_WORD_GIVES, PCT_WORD_FAILS, PCT_WORD_NOTICE };

/* A step; or, behind all of them, one that a thread was about to make at the end. Steps are known by their index. */
struct pct_moment {
    uint32_t thread, op, argument;
    uint32_t class_, object; /* enum pct_class, and the number; 0: none */
    uint32_t mutex;          /* of a wait on a condition variable and its end: the mutex's number; 0: not known */
    uint32_t previous, next; /* of the same thread, or PCT_NO_STEP */
    uint32_t calls;          /* steps before it that are no accesses to memory */
    uint32_t woken;          /* of a signal: the thread that it woke, or PCT_NO_THREAD */
    uint32_t cause;          /* of the end of such a wait: the signal, or PCT_NO_STEP */
    uint32_t held;           /* what its thread holds behind it: into struct pct_history.links, 0: nothing */
    uint32_t hold;           /* of a step that takes a lock: that hold, or PCT_NO_HOLD */
    uint32_t section;        /* the last step of the same thread before it that takes one, or PCT_NO_STEP */
    uint32_t begin;          /* of a section that goes on behind waits: where it was entered; else this step */
    uint32_t part;           /* of memory, where eight bytes have several variables: which; 0: not known */
    enum pct_word word;      /* of an exchange of memory */
    bool waits;              /* of such a lock: given up to wait on a condition variable made of a futex; taken back */
    bool aside;              /* of memory: of a lock's neighbours, or, without a part, where the lock is made */
    bool foreign;            /* a variable that a library has for itself, such as Rust's count of panics */
    bool unwinding;          /* its thread has begun to panic (Rust): it has failed already */
    bool awaited;            /* of memory that somebody waits for: else a word may look like a lock, and be none */
    bool pending, blocked;   /* it was not made; and could not have been */
    bool hands_over;         /* of a post: its thread has nothing of the semaphore that it could give back */
    bool had_taken;          /* likewise: it had taken from it before */
    uint64_t address;        /* of the object, 0: not known */
    uint64_t place;          /* the same in all runs for the same place in the code; 0: not known */
    uint64_t way;            /* the same with the calls that led there, as far as they are known */
    uint64_t code;           /* the same without callers: for pct_places_address() */
};

/* A lock that a thread had from one step to another: a critical section. A wait on a condition variable ends it. */
struct pct_hold {
    uint32_t thread, class_, object;
    uint32_t taken, released; /* steps; PCT_NO_STEP: never */
    uint32_t depth;           /* while it is followed: of a recursive lock */
    bool shared;              /* for reading */
};

struct pct_held {
    uint32_t hold, next; /* next: as struct pct_moment.held */
};

struct pct_history {
    const struct pct_trace *trace;
    struct pct_snapshot snapshot;
    struct pct_unwinder *unwinder; /* NULL: there are no names */
    struct pct_moment *steps;
    uint32_t count, all; /* steps that were made, and these with the pending ones */
    uint32_t calls;      /* of `count`, those that are no accesses to memory */
    struct pct_hold *holds;
    uint32_t hold_count, hold_room;
    struct pct_held *links; /* from 1 */
    uint32_t link_count, link_room;
    uint32_t threads; /* ids are below this */
    uint32_t *last;   /* by thread: its last step, a pending one included, or PCT_NO_STEP */
    uint32_t failed;  /* the step by which a thread begins to panic (Rust), of which the run failed; or `count` */
    struct pct_index index;
    bool sure;   /* who held what is known throughout */
    bool places; /* where the steps were made is known */
    /* A lock that a child process waits for, for ever, and that none of its threads has ever had. */
    unsigned inherited_class;
    uint64_t inherited; /* its address; 0: there is none */
};

/* Longer runs are not looked at. */
#define PCT_HISTORY_MOST 2000000u

/* The trace must stay. Returns 0; -ENOMEM; -E2BIG: the run is too long; -ENODATA: its first steps are not there. */
int pct_history_open(struct pct_history *history, const struct pct_trace *trace);
void pct_history_close(struct pct_history *history);

/* This is what a child process of the run left that ended in a deadlock. */
void pct_history_add_child(struct pct_history *history, const struct pct_trace *child);

/* The hold of this object that the step's thread has behind the step, or NULL. */
const struct pct_hold *pct_history_holds(const struct pct_history *history, uint32_t step, unsigned class_,
                                         uint32_t object);

/* A hold of this object by a thread other than `but` at the moment of this step; not one for reading, unless `shared`.
 * NULL: there is none. */
const struct pct_hold *pct_history_holder(const struct pct_history *history, uint32_t step, unsigned class_,
                                          uint32_t object, uint32_t but, bool shared);

/* The hold that its thread ends by this step; NULL: none. */
const struct pct_hold *pct_history_ended(const struct pct_history *history, uint32_t step);

/* Whether the thread gave this lock up by a wait for a condition, or to wait for one. */
bool pct_hold_ends_in_wait(const struct pct_history *history, const struct pct_hold *hold);

/* Whether the two are on the same object of this run. */
bool pct_moment_same_object(const struct pct_moment *a, const struct pct_moment *b);

/* What the step does to its object, seen as data; a section stands for what is done in it, which nobody knows. */
enum pct_access pct_moment_access(const struct pct_moment *moment);

/* The same, but none where a library sees to its own variable: that is nothing the program's threads do to each other,
 * and does not stand between two steps that belong together. */
enum pct_access pct_moment_own_access(const struct pct_moment *moment);

/* Whether two such accesses by different threads depend on their order: two that read, or add to a count, do not. */
bool pct_access_conflict(enum pct_access a, enum pct_access b);

/* Whether the operation takes or, on another object, waits for a lock; and whether it failed. */
bool pct_moment_locks(const struct pct_moment *moment);
bool pct_moment_failed(const struct pct_moment *moment);

#endif
