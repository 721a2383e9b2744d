/* Optimal dynamic partial-order reduction with wakeup trees (Abdulla, Aronis, Jonsson, Sagonas: Source Sets, JACM 2017,
 * section 7): which runs are to be made so that of all schedules that differ only in the order of events that commute,
 * one is. Knows nothing of processes: it says what the next run's first steps are, and is given the run. Memory from
 * malloc; one thread.
 *
 *     pct_search_new()
 *     while (pct_search_next(search, &plan, &count))   make a run that begins so
 *         pct_search_take(search, &execution)
 *     pct_search_free(search) */
#ifndef PCT_CLI_SEARCH_H
#define PCT_CLI_SEARCH_H

#include "rank.h"

struct pct_search;

/* What is known so far. */
struct pct_search_facts {
    uint64_t runs;
    uint64_t classes;   /* runs that were neither redundant nor blocked */
    uint64_t redundant; /* runs that turned out to be like earlier ones */
    uint64_t foreign;   /* of these, of a shard: those that divided the schedules, or came to other shards' */
    uint64_t awaited;   /* blocked runs: a loop that waits has made a round without progress: they are of no class */
    uint64_t unplanned; /* events that could not be made where the plan named them: the table of dependence was not
                           exact there; or that went over other memory than was planned (strlen() and its like) */
    uint64_t begun;     /* runs before the search began again, of which nothing else is counted */
    uint64_t moved;     /* events that used other objects than they were seen to use in another run: */
    uint32_t moved_at;  /* the first, here in the code (pct_event.place) */
    bool strayed;       /* some of these were another operation: what its thread did follows from more than is known */
    uint64_t open;      /* branches that are known and were not tried yet */
    uint64_t untried;   /* and those that never will be: one more round of a loop of tries in vain, */
    uint32_t loop;      /* which is here in the code (pct_event.place) */
    uint64_t below;     /* with a bound: all schedules with fewer preemptions than this have been made */
    uint32_t depth;     /* the most events of a run */
    uint32_t doubts;    /* of all runs: bit i: enum pct_doubt i */
    uint32_t place[PCT_DOUBT_COUNT]; /* of these, where in the code; 0: not known */
    uint32_t unknown;                /* plus 1: an operation without a row in the table */
    bool unrepeatable; /* a run did not begin as an earlier one with the same choices: nothing more can be said */
    bool no_memory;    /* there was none for the search: nothing more can be said */
    bool cut;          /* a run was cut off by a bound */
    bool early;        /* a run had deadlines that may come early: what comes of one that is tried in another place is
                          not always foreseen, and what a redundant run was to cover may be missed then */
    bool uneven;       /* what events use differs among runs, and this part does not begin again */
    bool undivided;    /* a shard's runs have shown what cannot be divided: deadlines, or too many threads */
    uint32_t parts;    /* of all shards together; 0: it is none */
    uint64_t division; /* a hash of these, the same in all shards */
    struct pct_tuple tuple; /* with a bound: of the last run */
};

/* Add what a run, or all of some, did that speaks against "verified". */
static inline void pct_facts_doubt(struct pct_search_facts *facts, uint32_t doubts, const uint32_t *place)
{
    facts->doubts |= doubts;
    for (unsigned i = 0; i < PCT_DOUBT_COUNT; i++)
        facts->place[i] = facts->place[i] ? facts->place[i] : place[i];
}

/* In which order schedules with a bound are tried; without one it makes no difference. */
enum pct_search_order {
    PCT_SEARCH_CHESS, /* by preemptions */
    PCT_SEARCH_RANK   /* by RankChecker's tuples: rank.h */
};

/* NULL: no memory. bound: make those schedules that have at most this many preemptions (bounded.h), from 0 up to
 * PCT_BOUND_MAX; PCT_UNBOUNDED: one of each class. */
enum { PCT_UNBOUNDED = -1, PCT_BOUND_MAX = 100 };
struct pct_search *pct_search_new(int bound, enum pct_search_order order);
void pct_search_free(struct pct_search *search);

/* A part of a search: what begins with these events, but for runs that could as well begin with one that is held behind
 * them. Whoever is held cannot go on before another thread has done something that does not commute with what it is
 * about to do: so to the search a part is a program of its own, whose operations commute as the whole one's do, and it
 * meets each of its classes once. */
struct pct_part {
    struct pct_event *event; /* as they were made */
    uint32_t count;
    struct pct_event *held; /* what these would do; at most one of each thread */
    uint32_t held_count;
};

/* Search it alone. The part is copied. NULL: no memory. */
struct pct_search *pct_search_new_part(const struct pct_part *part);

/* Search what shard number `shard` of `of` shards has to, from 1: divided.h. parts: into about this many all is
 * divided, since they differ in size, if that can be done in few runs; the same in all shards. NULL: no memory. */
enum { PCT_SHARDS_MAX = 100, PCT_SHARD_PARTS = 8 /* for each shard */ };
struct pct_search *pct_search_new_shard(unsigned shard, unsigned of, unsigned parts);

/* What the next run is to begin with: PCT_PLAN() of <pct/strategy.h>. Valid until pct_search_take(). False: all are
 * made, or nothing more can be said. */
bool pct_search_next(struct pct_search *search, const uint32_t **plan, uint32_t *count);

/* What another run is going to begin with, whatever comes of the one that is asked for: for those who make several at a
 * time. Each is named once; its run is to be kept until pct_search_next() asks for it. To be called between
 * pct_search_next() and pct_search_take(). Valid until the next call. False: there is none now. */
bool pct_search_ahead(struct pct_search *search, const uint32_t **plan, uint32_t *count);

/* The run that was asked for. Takes the execution over, in any case. Returns 0 or -ENOMEM. class_: if not NULL, the
 * hash of its class. */
int pct_search_take(struct pct_search *search, struct pct_execution *execution, uint64_t *class_);

const struct pct_search_facts *pct_search_facts(const struct pct_search *search);

#endif
