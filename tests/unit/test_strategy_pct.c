/* Unit tests of strategies/pct.c: figure 7 of Burckhardt et al., ASPLOS 2010, done naively and compared step by step,
 * and the distributions that the paper's theorem rests on. Links with: strategies/pct.c. */
#include "abstract_run.h"
#include "../../strategies/priorities.h"
#include "../../strategies/strategies.h"
#include "chi_square.h"
#include <pct/random.h>

enum { PARAM_DEPTH, PARAM_K, PARAM_SPIN, PARAM_FINAL, PARAM_SEQUENTIAL, PARAM_PHASES };

static struct pct_run params_of(uint64_t seed, uint64_t depth, uint64_t k)
{
    return (struct pct_run){
        .seed = seed,
        .param = { [PARAM_DEPTH] = depth, [PARAM_K] = k, [PARAM_SPIN] = 16, [PARAM_FINAL] = 1 },
        .threads = MODEL_THREADS,
    };
}

/* The i-th change point as docs/STRATEGIES.md defines it. */
static uint64_t change_point(const struct pct_run *run, uint64_t i)
{
    return pct_random_below(run->seed, PCT_STREAM_CHANGE, i, run->param[PARAM_K]) + 1;
}

/* The order of the initial priorities as they show from outside: with depth 1 and all threads enabled, disable whoever
 * is picked. order[0] is the highest. */
static void observe_order(uint64_t seed, uint32_t threads, uint32_t *order)
{
    struct pct_run run = params_of(seed, 1, 1);
    run.threads = threads;
    void *state = new_state(&pct_strategy_pct, &run);
    for (uint32_t t = 0; t < threads; t++) {
        pct_strategy_pct.created(state, t);
        pct_strategy_pct.enable(state, t);
    }
    for (uint32_t i = 0; i < threads; i++) {
        struct pct_point point = { .current = i ? order[i - 1] : PCT_NO_THREAD,
                                   .enabled = threads - i,
                                   .why = i ? PCT_WHY_BLOCKED : PCT_WHY_START };
        struct pct_choice choice = pct_strategy_pct.pick(state, &point);
        assert_int_equal(choice.budget, PCT_UNLIMITED);
        order[i] = choice.thread;
        pct_strategy_pct.disable(state, choice.thread);
    }
    free_state(&pct_strategy_pct, &run, state);
}

/* Figure 7, with the refinements of sections 4.1 and 4.2. */
struct figure7 {
    struct pct_run run;
    uint64_t step;    /* of the last look */
    uint32_t enabled; /* threads at the last look */
    bool alone;   /* made the last step, which does not count unless it blocks, and the strategy was not asked since */
    uint32_t ran; /* who made the last step */
    uint64_t length; /* length(S), as far as it counts */
    uint64_t phase, longest;
    bool ends[MODEL_THREADS];     /* was put last by its final wait */
    int64_t p[MODEL_THREADS];     /* the priorities; line 3 */
    int64_t lowest;               /* below all others: 0, -1, -2, ... */
    uint32_t spun[MODEL_THREADS]; /* spins of each thread */
    uint32_t waiting;             /* will be put below all others when the last step's change points are done */
};

/* A step was made since the last look: does it count, and is it a change point? */
static void figure7_look_at_step(struct figure7 *m, const struct world *world, uint32_t enabled)
{
    uint64_t d = m->run.param[PARAM_DEPTH];
    m->alone = m->run.param[PARAM_SEQUENTIAL] && m->enabled == 1 && enabled == 1 && world->enabled[m->ran];
    if (m->alone)
        return;
    m->length++;
    for (uint64_t i = 1; i < d; i++) { /* lines 12 to 16 */
        uint64_t place = m->phase << 8 | i;
        if (m->length == pct_random_below(m->run.seed, PCT_STREAM_CHANGE, place, m->run.param[PARAM_K]) + 1)
            m->p[m->ran] = m->run.param[PARAM_PHASES] && m->ends[m->ran] ? m->p[m->ran] : (int64_t)(d - i);
    }
}

