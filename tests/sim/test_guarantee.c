/* The theorem of the PCT paper (Burckhardt et al., ASPLOS 2010, theorem 9), exactly, on small programs with known bugs.
 *
 * For each program the probability of its bug is counted over all n! k^(d-1) valuations of the random variables of
 * figure 7, and must be at least 1 / (n k^(d-1)). strategies/pct.c must then make the same schedules as figure 7 for
 * the random variables that its seed stands for, and find the bug in as many of SEEDS runs as that probability says.
 * The same for random-walk, whose probability is the sum over all schedules. Runs on the simulated host. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../sample.h"
#include "scripted.h"
#include <math.h>
#include <pct/random.h>
#include <stdlib.h>
#include <strategies/depth_param.h>
#include <strategies/strategies.h>
#include <time.h>

/* Seeds 1 .. SEEDS are fixed, so every comparison passes always or never. Had they been drawn, each of the (at present)
 * 34 comparisons would have failed for a correct strategy with probability FALSE_ALARM at most, by the exact binomial
 * distribution: all together with 3.4e-5. */
enum { SEEDS = 20000, SAME_SEEDS = 1000 };
#define FALSE_ALARM 1e-6

enum { PARAM_DEPTH, PARAM_K };

#define DEADLOCK UINT32_MAX

struct bug {
    struct sim_program program;
    uint32_t n, d;    /* threads, main included; the depth of the bug */
    uint64_t k;       /* the steps of the longest run */
    uint32_t culprit; /* whose assertion fails, or DEADLOCK */
    bool no_walk;     /* too many schedules to enumerate them all */
    bool tight;       /* with depth d-1 PCT never finds it */
};

/* Thread 1 of the figures is main here. Every thread begins with a step that is not part
 * of the bug, as definition 4 (NotFirst) wants it. */
enum { VAR_T, VAR_INIT, VAR_PAD, VAR_A = 0, VAR_B = 1 };
#define PAD READ(VAR_PAD)

