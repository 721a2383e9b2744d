/* What the papers promise of tapct, pctcp, pos, urw, surw and the bounded strategies, on small programs under the real
 * scheduler, on the simulated host: exact probabilities, and frequencies over fixed seeds beside them.
 *
 * The seeds are fixed, so every comparison passes always or never. Had they been drawn, a correct strategy would have
 * failed one of these comparisons with a probability below one in a million each (five standard deviations;
 * chi_square.h). */
#include "probe.h"
#include "../sample.h"
#include "scripted.h"
#include "../unit/chi_square.h"
#include <math.h>
#include <strategies/strategies.h>

#define LIMIT 5.0

enum { VAR_T, VAR_PAD };
#define PAD READ(VAR_PAD)

static void assert_frequency(const char *name, uint64_t hits, uint64_t runs, double probability)
{
    double expected = (double)runs * probability, sigma = sqrt(expected * (1 - probability));
    print_message("# %-44s %.4f, expected %.4f\n", name, (double)hits / (double)runs, probability);
    if (fabs((double)hits - expected) > LIMIT * sigma)
        fail_msg("%s: %lu hits in %lu runs, expected %.1f, standard deviation %.1f", name, (unsigned long)hits,
                 (unsigned long)runs, expected, sigma);
}

/* --- urw: every interleaving with the same probability ------------------------------------------------------------ */

/* Threads that never block, and start each other; their numbers of steps, start and end included. */
static const struct {
    struct sim_program program;
    uint64_t steps[4];
} forests[] = {
    { { .name = "two threads", .thread = { THREAD(CREATE(1), PAD, PAD, PAD, PAD), THREAD(PAD) } }, { 6, 3 } },
    { { .name = "three threads", .thread = { THREAD(CREATE(1), CREATE(2), PAD), THREAD(PAD), THREAD(PAD) } },
      { 4, 3, 3 } },
    { { .name = "late creation", .thread = { THREAD(CREATE(1), PAD, PAD, CREATE(2)), THREAD(PAD, PAD), THREAD(PAD) } },
      { 5, 4, 3 } },
};

enum { INTERLEAVINGS = 4096 };

static void test_urw_uniform(void **unused)
{
    (void)unused;
    static uint64_t hash[INTERLEAVINGS], count[INTERLEAVINGS];
    for (size_t i = 0; i < sizeof forests / sizeof *forests; i++) {
        const struct sim_program *program = &forests[i].program;
        struct sim_options walk_options = { .strategy = &walk_strategy };
        struct sim_options options = sim_defaults(&pct_strategy_urw);
        struct sim_result result;
        uint32_t all = 0;
        walk_first();
        do {
            sim_run(program, &walk_options, &result);
            assert_true(all < INTERLEAVINGS);
            hash[all++] = result.hash;
        } while (walk_next());
        char name[8] = "n0";
        for (; name[1] < '4'; name[1]++)
            sim_set(&options, name, forests[i].steps[name[1] - '0']);
        memset(count, 0, sizeof count);
        for (options.run.seed = 0; options.run.seed < 40 * all; options.run.seed++) {
            sim_run(program, &options, &result);
            uint32_t which = 0;
            while (hash[which] != result.hash)
                assert_true(++which < all);
            count[which]++;
        }
        print_message("# %-16s %u interleavings: chi-square %.0f, limit %.0f\n", program->name, all,
                      chi_square(count, all), chi_square_limit(all));
        assert_true(chi_square(count, all) < chi_square_limit(all));
    }
}

/* --- surw: every order of the interesting events with the same probability ---------------------------------------- */