/* Of several enabled threads one is left. */
static void figure7_begin_phase(struct figure7 *m)
{
    m->longest = m->length > m->longest ? m->length : m->longest;
    m->length = 0;
    m->phase++;
    for (uint32_t t = 0; t < MODEL_THREADS; t++)
        if (!m->ends[t])
            m->p[t] = 64 + (int64_t)pct_priorities_permute(m->run.seed, m->phase, t);
}

static uint32_t figure7_next(void *data, const struct world *world, bool picked)
{
    struct figure7 *m = data;
    uint32_t enabled = enabled_count(world);
    /* These runs let a thread find out late that it is blocked: look again, unless the strategy was asked before. */
    if (world->step > m->step || (m->alone && !world->enabled[m->ran]))
        figure7_look_at_step(m, world, enabled);
    m->alone &= !picked;
    m->step = world->step;
    if (m->run.param[PARAM_PHASES] && m->enabled > 1 && enabled == 1)
        figure7_begin_phase(m);
    m->enabled = enabled;
    if (m->waiting != PCT_NO_THREAD) {
        m->p[m->waiting] = m->lowest--;
    }
    m->waiting = PCT_NO_THREAD;
    uint32_t best = PCT_NO_THREAD;
    for (uint32_t t = 0; t < world->threads; t++) /* line 10 */
        if (world->enabled[t] && (best == PCT_NO_THREAD || m->p[t] > m->p[best]))
            best = t;
    return best;
}

static void figure7_stepped(void *data, const struct world *world, uint32_t thread)
{
    struct figure7 *m = data;
    (void)world;
    m->ran = thread;
}

static void figure7_spins(void *data, uint32_t thread)
{
    struct figure7 *m = data;
    uint64_t inverse = m->run.param[PARAM_SPIN], place = (uint64_t)thread << 32 | m->spun[thread]++;
    if (inverse && pct_random_below(m->run.seed, PCT_STREAM_SPIN, place, inverse) == 0)
        m->waiting = thread;
}

static void figure7_final_wait(void *data, uint32_t thread)
{
    struct figure7 *m = data;
    if (!m->run.param[PARAM_FINAL])
        return;
    m->waiting = thread;
    m->ends[thread] = true;
}

static void compare_run(const struct pct_run *run, uint32_t threads, uint64_t steps, uint64_t variant)
{
    struct figure7 data = { .run = *run, .waiting = PCT_NO_THREAD, .enabled = 1 };
    struct model model = { .data = &data,
                           .next = figure7_next,
                           .stepped = figure7_stepped,
                           .spins = figure7_spins,
                           .final_wait = figure7_final_wait };
    uint32_t order[MODEL_THREADS];
    observe_order(run->seed, MODEL_THREADS, order);
    for (uint32_t i = 0; i < MODEL_THREADS; i++) /* lines 5 to 7, with pi as it was observed */
        data.p[order[i]] = (int64_t)run->param[PARAM_DEPTH] + MODEL_THREADS - 1 - i;
    run_abstract(&pct_strategy_pct, run, &model, threads, steps, variant);
}

/* All small parameters: every depth up to 6 with every k up to 12, so that change points coincide often. */
static void test_figure7_small(void **unused)
{
    (void)unused;
    for (uint64_t depth = 1; depth <= 6; depth++)
        for (uint64_t k = 1; k <= 12; k++)
            for (uint64_t seed = 0; seed < 40; seed++) {
                struct pct_run run = params_of(seed, depth, k);
                compare_run(&run, 1 + (uint32_t)(seed % 6), 30, seed * 1000 + depth * 100 + k);
            }
}

/* Long runs with many threads, of all depths. */
static void test_figure7_large(void **unused)
{
    (void)unused;
    uint64_t random = 7;
    for (uint64_t i = 0; i < 1500; i++) {
        struct pct_run run =
            params_of(test_random(&random), 1 + test_below(&random, 64), 1 + test_below(&random, 1000));
        compare_run(&run, 1 + test_below(&random, MODEL_THREADS), 1000, i);
    }
}