static const struct bug bugs[] = {
    { .program = { .name = "figure 1a, order",
                   .thread = { THREAD(CREATE(1), PAD, PAD, WRITE(VAR_T, 1), PAD), THREAD(PAD, CHECK(VAR_T, 1), PAD) } },
      .n = 2,
      .d = 1,
      .k = 11,
      .culprit = 1 },
    /* The second thread needs a lock that two others take too: priority inversion, section 2.6. */
    { .program = { .name = "figure 1a, order, behind a lock",
                   .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), WRITE(VAR_T, 1)),
                               THREAD(LOCK(0), CHECK(VAR_T, 1), UNLOCK(0)), THREAD(LOCK(0), PAD, UNLOCK(0)),
                               THREAD(LOCK(0), UNLOCK(0)) } },
      .n = 4,
      .d = 1,
      .k = 19,
      .culprit = 1,
      .no_walk = true },
    { .program = { .name = "figure 1b, atomicity",
                   .thread = { THREAD(CREATE(1), PAD, WRITE(VAR_T, 0), PAD),
                               THREAD(PAD, READ(VAR_T), UNLESS(1, 1), CHECK(VAR_T, 1), PAD) },
                   .var = { [VAR_T] = 1 } },
      .n = 2,
      .d = 2,
      .k = 11,
      .culprit = 1,
      .tight = true },
    { .program = { .name = "figure 1c, deadlock of two locks",
                   .thread = { THREAD(CREATE(1), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),
                               THREAD(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) } },
      .n = 2,
      .d = 2,
      .k = 12,
      .culprit = DEADLOCK,
      .tight = true },
    { .program = { .name = "deadlock of three locks",
                   .thread = { THREAD(CREATE(1), CREATE(2), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),
                               THREAD(LOCK(1), LOCK(2), UNLOCK(2), UNLOCK(1)),
                               THREAD(LOCK(2), LOCK(0), UNLOCK(0), UNLOCK(2)) } },
      .n = 3,
      .d = 3,
      .k = 19,
      .culprit = DEADLOCK,
      .no_walk = true },
    { .program = { .name = "figure 2, pbzip2",
                   .thread = { THREAD(CREATE(1), PAD, WRITE(VAR_T, 1), EXIT_NOW), THREAD(PAD, CHECK(VAR_T, 0)) } },
      .n = 2,
      .d = 2,
      .k = 8,
      .culprit = 1,
      .tight = true },
    { .program = { .name = "figure 3, order with an event",
                   .thread = { THREAD(CREATE(1), PAD, UP(0), WRITE(VAR_T, 1), PAD),
                               THREAD(PAD, DOWN(0), CHECK(VAR_T, 1)) } },
      .n = 2,
      .d = 1,
      .k = 11,
      .culprit = 1 },
    { .program = { .name = "figure 4, control flow",
                   .thread = { THREAD(CREATE(1), WRITE(VAR_INIT, 1), WRITE(VAR_T, 1), PAD),
                               THREAD(PAD, READ(VAR_INIT), UNLESS(1, 1), CHECK(VAR_T, 1)) } },
      .n = 2,
      .d = 2,
      .k = 10,
      .culprit = 1,
      .tight = true },
    { .program = { .name = "figure 5, the first of two bugs",
                   .thread = { THREAD(CREATE(1), CHECK(VAR_B, 1), PAD, PAD, PAD, PAD, PAD, WRITE(VAR_A, 0)),
                               THREAD(CHECK(VAR_A, 1), PAD, PAD, PAD, PAD, PAD, WRITE(VAR_B, 0)) },
                   .var = { 1, 1 } },
      .n = 2,
      .d = 1,
      .k = 18,
      .culprit = 0 },
    { .program = { .name = "figure 5, the second of two bugs",
                   .thread = { THREAD(CREATE(1), CHECK(VAR_B, 1), PAD, PAD, PAD, PAD, PAD, WRITE(VAR_A, 0)),
                               THREAD(CHECK(VAR_A, 1), PAD, PAD, PAD, PAD, PAD, WRITE(VAR_B, 0)) },
                   .var = { 1, 1 } },
      .n = 2,
      .d = 1,
      .k = 18,
      .culprit = 1 },
    { .program = { .name = "lost wake-up",
                   .thread = { THREAD(CREATE(1), WRITE(VAR_T, 1), SIGNAL(0), PAD),
                               THREAD(PAD, READ(VAR_T), UNLESS(0, 3), LOCK(0), WAIT(0, 0), UNLOCK(0)) } },
      .n = 2,
      .d = 2,
      .k = 13,
      .culprit = DEADLOCK,
      .tight = true },
    /* r0 before w1 before r1 before w2 before r2. */
    { .program = { .name = "a chain of four constraints",
                   .thread = { THREAD(CREATE(1), WRITE(VAR_T, 1), WRITE(VAR_T, 2)),
                               THREAD(READ(VAR_T), UNLESS(0, 3), READ(VAR_T), UNLESS(1, 1), CHECK(VAR_T, 1)) } },
      .n = 2,
      .d = 4,
      .k = 9,
      .culprit = 1,
      .tight = true },
};
enum { BUGS = sizeof bugs / sizeof *bugs };

static bool run_hits(const struct bug *bug, const struct sim_options *options, struct sim_result *result)
{
    sim_run(&bug->program, options, result);
    if (result->broken)
        fail_msg("%s: %s", bug->program.name, result->broken);
    assert_true(result->verdict == PCT_VERDICT_EXIT || result->verdict == PCT_VERDICT_ASSERTION ||
                result->verdict == PCT_VERDICT_DEADLOCK);
    assert_int_equal(result->unready, 0);
    assert_true(result->steps <= bug->k); /* k >= maxsteps(P) */
    assert_true(result->threads <= bug->n);
    return bug->culprit == DEADLOCK ? result->verdict == PCT_VERDICT_DEADLOCK : result->culprit == bug->culprit;
}

