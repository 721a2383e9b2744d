/* What runs of the strategy `pct` are worth, by theorem 9 of Burckhardt et al., "A Randomized Scheduler with
 * Probabilistic Guarantees of Finding Bugs", ASPLOS 2010. Arithmetic, without input or output; guarantee_report.c
 * decides whether the theorem applies, and says it in words. docs/GUARANTEE.md has the derivations. */
#ifndef PCT_CLI_GUARANTEE_H
#define PCT_CLI_GUARANTEE_H

#include <stdint.h>

/* One spin in this many costs a thread its priority, unless the strategy has a parameter that says otherwise
 * (strategies/pct.c). */
#define PCT_GUARANTEE_SPIN_INVERSE 16

/* What a run was, or may have been at worst. */
struct pct_guarantee_run {
    uint32_t threads;       /* n */
    uint64_t k;             /* over which its change points were drawn */
    uint32_t depth;         /* it had depth-1 of them; 0: drawn for the run (strategies/depth_param.h) */
    uint64_t spins;         /* steps that may have cost a thread its priority by chance: */
    uint64_t spin_inverse;  /* one in this many does, 0: none */
    uint32_t end_inverse;   /* one run in this many has no final wait, by its seed; 0: nothing is held up by one */
    uint32_t slack_inverse; /* one run in this many has the slack that the bug needs, by its seed; 0: all have */
};

/* A lower bound of the probability that such a run finds a bug of depth `bug` (at least 1); 0 if the theorem says
 * nothing. */
double pct_guarantee_hit(const struct pct_guarantee_run *run, uint32_t bug);

/* The runs that a campaign has done: those with the same depth and k together. */
enum { PCT_GUARANTEE_GROUPS = 80 };
struct pct_guarantee {
    struct pct_guarantee_group {
        uint32_t depth;
        uint64_t k, runs;
    } group[PCT_GUARANTEE_GROUPS];
    uint32_t groups;
    uint64_t added;   /* runs, with those that found no group */
    uint32_t threads; /* the most of any run: what the theorem's n, k and the spins are taken to be */
    uint64_t steps;
    uint64_t spins;
    uint64_t spin_inverse; /* of all of them */
    uint32_t end_inverse;
    uint32_t slack_inverse;
};

/* Take note of the threads, steps and spins of a run that is not one of these, but of the same program. */
void pct_guarantee_see(struct pct_guarantee *g, const struct pct_guarantee_run *run, uint64_t steps);

/* Add a run that drew its change points over k and took this many threads, steps and spins. */
void pct_guarantee_add(struct pct_guarantee *g, const struct pct_guarantee_run *run, uint64_t steps);

/* How many of the runs the theorem counts: those whose k was not below the steps of the longest run, and those without
 * change points. */
uint64_t pct_guarantee_counted(const struct pct_guarantee *g);

/* The least k of the runs that the theorem counts and that have change points: of a longer schedule nothing is sure. 0:
 * there are none. */
uint64_t pct_guarantee_least_k(const struct pct_guarantee *g);

/* The natural logarithm of an upper bound of the probability that all of these runs missed a bug of depth `bug`; 0:
 * nothing is known. */
double pct_guarantee_log_miss(const struct pct_guarantee *g, uint32_t bug);

/* How many more runs like `run` make it at most 1 - confidence; UINT64_MAX if no number of runs does. */
uint64_t pct_guarantee_missing(const struct pct_guarantee *g, const struct pct_guarantee_run *run, uint32_t bug,
                               double confidence);

#endif