/* With every combination of the refinements. */
static void test_figure7_refined(void **unused)
{
    (void)unused;
    uint64_t random = 8;
    for (uint64_t i = 0; i < 8000; i++) {
        struct pct_run run = params_of(test_random(&random), 1 + test_below(&random, 8), 1 + test_below(&random, 200));
        static const uint64_t spins[] = { 0, 1, 16, 100 };
        run.param[PARAM_SPIN] = spins[i & 3];
        run.param[PARAM_FINAL] = i >> 2 & 1;
        run.param[PARAM_SEQUENTIAL] = i >> 3 & 1;
        run.param[PARAM_PHASES] = i >> 4 & 1;
        compare_run(&run, 1 + test_below(&random, i >> 5 & 1 ? 3 : MODEL_THREADS), 500, i);
    }
}

/* depth=auto: the documented distribution, and each such run is the one of the depth that was drawn. */
static void test_depth_drawn(void **unused)
{
    (void)unused;
    enum { SEEDS = 16000 };
    uint64_t drawn[PCT_DEEPEST_DRAWN + 1] = { 0 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pct_run run = params_of(seed, 0, 1000000);
        bool found = false;
        void *state = new_state(&pct_strategy_pct, &run);
        pct_strategy_pct.created(state, 0);
        pct_strategy_pct.enable(state, 0);
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
        uint64_t changes = 0;
        for (;; changes++) { /* a million steps: change points hardly coincide */
            uint64_t budget = pct_strategy_pct.pick(state, &point).budget;
            if (budget == PCT_UNLIMITED)
                break;
            point = (struct pct_point){
                .step = point.step + budget, .ran = budget, .current = 0, .enabled = 1, .why = PCT_WHY_BUDGET
            };
            for (uint64_t i = 1; i < PCT_DEEPEST_DRAWN; i++)
                found |= point.step == change_point(&run, i);
            assert_true(found);
        }
        assert_true(changes < PCT_DEEPEST_DRAWN);
        drawn[changes + 1]++;
        free_state(&pct_strategy_pct, &run, state);
    }
    uint64_t eighths[] = { drawn[1],     drawn[2] / 2, drawn[2] / 2, drawn[3] / 2,
                           drawn[3] / 2, drawn[4] / 2, drawn[4] / 2, drawn[5] };
    assert_true(chi_square(eighths, 8) < chi_square_limit(8));
}

/* k must allow for d-1 different change points, or the user is told. */
static void test_depth_beyond_k(void **unused)
{
    (void)unused;
    struct pct_run run = params_of(1, 1, 1);
    void *state = aligned_alloc(64, (pct_strategy_pct.state_size(&run) + 63u) & ~(size_t)63);
    for (uint64_t depth = 0; depth <= 64; depth++)
        for (uint64_t k = 1; k <= 70; k++) {
            const char *why = NULL;
            run = params_of(1, depth, k);
            memset(state, 0, pct_strategy_pct.state_size(&run));
            assert_int_equal(pct_strategy_pct.start(state, &run, &why), 0);
            assert_int_equal(why != NULL, depth > k + 1);
        }
    free(state);
}

/* What k should have been: all steps; without those made alone; the longest phase. */
static void test_points(void **unused)
{
    (void)unused;
    static const uint64_t expected[2][2] = { { 60, 45 }, { 20, 15 } };
    for (uint64_t variant = 0; variant < 4; variant++) {
        struct pct_run run = params_of(variant, 1, 1000);
        run.param[PARAM_SEQUENTIAL] = variant & 1;
        run.param[PARAM_PHASES] = variant >> 1;
        const struct pct_strategy *strategy = &pct_strategy_pct;
        void *state = new_state(strategy, &run);
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
        for (uint32_t t = 0; t < 2; t++)
            strategy->created(state, t);
        strategy->enable(state, 0);
        strategy->pick(state, &point);
        /* Three times: six steps alone, the last of which enables the other thread; fourteen beside it. */
        for (int i = 0; i < 3; i++) {
            strategy->enable(state, 1);
            point = (struct pct_point){ .step = point.step + 6, .current = 0, .enabled = 2, .why = PCT_WHY_ENABLED };
            strategy->pick(state, &point);
            strategy->disable(state, 1);
            point = (struct pct_point){ .step = point.step + 14, .current = 0, .enabled = 1, .why = PCT_WHY_ENABLED };
            if (i < 2)
                strategy->pick(state, &point);
        }
        assert_int_equal(strategy->points(state, 14), expected[variant >> 1][variant & 1]);
        free_state(strategy, &run, state);
    }
}