static uint64_t factorial(uint64_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static uint64_t power(uint64_t base, uint64_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

/* In how many of all n! k^(d-1) valuations figure 7 hits the bug. */
static uint64_t count_hits(const struct bug *bug, uint32_t d, uint64_t *valuations)
{
    struct sim_options options = { .strategy = &figure7_strategy, .audit = true };
    struct sim_result result;
    uint64_t hits = 0;
    *valuations = 0;
    figure7_first(bug->n, d);
    do
        do {
            hits += run_hits(bug, &options, &result);
            ++*valuations;
        } while (figure7_next_changes(bug->k));
    while (figure7_next_permutation());
    assert_int_equal(*valuations, factorial(bug->n) * power(bug->k, d - 1));
    return hits;
}

/* Theorem 9: hits / (n! k^(d-1)) >= 1 / (n k^(d-1)), in whole numbers. */
static void test_bound(void **unused)
{
    (void)unused;
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++) {
        uint64_t all, hits = count_hits(bug, bug->d, &all);
        print_message("# %-32s n=%u k=%-2lu d=%u: PCT hits in %lu of %lu valuations, 1/%.1f; guaranteed 1/%lu\n",
                      bug->program.name, bug->n, (unsigned long)bug->k, bug->d, (unsigned long)hits, (unsigned long)all,
                      (double)all / (double)hits, (unsigned long)(bug->n * power(bug->k, bug->d - 1)));
        assert_true(hits >= factorial(bug->n - 1));
        assert_true(hits < all); /* it is a bug of some schedules only */
        /* The stated depth is not too high: one change point fewer is not enough. */
        if (bug->tight)
            assert_int_equal(count_hits(bug, bug->d - 1, &all), 0);
    }
}

/* Runs with one change point more than the bug needs: any d-1 of the d may be those that count, and
 * cli/campaign/guarantee.c says so to users. In whole numbers: hits / (n! k^d) >= d / (n k^d). */
static void test_bound_of_deeper_runs(void **unused)
{
    (void)unused;
    if (sample() > 1)
        skip(); /* all valuations, which test_bound goes through with one change point fewer */
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++) {
        uint64_t all, hits = count_hits(bug, bug->d + 1, &all);
        assert_true(hits >= bug->d * factorial(bug->n - 1));
    }
}

/* "PCT finds both these bugs with a probability 1/2" (figure 5). */
static void test_figure5_half(void **unused)
{
    (void)unused;
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++)
        if (!strncmp(bug->program.name, "figure 5", 8)) {
            uint64_t all, hits = count_hits(bug, 1, &all);
            assert_int_equal(2 * hits, all);
        }
}

/* The probability of `from` to `to` hits in this many runs. */
static double binomial(uint64_t from, uint64_t to, uint64_t runs, double p)
{
    double sum = 0, n = (double)runs;
    for (uint64_t i = from; i <= to; i++) {
        double k = (double)i;
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
    }
    return sum;
}

static void assert_frequency(const char *name, uint64_t hits, uint64_t runs, double p)
{
    double as_few = binomial(0, hits, runs, p), as_many = binomial(hits, runs, runs, p);
    if (as_few < FALSE_ALARM / 2 || as_many < FALSE_ALARM / 2)
        fail_msg("%s: %lu hits in %lu runs, expected %.1f; as few have probability %.1e, as many %.1e", name,
                 (unsigned long)hits, (unsigned long)runs, (double)runs * p, as_few, as_many);
}

static uint64_t count_seeds(const struct bug *bug, struct sim_options options, uint64_t seeds)
{
    uint64_t hits = 0;
    for (options.run.seed = 1; options.run.seed <= seeds; options.run.seed++) {
        struct sim_result result;
        hits += run_hits(bug, &options, &result);
    }
    return hits;
}

