/* The arithmetic of theorem 9: see guarantee.h. All in logarithms, because a run finds a deep bug with a probability
 * that 1 - p would round away. */
#include "guarantee.h"
#include <strategies/depth_param.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* n choose k. */
static double choose(uint32_t n, uint32_t k)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0));
}

/* The run has depth-1 change points and the bug needs bug-1 of them, in order. Any bug-1 of them may be those, each at
 * its one step in k, while the others do no harm if they fall on the last step of the run, also one in k: this many
 * ways. They are disjoint unless the bug's last point belongs on that last step itself. There it changes nothing, so
 * that bug-2 points do, with the rest on the last step. Which of the two it is may hang on the first priorities: the
 * fewer ways are sure. For bug = depth this is the theorem. */
static double ways(uint32_t depth, uint32_t bug)
{
    double strict = choose(depth - 1, bug - 1);
    return bug > 1 ? fmin(strict, choose(depth - 1, bug - 2)) : strict;
}

/* And none of the spins may have moved a thread. */
static double hit(const struct pct_guarantee_run *run, uint32_t depth, uint32_t bug)
{
    if (bug > depth)
        return 0;
    double log_kept = run->spins && run->spin_inverse ? (double)run->spins * log1p(-1 / (double)run->spin_inverse) : 0;
    double log_hit = log_kept - log(run->threads) - (depth - 1.0) * log((double)run->k);
    return fmin(1, ways(depth, bug) * exp(log_hit));
}

/* A depth that is drawn does not depend on what else is: the probability is that of the mixture. Nor does whether there
 * is a final wait, which the theorem does not know: only the runs without count. Likewise the slack of deadlines. */
double pct_guarantee_hit(const struct pct_guarantee_run *run, uint32_t bug)
{
    if (!bug || !run->threads || !run->k || (run->depth && bug > run->depth))
        return 0;
    if (run->threads == 1)
        return 1; /* there is one schedule */
    double share = (run->end_inverse ? 1.0 / run->end_inverse : 1) / (run->slack_inverse ? run->slack_inverse : 1);
    if (run->depth)
        return share * hit(run, run->depth, bug);
    double sum = 0;
    for (uint32_t i = 0; i < PCT_DRAWN_DEPTHS; i++)
        sum += hit(run, pct_drawn_depths[i], bug) / PCT_DRAWN_DEPTHS;
    return share * sum;
}

void pct_guarantee_see(struct pct_guarantee *g, const struct pct_guarantee_run *run, uint64_t steps)
{
    if (run->threads > g->threads)
        g->threads = run->threads;
    if (steps > g->steps)
        g->steps = steps;
    if (run->spins > g->spins)
        g->spins = run->spins;
    g->spin_inverse = run->spin_inverse;
    if (run->end_inverse > g->end_inverse)
        g->end_inverse = run->end_inverse;
    if (run->slack_inverse > g->slack_inverse)
        g->slack_inverse = run->slack_inverse;
}

void pct_guarantee_add(struct pct_guarantee *g, const struct pct_guarantee_run *run, uint64_t steps)
{
    pct_guarantee_see(g, run, steps);
    g->added++;
    /* Nearly always the last one; not in merged campaigns. */
    for (uint32_t i = g->groups; i--;)
        if (g->group[i].depth == run->depth && g->group[i].k == run->k) {
            g->group[i].runs++;
            return;
        }
    if (g->groups < PCT_GUARANTEE_GROUPS) /* one that finds no place counts for nothing */
        g->group[g->groups++] = (struct pct_guarantee_group){ .depth = run->depth, .k = run->k, .runs = 1 };
}

static bool counts(const struct pct_guarantee *g, const struct pct_guarantee_group *group)
{
    return group->depth == 1 || group->k >= g->steps;
}

uint64_t pct_guarantee_counted(const struct pct_guarantee *g)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < g->groups; i++)
        if (counts(g, &g->group[i]))
            runs += g->group[i].runs;
    return runs;
}

uint64_t pct_guarantee_least_k(const struct pct_guarantee *g)
{
    uint64_t least = 0;
    for (uint32_t i = 0; i < g->groups; i++)
        if (g->group[i].depth != 1 && counts(g, &g->group[i]) && (!least || g->group[i].k < least))
            least = g->group[i].k;
    return least;
}

double pct_guarantee_log_miss(const struct pct_guarantee *g, uint32_t bug)
{
    double log_miss = 0;
    for (uint32_t i = 0; i < g->groups; i++) {
        const struct pct_guarantee_group *group = &g->group[i];
        struct pct_guarantee_run worst = { .threads = g->threads,
                                           .k = group->k,
                                           .depth = group->depth,
                                           .spins = g->spins,
                                           .spin_inverse = g->spin_inverse,
                                           .end_inverse = g->end_inverse,
                                           .slack_inverse = g->slack_inverse };
        if (counts(g, group))
            log_miss += (double)group->runs * log1p(-pct_guarantee_hit(&worst, bug));
    }
    return log_miss;
}

uint64_t pct_guarantee_missing(const struct pct_guarantee *g, const struct pct_guarantee_run *run, uint32_t bug,
                               double confidence)
{
    double left = log1p(-confidence) - pct_guarantee_log_miss(g, bug);
    if (left >= 0)
        return 0;
    bool too_short = run->depth != 1 && run->k < g->steps;
    double hit = too_short ? 0 : pct_guarantee_hit(run, bug);
    if (!(hit > 0))
        return UINT64_MAX;
    if (hit == 1)
        return 1;
    double runs = ceil(left / log1p(-hit));
    return runs < 1e18 ? (uint64_t)runs : UINT64_MAX;
}
