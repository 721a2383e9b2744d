/* Strategies for the tests: all choices made explicitly, so that every run of a small program can be enumerated.
 *
 *     figure7    the procedure of figure 7 of Burckhardt et al., ASPLOS 2010, as it stands there: asked at every step,
 *                with the random variables pi and k_1 .. k_(d-1) given by the test
 *     walk       at every step the test's choice among the enabled threads. walk_next() goes to the next of all runs,
 *                and each run has the probability that a uniform random walk would take it */
#ifndef PCT_TESTS_SCRIPTED_H
#define PCT_TESTS_SCRIPTED_H

#include "simhost.h"
#include <string.h>

enum { SCRIPTED_CHANGES = 8, SCRIPTED_STEPS = 4096 };

/* --- Common to both: which threads are enabled -------------------------------------------------------------------- */

static uint32_t scripted_enabled; /* bit t: thread t */

static inline uint32_t scripted_state_size(const struct pct_run *run)
{
    (void)run;
    return 64;
}

static inline void scripted_enable(void *state, uint32_t thread)
{
    (void)state;
    sim_check(!(scripted_enabled >> thread & 1), "a thread is enabled twice");
    scripted_enabled |= UINT32_C(1) << thread;
}

static inline void scripted_disable(void *state, uint32_t thread)
{
    (void)state;
    sim_check(scripted_enabled >> thread & 1, "a thread is disabled twice");
    scripted_enabled &= ~(UINT32_C(1) << thread);
}

/* --- figure7 ------------------------------------------------------------------------------------------------------ */

static struct {
    uint32_t n, d;
    uint32_t pi[SIM_THREADS];     /* pi[t] in 1 .. n */
    uint64_t k[SCRIPTED_CHANGES]; /* k[i] for i in 1 .. d-1 */
    uint32_t p[SIM_THREADS];
} figure7;

static inline int figure7_start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    (void)run;
    (void)why;
    scripted_enabled = 0;
    for (uint32_t t = 0; t < figure7.n; t++) /* lines 5 to 7 */
        figure7.p[t] = figure7.d + figure7.pi[t] - 1;
    return 0;
}

static inline struct pct_choice figure7_pick(void *state, const struct pct_point *point)
{
    (void)state;
    sim_check(point->ran <= 1, "two steps without a pick between them");
    if (point->ran)
        for (uint32_t i = 1; i < figure7.d; i++) /* lines 12 to 16 */
            if (point->step == figure7.k[i])
                figure7.p[point->current] = figure7.d - i;
    uint32_t best = PCT_NO_THREAD;
    for (uint32_t t = 0; t < figure7.n; t++) /* line 10 */
        if (scripted_enabled >> t & 1 && (best == PCT_NO_THREAD || figure7.p[t] > figure7.p[best]))
            best = t;
    return (struct pct_choice){ .thread = best, .budget = 1 };
}

static const struct pct_strategy figure7_strategy = { .abi = PCT_STRATEGY_ABI,
                                                      .name = "figure7",
                                                      .state_size = scripted_state_size,
                                                      .start = figure7_start,
                                                      .enable = scripted_enable,
                                                      .disable = scripted_disable,
                                                      .pick = figure7_pick };

/* The next permutation of pi, in the order of dictionaries; false after the last. */
static inline bool figure7_next_permutation(void)
{
    uint32_t *pi = figure7.pi, n = figure7.n, i = n - 1, j = n - 1;
    while (i && pi[i - 1] > pi[i])
        i--;
    if (!i)
        return false;
    while (pi[j] < pi[i - 1])
        j--;
    uint32_t swap = pi[i - 1];
    pi[i - 1] = pi[j];
    pi[j] = swap;
    for (j = n - 1; i < j; i++, j--) {
        swap = pi[i];
        pi[i] = pi[j];
        pi[j] = swap;
    }
    return true;
}

/* The next values of k_1 .. k_(d-1) in 1 .. k; false after the last. */
static inline bool figure7_next_changes(uint64_t k)
{
    for (uint32_t i = 1; i < figure7.d; i++) {
        if (++figure7.k[i] <= k)
            return true;
        figure7.k[i] = 1;
    }
    return false;
}

/* The first of all valuations. */
static inline void figure7_first(uint32_t n, uint32_t d)
{
    figure7.n = n;
    figure7.d = d;
    for (uint32_t t = 0; t < n; t++)
        figure7.pi[t] = t + 1;
    for (uint32_t i = 1; i < d; i++)
        figure7.k[i] = 1;
}

/* --- walk --------------------------------------------------------------------------------------------------------- */

static struct {
    uint32_t length, at;
    uint8_t choice[SCRIPTED_STEPS], width[SCRIPTED_STEPS];
} walk;

static inline int walk_start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    (void)run;
    (void)why;
    scripted_enabled = 0;
    walk.at = 0;
    return 0;
}

static inline uint32_t walk_choose_among(uint32_t width)
{
    if (walk.at == SCRIPTED_STEPS) {
        sim_check(false, "the run is too long for a scripted walk");
        return 0;
    }
    if (walk.at == walk.length) {
        walk.choice[walk.at] = 0;
        walk.length++;
    }
    walk.width[walk.at] = (uint8_t)width;
    return walk.choice[walk.at++];
}

static inline struct pct_choice walk_pick(void *state, const struct pct_point *point)
{
    (void)state;
    uint32_t left = scripted_enabled;
    sim_check(point->enabled == (uint32_t)__builtin_popcount(left), "pct_point.enabled is wrong");
    for (uint32_t i = walk_choose_among(point->enabled); i; i--)
        left &= left - 1;
    return (struct pct_choice){ .thread = (uint32_t)__builtin_ctz(left), .budget = 1 };
}

static inline uint32_t walk_choose(void *state, uint32_t waiters, uint64_t step)
{
    (void)state;
    (void)step;
    return walk_choose_among(waiters);
}

static const struct pct_strategy walk_strategy = { .abi = PCT_STRATEGY_ABI,
                                                   .name = "walk",
                                                   .state_size = scripted_state_size,
                                                   .start = walk_start,
                                                   .enable = scripted_enable,
                                                   .disable = scripted_disable,
                                                   .pick = walk_pick,
                                                   .choose = walk_choose };

/* Begin with the run that always takes the first. */
static inline void walk_first(void)
{
    walk.length = 0;
}

/* After a run: go to the next one; false if that was the last of all. */
static inline bool walk_next(void)
{
    walk.length = walk.at;
    while (walk.length && walk.choice[walk.length - 1] + 1 == walk.width[walk.length - 1])
        walk.length--;
    if (!walk.length)
        return false;
    walk.choice[walk.length - 1]++;
    return true;
}

/* After a run: with which probability a uniform random walk takes it. */
static inline double walk_probability(void)
{
    double probability = 1;
    for (uint32_t i = 0; i < walk.at; i++)
        probability /= walk.width[i];
    return probability;
}

#endif