static struct sim_options pct_options(const struct bug *bug)
{
    struct sim_options options = sim_defaults(&pct_strategy_pct);
    options.run.param[PARAM_DEPTH] = bug->d;
    options.run.param[PARAM_K] = bug->k;
    return options;
}

/* strategies/pct.c finds each bug as often as figure 7 does. */
static void test_pct_frequency(void **unused)
{
    (void)unused;
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++) {
        uint64_t all, hits = count_hits(bug, bug->d, &all);
        uint64_t seeds = sampled(SEEDS);
        assert_frequency(bug->program.name, count_seeds(bug, pct_options(bug), seeds), seeds,
                         (double)hits / (double)all);
    }
}

/* depth=auto: each bug is found as often as the mixture of figure 7's runs over the depths that are drawn finds it,
 * which is at least what cli/campaign/guarantee.c says to users: the mixture of C(D-1, d-1) / (n k^(D-1)). Of two
 * threads and few steps, because all values that the deepest runs can draw are gone through. */
static void test_drawn_depth(void **unused)
{
    (void)unused;
    if (sample() > 1)
        skip(); /* all valuations, which test_bound goes through with one change point fewer */
    static const double choose[PCT_DEEPEST_DRAWN][PCT_DEEPEST_DRAWN] = {
        { 1 }, { 1, 1 }, { 1, 2, 1 }, { 1, 3, 3, 1 }, { 1, 4, 6, 4, 1 }
    };
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++) {
        if (bug->n > 2 || bug->k > 12)
            continue;
        double exact[PCT_DEEPEST_DRAWN + 1], p = 0, bound = 0;
        for (uint32_t d = 1; d <= PCT_DEEPEST_DRAWN; d++) {
            uint64_t all, hits = count_hits(bug, d, &all);
            exact[d] = (double)hits / (double)all;
        }
        for (uint32_t i = 0; i < PCT_DRAWN_DEPTHS; i++) {
            uint32_t d = pct_drawn_depths[i];
            p += exact[d] / PCT_DRAWN_DEPTHS;
            bound += choose[d - 1][bug->d - 1] / ((double)bug->n * (double)power(bug->k, d - 1)) / PCT_DRAWN_DEPTHS;
        }
        assert_true(p >= bound);
        struct sim_options options = pct_options(bug);
        options.run.param[PARAM_DEPTH] = 0;
        uint64_t seeds = sampled(SEEDS);
        assert_frequency(bug->program.name, count_seeds(bug, options, seeds), seeds, p);
    }
}

/* The order of the initial priorities that a seed stands for, as it shows from outside: of all threads enabled, disable
 * who is picked. */
static void observe_permutation(const struct pct_run *run, uint32_t n, void *state)
{
    const struct pct_strategy *s = &pct_strategy_pct;
    struct pct_run flat = *run;
    flat.param[PARAM_DEPTH] = 1;
    flat.threads = n;
    memset(state, 0, s->state_size(&flat));
    const char *why;
    assert_int_equal(s->start(state, &flat, &why), 0);
    for (uint32_t t = 0; t < n; t++) {
        s->created(state, t);
        s->enable(state, t);
    }
    struct pct_point point = { .current = PCT_NO_THREAD, .why = PCT_WHY_START };
    for (point.enabled = n; point.enabled; point.enabled--) {
        point.current = s->pick(state, &point).thread;
        point.why = PCT_WHY_BLOCKED;
        figure7.pi[point.current] = point.enabled;
        s->disable(state, point.current);
    }
}

/* With the same random variables, strategies/pct.c with its budgets makes the same schedules as figure 7, which is
 * asked at every step. docs/STRATEGIES.md says how k_i follows from the seed. */