/* Three events of each thread on object 1, beside those that do not matter, of which one thread has many. */
static void test_surw_uniform(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(WRITE(VAR_T, 0), CREATE(1), WRITE(VAR_T, 1), WRITE(VAR_T, 2), WRITE(VAR_T, 3)),
                    THREAD(PAD, REPEAT(12, 1), WRITE(VAR_T, 4), PAD, WRITE(VAR_T, 5), PAD, WRITE(VAR_T, 6)) }
    };
    enum { ORDERS = 20, SEEDS = 500 * ORDERS };
    uint64_t count[64] = { 0 }, orders[ORDERS], walk_first_last = 0;
    uint32_t used = 0;
    for (int walks = 0; walks < 2; walks++) {
        struct sim_options options = sim_defaults(walks ? &pct_strategy_random_walk : &pct_strategy_surw);
        sim_set(&options, "object", 1);
        sim_set(&options, "n0", 4);
        sim_set(&options, "n1", 3);
        for (options.run.seed = 0; options.run.seed < SEEDS; options.run.seed++) {
            struct sim_result result;
            sim_run(&program, &options, &result);
            assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
            uint32_t order = 0, events = 0;
            for (uint64_t step = 1; step < result.steps; step++) {
                uint64_t record = sim.sched.records[step];
                if (PCT_RECORD_OP(record) != PCT_OP_NONE || PCT_RECORD_OBJECT(record) != 1)
                    continue;
                order = order << 1 | PCT_RECORD_THREAD(record);
                events++;
            }
            assert_int_equal(events, 6);
            assert_int_equal(__builtin_popcount(order), 3);
            if (walks)
                walk_first_last += order == 7; /* main first, three times */
            else
                count[order]++;
        }
    }
    for (uint32_t order = 0; order < 64; order++)
        if (count[order])
            orders[used++] = count[order];
    assert_int_equal(used, ORDERS);
    print_message("# surw: chi-square %.0f over 20 orders, limit %.0f; one of them takes %.0f %% of random walks\n",
                  chi_square(orders, ORDERS), chi_square_limit(ORDERS), 100.0 * (double)walk_first_last / SEEDS);
    assert_true(chi_square(orders, ORDERS) < chi_square_limit(ORDERS));
    assert_true(walk_first_last > SEEDS / 4);
}

/* --- pos ---------------------------------------------------------------------------------------------------------- */

/* Main makes m operations that race with nothing and then writes; the other thread starts and checks. Main's m+1
 * operations come first if each has a higher priority than the pending one of the other: START with priority b, CHECK
 * with c. While none of them races, main's are drawn one by one, so the probability is the integral over b and c of
 *     (1-b)^(m+1) + sum over j = 0 .. m of (1-b)^j max(0, b-c) (1-c)^(m-j)
 * where START comes after main's first j. A random walk is that lucky with a probability below 2^-m. */
static double pos_exactly(int m)
{
    enum { GRID = 1000 };
    double sum = 0;
    for (int x = 0; x < GRID; x++)
        for (int y = 0; y < GRID; y++) {
            double b = (x + 0.5) / GRID, c = (y + 0.5) / GRID, at = pow(1 - b, m + 1);
            for (int j = 0; j <= m && b > c; j++)
                at += pow(1 - b, j) * (b - c) * pow(1 - c, m - j);
            sum += at;
        }
    return sum / GRID / GRID;
}

static void test_pos_exactly(void **unused)
{
    (void)unused;
    const struct sim_program programs[] = {
        { .name = "pos, m=1", .thread = { THREAD(CREATE(1), PAD, WRITE(VAR_T, 1)), THREAD(CHECK(VAR_T, 0)) } },
        { .name = "pos, m=4",
          .thread = { THREAD(CREATE(1), PAD, REPEAT(4, 1), WRITE(VAR_T, 1)), THREAD(CHECK(VAR_T, 0)) } },
        { .name = "pos, m=12",
          .thread = { THREAD(CREATE(1), PAD, REPEAT(12, 1), WRITE(VAR_T, 1)), THREAD(CHECK(VAR_T, 0)) } },
    };
    static const int m[] = { 1, 4, 12 };
    const uint64_t seeds = sampled(20000);
    for (int i = 0; i < 3; i++) {
        struct sim_options options = sim_defaults(&pct_strategy_pos);
        uint64_t hits = 0;
        for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
            struct sim_result result;
            sim_run(&programs[i], &options, &result);
            hits += result.verdict == PCT_VERDICT_ASSERTION;
        }
        assert_frequency(programs[i].name, hits, seeds, pos_exactly(m[i]));
    }
}

