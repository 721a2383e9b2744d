/* The ways of a script for --all=dpor: as ways.h, by depth, but of those whose turns (the choices of an `interleave`)
 * lead to schedules that differ only in the order of steps that commute, one. All other choices go each way.
 *
 * A turn is one step here: what the chosen thread does until the next turn, and the wait in which it ends, if it does.
 * Two of them commute if all their events do (cli/explore/dependence.h), as if nothing were known of their results.
 * By that, Flanagan and Godefroid's dynamic partial-order reduction (POPL 2005), with sleep sets: behind each run,
 * where one turn could have come before an earlier one that it does not commute with, its thread is tried there, or, if
 * it could not go on there, or sleeps there and others have to come before it, all that could. Threads that no line
 * names go on where the chosen one is blocked, or spins: so such a turn does not commute with one that may have changed
 * which of them can. Between the first turn of an interleave and its end the script looks at nothing, so it is where it
 * was, whatever their order. */
#ifndef PCT_CLI_SCRIPT_DPOR_H
#define PCT_CLI_SCRIPT_DPOR_H

#include <common/script.h>

struct pct_dpor;

/* NULL: no memory. */
struct pct_dpor *pct_dpor_new(void);
void pct_dpor_free(struct pct_dpor *dpor);

/* A way: the choices of the stack up to one, which goes another way. Two of them are the same if all is the same. */
struct pct_dpor_way {
    uint64_t node;  /* which choice that is; */
    uint32_t count; /* its place, from 1; 0: nothing is planned */
    uint32_t chosen;
    uint64_t avoid; /* in later turns the run is to avoid these threads, as bits */
};

/* The next way. False: there is none. Between this and pct_dpor_add() the ways below are not changed. */
bool pct_dpor_next(struct pct_dpor *dpor, struct pct_dpor_way *way);

/* Its choices, way->count of them, if it is the next one or still to come. */
void pct_dpor_plan(const struct pct_dpor *dpor, const struct pct_dpor_way *way,
                   struct pct_script_choice plan[PCT_SCRIPT_CHOICES]);

/* Ways that will be next sometime if no run adds anything that comes before them, the nearest first: at most `most`.
 * Returns how many. */
uint32_t pct_dpor_guess(const struct pct_dpor *dpor, struct pct_dpor_way way[], uint32_t most);

/* Whether this one, which was guessed, may still come. */
bool pct_dpor_may_come(const struct pct_dpor *dpor, const struct pct_dpor_way *way);

/* The run that went so: its channel, with its log, and the records of its trace. ended: the process ended as it wanted
 * to, or in a deadlock. Returns 0; -EINVAL: it did not keep to the way, or log and records do not fit; -ENOMEM. */
int pct_dpor_add(struct pct_dpor *dpor, struct pct_script_channel *channel, const uint64_t *records,
                 uint64_t record_count, bool ended);

struct pct_dpor_facts {
    uint64_t redundant; /* runs that turned out to be like earlier ones */
    uint32_t doubts;    /* of all runs: bit i: enum pct_doubt i */
    uint32_t unknown;   /* plus 1: an operation of which nothing is known; 0: there was none */
    bool pieces;        /* PCT_ASSUMES_PIECES */
    bool loops;         /* threads waited in loops for memory where no turn says when they look again */
};

const struct pct_dpor_facts *pct_dpor_facts(const struct pct_dpor *dpor);

#endif