/* The extreme parameters. */
static void test_figure7_limits(void **unused)
{
    (void)unused;
    const struct pct_param *params = pct_strategy_pct.params;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const uint64_t depth[] = { 1, params[PARAM_DEPTH].max };
        const uint64_t k[] = { params[PARAM_K].min, params[PARAM_K].max };
        for (int i = 0; i < 4; i++) {
            struct pct_run run = params_of(i & 1 ? seed : UINT64_MAX - seed, depth[i & 1], k[i / 2]);
            compare_run(&run, MODEL_THREADS, 300, seed);
        }
    }
}

static uint32_t factorial(uint32_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* The number of a permutation among all of its length. */
static uint32_t permutation_number(const uint32_t *order, uint32_t n)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t smaller = 0;
        for (uint32_t j = i + 1; j < n; j++)
            smaller += order[j] < order[i];
        number += smaller * factorial(n - 1 - i);
    }
    return number;
}

/* "Random variable pi in Permutations(n)": all n! orders are equally likely, over consecutive seeds, as a campaign has
 * them. */
static void test_permutation_uniform(void **unused)
{
    (void)unused;
    for (uint32_t n = 2; n <= 5; n++) {
        uint64_t count[120] = { 0 };
        uint32_t cells = factorial(n);
        for (uint64_t seed = 0; seed < 400u * cells; seed++) {
            uint32_t order[5];
            observe_order(seed, n, order);
            count[permutation_number(order, n)]++;
        }
        assert_true(chi_square(count, cells) < chi_square_limit(cells));
    }
}

/* Theorem 9 needs any one thread to be the lowest of n with probability 1/n: the place of thread 3 among 100. */
static void test_permutation_large(void **unused)
{
    (void)unused;
    enum { N = 100 };
    uint64_t place[N] = { 0 }, lowest[N] = { 0 };
    for (uint64_t seed = 0; seed < 200 * N; seed++) {
        uint32_t order[N];
        observe_order(seed, N, order);
        for (uint32_t i = 0; i < N; i++)
            place[i] += order[i] == 3;
        lowest[order[N - 1]]++;
    }
    assert_true(chi_square(place, N) < chi_square_limit(N));
    assert_true(chi_square(lowest, N) < chi_square_limit(N));
}

/* All threads that there can be have priorities of their own, and a thread's does not depend on who else exists or on
 * when it was created. */
static void test_permutation_stable(void **unused)
{
    (void)unused;
    static uint32_t all[PCT_MAX_THREADS];
    static bool seen[PCT_MAX_THREADS];
    observe_order(99, PCT_MAX_THREADS, all);
    for (uint32_t i = 0; i < PCT_MAX_THREADS; i++) {
        assert_false(seen[all[i]]);
        seen[all[i]] = true;
    }
    uint32_t few[50], at = 0;
    observe_order(99, 50, few);
    for (uint32_t i = 0; i < PCT_MAX_THREADS; i++)
        if (all[i] < 50)
            assert_int_equal(all[i], few[at++]);
    assert_int_equal(at, 50);
}

/* One thread runs alone; the budgets add up to the sorted change points, duplicates once. Counts where k_i fell. */
static void observe_changes(const struct pct_run *run, bool *changed)
{
    void *state = new_state(&pct_strategy_pct, run);
    pct_strategy_pct.created(state, 0);
    pct_strategy_pct.enable(state, 0);
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
    for (;;) {
        struct pct_choice choice = pct_strategy_pct.pick(state, &point);
        if (choice.budget == PCT_UNLIMITED)
            break;
        assert_true(choice.budget > 0);
        point.step += choice.budget;
        point.ran = choice.budget;
        point.current = 0;
        point.why = PCT_WHY_BUDGET;
        assert_true(point.step <= run->param[PARAM_K]);
        changed[point.step] = true;
    }
    free_state(&pct_strategy_pct, run, state);
}

/* "Random variables k_1 .. k_(d-1) in {1 .. k}": uniform for every k up to 24, and for d = 3 both of them, as an
 * ordered pair, duplicates included. */