/* --- pctcp -------------------------------------------------------------------------------------------------------- */

/* Main creates and joins six threads one after the other; a bug shows if the slow thread comes after all of them. There
 * are three chains, and it has the lowest priority of the three in a third of the runs; of the eight threads, in an
 * eighth. */
static void test_pctcp_chains(void **unused)
{
    (void)unused;
    static const struct sim_op brief[] = { PAD, { .kind = SIM_END } };
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), JOIN(2), CREATE(3), JOIN(3), CREATE(4), JOIN(4), CREATE(5), JOIN(5),
                           CREATE(6), JOIN(6), CREATE(7), JOIN(7), WRITE(VAR_T, 1)),
                    THREAD(CHECK(VAR_T, 0)), brief, brief, brief, brief, brief, brief }
    };
    const uint64_t seeds = sampled(20000);
    const struct pct_strategy *const strategies[] = { &pct_strategy_pctcp, &pct_strategy_pct };
    for (int i = 0; i < 2; i++) {
        struct sim_options options = sim_defaults(strategies[i]);
        uint64_t hits = 0;
        sim_set(&options, "depth", 1);
        for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
            struct sim_result result;
            sim_run(&program, &options, &result);
            hits += result.verdict == PCT_VERDICT_ASSERTION;
        }
        assert_frequency(strategies[i]->name, hits, seeds, i ? 1.0 / 8 : 1.0 / 3);
    }
}

/* --- Bugs --------------------------------------------------------------------------------------------------------- */

/* The kinds of figure 1 of the PCT paper, among operations of other threads that do not matter: d, n; and k, the most
 * steps of a run, with those that race. */
static const struct {
    struct sim_program program;
    enum pct_verdict verdict;
    uint32_t d, n;
} bugs[] = {
    { { .name = "order",
        .thread = { THREAD(CREATE(1), PAD, PAD, WRITE(VAR_T, 1), PAD), THREAD(PAD, CHECK(VAR_T, 1), PAD) } },
      PCT_VERDICT_ASSERTION,
      1,
      2 },
    { { .name = "atomicity",
        .thread = { THREAD(CREATE(1), READ(3), READ(4), REPEAT(15, 2), WRITE(VAR_T, 0)),
                    THREAD(READ(5), READ(5), REPEAT(15, 1), READ(VAR_T), UNLESS(1, 1), CHECK(VAR_T, 1)) },
        .var = { [VAR_T] = 1 } },
      PCT_VERDICT_ASSERTION,
      2,
      2 },
    { { .name = "deadlock",
        .thread = { THREAD(CREATE(1), READ(3), REPEAT(20, 1), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),
                    THREAD(READ(4), REPEAT(20, 1), LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) } },
      PCT_VERDICT_DEADLOCK,
      2,
      2 },
};

static void test_finds(void **unused)
{
    (void)unused;
    const uint64_t seeds = sampled(4000);
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++) {
            struct sim_options options = sim_defaults(*strategy);
            struct sim_result result;
            uint64_t hits = 0, k = 0;
            if (*strategy == &pct_strategy_none || *strategy == &pct_strategy_round_robin ||
                *strategy == &pct_strategy_schedule)
                continue;
            sim_set(&options, "depth", bugs[i].d);
            /* As pct run does: k is what the runs so far have needed. */
            for (int round = 0; round < 2; round++) {
                hits = 0;
                for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
                    sim_run(&bugs[i].program, &options, &result);
                    uint64_t points = sim.header.points ? sim.header.points : result.steps;
                    k = points > k ? points : k;
                    hits += result.verdict == bugs[i].verdict;
                }
                sim_set(&options, "k", k);
                sim_set(&options, "n", k / 2);
            }
            print_message("# %-10s %-16s k=%-3lu %5.2f %%\n", bugs[i].program.name, (*strategy)->name, (unsigned long)k,
                          100.0 * (double)hits / seeds);
            /* A random walk has no chance to keep one thread behind for twenty steps. */
            bool walks = *strategy == &pct_strategy_random_walk || *strategy == &pct_strategy_urw;
            assert_true(hits > 0 || walks);
            /* Theorem 9, and what follows from it with fewer points or chains. */
            bool bounded =
                *strategy == &pct_strategy_pct || *strategy == &pct_strategy_tapct || *strategy == &pct_strategy_pctcp;
            double bound = 1 / (bugs[i].n * pow((double)k, bugs[i].d - 1.0));
            assert_true(!bounded || (double)hits > seeds * bound - LIMIT * sqrt(seeds * bound));
        }
}