static void test_pct_is_figure7(void **unused)
{
    (void)unused;
    struct pct_run any = { 0 };
    void *state = aligned_alloc(64, (pct_strategy_pct.state_size(&any) + 63u) & ~63u);
    assert_non_null(state);
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++) {
        struct sim_options pct = pct_options(bug), reference = { .strategy = &figure7_strategy, .slow = true };
        for (pct.run.seed = 1; pct.run.seed <= sampled(SAME_SEEDS); pct.run.seed++) {
            struct sim_result expected, got;
            figure7_first(bug->n, bug->d);
            observe_permutation(&pct.run, bug->n, state);
            for (uint32_t i = 1; i < bug->d; i++)
                figure7.k[i] = pct_random_below(pct.run.seed, PCT_STREAM_CHANGE, i, bug->k) + 1;
            run_hits(bug, &reference, &expected);
            run_hits(bug, &pct, &got);
            assert_int_equal(got.steps, expected.steps);
            assert_int_equal(got.hash, expected.hash);
            assert_int_equal(got.switches, expected.switches);
        }
    }
    free(state);
}

/* The exact probability that a uniform random walk hits the bug; also checks that k is what the longest run takes. */
static double walk_exactly(const struct bug *bug, uint64_t *schedules)
{
    struct sim_options options = { .strategy = &walk_strategy };
    struct sim_result result;
    double hit = 0, total = 0;
    uint64_t longest = 0;
    *schedules = 0;
    walk_first();
    do {
        bool hits = run_hits(bug, &options, &result);
        total += walk_probability();
        if (hits)
            hit += walk_probability();
        if (result.steps > longest)
            longest = result.steps;
        ++*schedules;
    } while (walk_next());
    assert_true(fabs(total - 1) < 1e-9); /* all runs, each once */
    assert_int_equal(longest, bug->k);
    return hit;
}

static void test_random_walk(void **unused)
{
    (void)unused;
    for (const struct bug *bug = bugs; bug < bugs + BUGS; bug++) {
        if (bug->no_walk)
            continue;
        uint64_t schedules;
        double exact = walk_exactly(bug, &schedules);
        print_message("# %-32s %lu schedules; a random walk hits with probability 1/%.1f\n", bug->program.name,
                      (unsigned long)schedules, 1 / exact);
        struct sim_options options = sim_defaults(&pct_strategy_random_walk);
        uint64_t seeds = sampled(SEEDS);
        assert_frequency(bug->program.name, count_seeds(bug, options, seeds), seeds, exact);
        /* Section 2.4: a thread that must be late by m steps is beyond a random walk's reach; not beyond PCT's. */
        if (!strncmp(bug->program.name, "figure 5", 8))
            assert_true(exact < 1.0 / 16);
    }
}

/* For information: how fast the simulation is. Four threads, about 100 steps. */
static void test_rate(void **unused)
{
    (void)unused;
    const uint64_t runs = sampled(20000);
    const struct sim_op body[] = { LOCK(0), READ(0), ADD(1), STORE(0), UNLOCK(0), REPEAT(7, 5), { .kind = SIM_END } };
    const struct sim_program program = { .name = "counter",
                                         .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
                                                     body, body, body } };
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++) {
        struct sim_options options = sim_defaults(*strategy);
        struct timespec from, to;
        uint64_t steps = 0;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (options.run.seed = 0; options.run.seed < runs; options.run.seed++) {
            struct sim_result result;
            sim_run(&program, &options, &result);
            assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
            assert_int_equal(result.var[0], 21);
            steps += result.steps;
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        print_message("# %-13s %6.0f runs of %lu steps a second, %.0f steps a millisecond\n", (*strategy)->name,
                      (double)runs / seconds, (unsigned long)(steps / runs), (double)steps / seconds / 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),        cmocka_unit_test(test_bound_of_deeper_runs),
        cmocka_unit_test(test_figure5_half), cmocka_unit_test(test_pct_frequency),
        cmocka_unit_test(test_drawn_depth),  cmocka_unit_test(test_pct_is_figure7),
        cmocka_unit_test(test_random_walk),  cmocka_unit_test(test_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