static void test_changes_uniform(void **unused)
{
    (void)unused;
    for (uint64_t k = 2; k <= 24; k++) {
        uint64_t count[25] = { 0 };
        for (uint64_t seed = 0; seed < 500 * k; seed++) {
            bool changed[25] = { false };
            struct pct_run run = params_of(seed, 2, k);
            observe_changes(&run, changed);
            uint64_t total = 0;
            for (uint64_t step = 1; step <= k; step++) {
                count[step - 1] += changed[step];
                total += changed[step];
            }
            assert_int_equal(total, 1);
        }
        assert_true(chi_square(count, k) < chi_square_limit(k));
    }
}

static void test_changes_independent(void **unused)
{
    (void)unused;
    for (uint64_t k = 2; k <= 6; k++) {
        uint64_t pairs[36] = { 0 };
        uint64_t once = 0, seeds = 2000 * k * k;
        for (uint64_t seed = 0; seed < seeds; seed++) {
            struct pct_run run = params_of(seed, 3, k);
            bool changed[7] = { false };
            observe_changes(&run, changed);
            uint64_t first = change_point(&run, 1), second = change_point(&run, 2), total = 0;
            for (uint64_t step = 1; step <= k; step++)
                total += changed[step];
            assert_true(changed[first] && changed[second]);
            assert_int_equal(total, first == second ? 1 : 2);
            once += total == 1;
            pairs[(first - 1) * k + second - 1]++;
        }
        assert_true(chi_square(pairs, k * k) < chi_square_limit(k * k));
        /* Drawn with replacement: they coincide once in k. Two cells of expected shares 1/k and 1-1/k. */
        double expected = (double)seeds / (double)k, rest = (double)seeds - expected;
        double deviation = (double)once - expected;
        assert_true(deviation * deviation * (1 / expected + 1 / rest) < chi_square_limit(2));
    }
}

/* Who runs after thread 0 of two has executed step 1 under d, with k = 1: all change points fall on step 1, and the
 * last one (i = d-1) leaves it the priority 1. */
static void test_change_demotes(void **unused)
{
    (void)unused;
    for (uint64_t depth = 2; depth <= 64; depth++) {
        struct pct_run run = params_of(depth, depth, 1);
        void *state = new_state(&pct_strategy_pct, &run);
        for (uint32_t t = 0; t < 2; t++) {
            pct_strategy_pct.created(state, t);
            pct_strategy_pct.enable(state, t);
        }
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 2, .why = PCT_WHY_START };
        struct pct_choice first = pct_strategy_pct.pick(state, &point);
        assert_int_equal(first.budget, 1);
        point = (struct pct_point){ .step = 1, .ran = 1, .current = first.thread, .enabled = 2, .why = PCT_WHY_BUDGET };
        struct pct_choice second = pct_strategy_pct.pick(state, &point);
        assert_int_equal(second.thread, 1 - first.thread);
        assert_int_equal(second.budget, PCT_UNLIMITED);
        free_state(&pct_strategy_pct, &run, state);
    }
}

/* The thread that executed step k_i is the one chosen before, when nobody holds the baton at the pick. */
static void test_change_without_current(void **unused)
{
    (void)unused;
    struct pct_run run = params_of(5, 2, 1);
    void *state = new_state(&pct_strategy_pct, &run);
    for (uint32_t t = 0; t < 2; t++) {
        pct_strategy_pct.created(state, t);
        pct_strategy_pct.enable(state, t);
    }
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 2, .why = PCT_WHY_START };
    uint32_t first = pct_strategy_pct.pick(state, &point).thread;
    point = (struct pct_point){ .step = 1, .ran = 1, .current = PCT_NO_THREAD, .enabled = 2, .why = PCT_WHY_START };
    assert_int_equal(pct_strategy_pct.pick(state, &point).thread, 1 - first);
    free_state(&pct_strategy_pct, &run, state);
}