/* pct with its refinements: the same bug, in a program that works alone for long before and between. */
static void test_refinements(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(PAD, REPEAT(60, 1), CREATE(1), PAD, WRITE(VAR_T, 0), JOIN(1), PAD, REPEAT(60, 1), CREATE(1),
                           PAD, WRITE(VAR_T, 0), JOIN(1), PAD, REPEAT(60, 1)),
                    THREAD(WRITE(VAR_T, 1), READ(VAR_T), UNLESS(1, 1), CHECK(VAR_T, 1)) },
    };
    const uint64_t seeds = sampled(20000);
    double frequency[4];
    uint64_t k[4];
    for (uint32_t variant = 0; variant < 4; variant++) {
        struct sim_options options = sim_defaults(&pct_strategy_pct);
        uint64_t hits = 0;
        sim_set(&options, "sequential", variant & 1);
        sim_set(&options, "phases", variant >> 1);
        sim_set(&options, "depth", 2);
        k[variant] = 0;
        for (int round = 0; round < 2; round++) {
            hits = 0;
            for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
                struct sim_result result;
                sim_run(&program, &options, &result);
                k[variant] = sim.header.points > k[variant] ? sim.header.points : k[variant];
                hits += result.verdict == PCT_VERDICT_ASSERTION;
            }
            sim_set(&options, "k", k[variant]);
        }
        frequency[variant] = (double)hits / seeds;
        print_message("# sequential=%u phases=%u: k=%lu, hits %.2f %%\n", variant & 1, variant >> 1,
                      (unsigned long)k[variant], 100 * frequency[variant]);
        double bound = 1.0 / 3 / (double)k[variant];
        assert_true(frequency[variant] > bound - LIMIT * sqrt(bound / seeds));
    }
    assert_true(k[1] < k[0] / 5 && k[2] < k[0] && k[3] <= k[1]);
    assert_true(frequency[1] > 3 * frequency[0] && frequency[3] > frequency[1]);
}

/* The final wait: main sets a flag and ends the process, which the other thread must not have seen by then (figure 2).
 * Without it a change point must fall between the two. */
static void test_final_wait(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), PAD, WRITE(VAR_T, 1), EXIT), THREAD(PAD, CHECK(VAR_T, 0)) },
    };
    enum { K = 8 };
    const uint64_t seeds = sampled(20000);
    uint64_t hits[2][3] = { 0 };
    for (uint32_t final = 0; final < 2; final++)
        for (uint32_t depth = 1; depth <= 2; depth++) {
            struct sim_options options = sim_defaults(&pct_strategy_pct);
            struct sim_result result;
            sim_set(&options, "final", final);
            sim_set(&options, "depth", depth);
            sim_set(&options, "k", K);
            for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
                sim_run(&program, &options, &result);
                assert_true(result.steps <= K);
                hits[final][depth] += result.verdict == PCT_VERDICT_ASSERTION;
            }
            print_message("# final=%u depth=%u: hits %.2f %%\n", final, depth,
                          100.0 * (double)hits[final][depth] / seeds);
        }
    assert_int_equal(hits[0][1], 0);
    assert_frequency("final=1, depth 1: main has the higher priority", hits[1][1], seeds, 0.5);
    assert_frequency("final=0, depth 2: and the change comes right after it sets the flag", hits[0][2], seeds, 0.5 / K);
    assert_true(hits[1][2] >= hits[1][1]);
}

/* Where the final wait stands. A handler of exit sets a flag that the other thread must not have seen by the end: with
 * the wait before the handlers it never has; behind them, if main had the higher priority; and without any, a change
 * point must fall right after the flag is set. */
