/* The systematic part of a campaign, where the strategy was left to pct and the program has few schedules: from run
 * PCT_SYSTEMATIC_FROM on, one run in PCT_SYSTEMATIC_EACH is a schedule with no, one or two preemptions at points where
 * threads conflict (preemptions.h), in this order, until all were made. Those with one preemption more are begun only
 * if all that are likely to be fit into PCT_SYSTEMATIC_MOST runs: a number, and no share of the campaign's runs, so
 * that what a run is does not depend on how many follow it, and a campaign may go on with more. The other runs are
 * drawn from their seeds, so a bug that these find takes at most half as many runs more.
 *
 * Their tokens are of the strategy `schedule`; they do not count for the guarantee, and teach nothing of k. */
#ifndef PCT_CLI_SYSTEMATIC_H
#define PCT_CLI_SYSTEMATIC_H

#include "engine.h"

enum { PCT_SYSTEMATIC_FROM = 16, PCT_SYSTEMATIC_EACH = 3, PCT_SYSTEMATIC_MOST = 200 };

struct pct_campaign;
struct pct_preemptions;

struct pct_systematic {
    bool may;          /* nobody has said what runs are to be */
    uint64_t most;     /* this many runs may it take; 0: there is none */
    bool quiet;        /* what it was is not said */
    bool decided;      /* whether there is one; */
    bool on;           /* and it goes on */
    bool blind;        /* in some of its runs, not all was the schedule's */
    bool open;         /* or there are orders of their steps that are not made */
    uint64_t from, to; /* the number of its first run, and of the first one behind it */
    uint64_t runs;     /* that were looked at */
    uint64_t below;    /* at its end: all schedules with fewer preemptions were made; 0: not even those without */
    struct pct_preemptions *schedules;
};

/* Whether the same schedule is the same run again, and no other shard of the campaign has it: what a schedule does not
 * decide would differ from run to run, and places in the code that are points in some runs only are no schedule's. */
bool pct_systematic_can_repeat(const struct pct_campaign *c);

/* Before the run of this number, when nothing is under way: begin it, if it is time. Where a campaign is resumed in the
 * middle of it, or behind, its runs so far are made again. Returns 0, or an exit status after a message. */
int pct_systematic_decide(struct pct_campaign *c, uint64_t next);

/* The run of this number, which *spec says, may be one of them: then it becomes so. Returns PCT_RUNS_ON;
 * PCT_RUNS_WAIT: another run is to be looked at before. */
int pct_systematic_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec);

/* Whether the run of this number, which was begun, is one of them. */
bool pct_systematic_has(const struct pct_campaign *c, uint64_t index);

/* One of them, the run of this number, was looked at, in its order. Returns 0, or an exit status after a message. */
int pct_systematic_take(struct pct_campaign *c, uint64_t index, const struct pct_result *result);

void pct_systematic_free(struct pct_systematic *systematic);

#endif