/* Threads that spin for ever let each other go on, and the ranks below all others never run out. */
static void test_spin_for_ever(void **unused)
{
    (void)unused;
    enum { THREADS = 5, ROUNDS = 4000000 };
    struct pct_run run = params_of(3, 3, 1000);
    void *state = new_state(&pct_strategy_pct, &run);
    for (uint32_t t = 0; t < THREADS; t++) {
        pct_strategy_pct.created(state, t);
        pct_strategy_pct.enable(state, t);
    }
    uint64_t ran[THREADS] = { 0 };
    uint32_t rounds_of_one = 0, longest = 0;
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = THREADS, .why = PCT_WHY_START };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint32_t thread = pct_strategy_pct.pick(state, &point).thread;
        ran[thread]++;
        rounds_of_one = thread == point.current ? rounds_of_one + 1 : 1;
        longest = rounds_of_one > longest ? rounds_of_one : longest;
        pct_strategy_pct.spinning(state, thread, round + 1);
        point = (struct pct_point){
            .step = point.step + 1, .ran = 1, .current = thread, .enabled = THREADS, .why = PCT_WHY_BUDGET
        };
    }
    /* A turn is geometric with mean 16: the chance of one of 250,000 that lasts 500 spins is below 1e-8. */
    assert_true(longest < 500);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_true(ran[t] > ROUNDS / THREADS * 9 / 10 && ran[t] < ROUNDS / THREADS * 11 / 10);
    free_state(&pct_strategy_pct, &run, state);
}

/* As many threads as there can be, each put below all others again and again: the order of who was put there stays
 * right when the ranks move up. */
static void test_ranks_move_up(void **unused)
{
    (void)unused;
    struct pct_run run = params_of(8, 1, 1);
    run.threads = PCT_MAX_THREADS;
    void *state = new_state(&pct_strategy_pct, &run);
    for (uint32_t t = 0; t < PCT_MAX_THREADS; t++) {
        pct_strategy_pct.created(state, t);
        pct_strategy_pct.enable(state, t);
    }
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = PCT_MAX_THREADS, .why = PCT_WHY_START };
    static uint32_t turn[PCT_MAX_THREADS];
    for (uint64_t i = 0; i < UINT64_C(5) * PCT_MAX_THREADS; i++) {
        uint32_t thread = pct_strategy_pct.pick(state, &point).thread;
        /* Put last once each, their order stays the same for ever. */
        if (i < PCT_MAX_THREADS)
            turn[i] = thread;
        else
            assert_int_equal(thread, turn[i % PCT_MAX_THREADS]);
        pct_strategy_pct.final_wait(state, thread);
        point.current = thread;
        point.why = PCT_WHY_BUDGET;
    }
    free_state(&pct_strategy_pct, &run, state);
}

/* Which waiter a signal wakes is uniform, and choices of one step among different numbers do not depend on each
 * other. */
static void test_choose(void **unused)
{
    (void)unused;
    struct pct_run run = params_of(11, 3, 1000);
    void *state = new_state(&pct_strategy_pct, &run);
    for (uint32_t waiters = 2; waiters <= 8; waiters++) {
        uint64_t count[8 * 8] = { 0 };
        for (uint64_t step = 0; step < 50000; step++) {
            uint32_t a = pct_strategy_pct.choose(state, waiters, step);
            uint32_t b = pct_strategy_pct.choose(state, waiters + 1, step);
            assert_true(a < waiters && b <= waiters);
            if (b < waiters)
                count[a * waiters + b]++;
        }
        assert_true(chi_square(count, (size_t)waiters * waiters) < chi_square_limit((size_t)waiters * waiters));
    }
    free_state(&pct_strategy_pct, &run, state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure7_small),
        cmocka_unit_test(test_figure7_large),
        cmocka_unit_test(test_figure7_refined),
        cmocka_unit_test(test_figure7_limits),
        cmocka_unit_test(test_depth_drawn),
        cmocka_unit_test(test_depth_beyond_k),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_permutation_uniform),
        cmocka_unit_test(test_permutation_large),
        cmocka_unit_test(test_permutation_stable),
        cmocka_unit_test(test_changes_uniform),
        cmocka_unit_test(test_changes_independent),
        cmocka_unit_test(test_change_demotes),
        cmocka_unit_test(test_change_without_current),
        cmocka_unit_test(test_spin_for_ever),
        cmocka_unit_test(test_ranks_move_up),
        cmocka_unit_test(test_choose),
    };
    return cmocka_run_group_tests_name("strategy pct", tests, NULL, NULL);
}