static void test_ends(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), PAD, EXITING, WRITE(VAR_T, 1), EXIT_NOW), THREAD(PAD, CHECK(VAR_T, 0)) },
    };
    enum { K = 10 };
    const uint64_t seeds = sampled(20000);
    uint64_t hits[PCT_END_COUNT][3] = { 0 };
    for (enum pct_end end = PCT_END_PLAIN; end < PCT_END_COUNT; end++)
        for (uint32_t depth = 1; depth <= 2; depth++) {
            if (end == PCT_END_DRAWN)
                continue;
            struct sim_options options = sim_defaults(&pct_strategy_pct);
            struct sim_result result;
            options.end = end;
            sim_set(&options, "depth", depth);
            sim_set(&options, "k", K);
            for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
                sim_run(&program, &options, &result);
                assert_true(result.steps <= K);
                hits[end][depth] += result.verdict == PCT_VERDICT_ASSERTION;
            }
        }
    assert_int_equal(hits[PCT_END_PLAIN][1] + hits[PCT_END_PLAIN][2], 0);
    assert_int_equal(hits[PCT_END_BEFORE][1] + hits[PCT_END_BEFORE][2], 0);
    assert_frequency("behind, depth 1: main has the higher priority", hits[PCT_END_BEHIND][1], seeds, 0.5);
    assert_int_equal(hits[PCT_END_FREE][1], 0);
    assert_frequency("free, depth 2: and the change comes right after the flag is set", hits[PCT_END_FREE][2], seeds,
                     0.5 / K);
}

/* Starvation: a thread that tries a lock in a loop goes below its owner after `spin` rounds on average, if it has the
 * higher priority, which is half of the time; and never without. */
static void test_spin(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(LOCK(0), CREATE(1), PAD, UNLOCK(0), JOIN(1)),
                    THREAD(TRYLOCK(0), UNLESS(0, 1), BACK(2), UNLOCK(0)) },
    };
    static const uint64_t spins[] = { 4, 16, 64, 0 };
    enum { STEPS = 10, BOUND = 20000 }; /* STEPS: if the first try succeeds */
    const uint64_t seeds = sampled(10000);
    for (size_t i = 0; i < sizeof spins / sizeof *spins; i++) {
        struct sim_options options = sim_defaults(&pct_strategy_pct);
        struct sim_result result;
        uint64_t rounds = 0, endless = 0;
        sim_set(&options, "spin", spins[i]);
        sim_set(&options, "depth", 1);
        options.max_steps = BOUND;
        for (options.run.seed = 0; options.run.seed < (spins[i] ? seeds : seeds / 100); options.run.seed++) {
            sim_run(&program, &options, &result);
            assert_true(result.steps >= STEPS);
            endless += result.verdict == PCT_VERDICT_LIVELOCK;
            rounds += result.verdict == PCT_VERDICT_LIVELOCK ? 0 : result.steps - STEPS;
        }
        if (!spins[i]) {
            print_message("# spin=never: %lu of %lu runs do not end\n", (unsigned long)endless,
                          (unsigned long)seeds / 100);
            assert_frequency("spin=never: the loop has the higher priority", endless, seeds / 100, 0.5);
            continue;
        }
        /* A geometric distribution in half of the runs, 0 in the others. */
        double n = (double)spins[i], mean = (double)rounds / seeds, sigma = sqrt((n * n * 0.75 - n / 2) / seeds);
        print_message("# spin=%lu: %.2f failed rounds\n", (unsigned long)spins[i], mean);
        assert_int_equal(endless, 0);
        assert_true(fabs(mean - n / 2) < LIMIT * sigma);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urw_uniform),  cmocka_unit_test(test_surw_uniform), cmocka_unit_test(test_pos_exactly),
        cmocka_unit_test(test_pctcp_chains), cmocka_unit_test(test_finds),        cmocka_unit_test(test_refinements),
        cmocka_unit_test(test_final_wait),   cmocka_unit_test(test_ends),         cmocka_unit_test(test_spin),
    };
    return cmocka_run_group_tests_name("sampling", tests, NULL, NULL);
}
