/* Deadlocks by cycles of locks, predicted and forced, where the strategy was left to pct: the drawn ones of the first
 * PCT_CYCLES_LEARN runs are looked at for cycles of locks (cli/trace/lock_cycles.h); where there are some, a few runs
 * have schedules of the strategy `order` in which each thread of a cycle holds its first lock before any asks for its
 * second. These are at most half of the runs up to there, and then at most one in three, PCT_CYCLES_MOST in all.
 *
 * A cycle that no run could force is no finding, and nothing is said of it. Their tokens are of the strategy `order`;
 * they do not count for the guarantee, and teach nothing of k. */
#ifndef PCT_CLI_CYCLES_H
#define PCT_CLI_CYCLES_H

#include "engine.h"

enum { PCT_CYCLES_LEARN = 16, PCT_CYCLES_MOST = 24 };

struct pct_campaign;

struct pct_cycles {
    bool may;                      /* nobody has said what runs are to be */
    bool decided;                  /* the runs before the first of this process are known */
    size_t known, planned;         /* lists, and those that have a run */
    char *list[PCT_CYCLES_MOST];   /* these */
    uint64_t run[PCT_CYCLES_MOST]; /* of a planned one: its number */
};

/* Before the run of this number, when all before it were looked at and nothing is under way: plan which ones from now
 * on force cycles, if it is time. Where a campaign is resumed early, the runs that have shown cycles are made again.
 * Returns 0, or an exit status after a message. */
int pct_cycles_decide(struct pct_campaign *c, uint64_t next);

/* The run of this number, which *spec says, becomes the one that it was planned as, if it was, and lists still decide
 * all. */
void pct_cycles_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec);

/* Whether the run of this number, which was begun, is one of them. */
bool pct_cycles_has(const struct pct_campaign *c, uint64_t index);

/* The run of this number was looked at, in its order. Returns 0, or an exit status after a message. */
int pct_cycles_take(struct pct_campaign *c, uint64_t index, const struct pct_result *result);

void pct_cycles_free(struct pct_cycles *cycles);

#endif
