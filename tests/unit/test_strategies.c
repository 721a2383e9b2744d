/* Unit tests of the built-in strategies other than pct (test_strategy_pct.c), and of what all of them have in common:
 * each is compared step by step with a naive model over random abstract runs. Links with: strategies/ *.c. */
#include "abstract_run.h"
#include "../../strategies/strategies.h"
#include "chi_square.h"
#include <pct/random.h>

static struct pct_run defaults_of(const struct pct_strategy *strategy, uint64_t seed)
{
    struct pct_run run = { .seed = seed };
    for (int i = 0; strategy->params && strategy->params[i].name; i++)
        run.param[i] = strategy->params[i].default_value;
    return run;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length < 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* Whatever the command prints and a token holds is in order. */
static void test_tables(void **unused)
{
    (void)unused;
    size_t count = 0;
    for (const struct pct_strategy *const *at = pct_strategies; *at; at++, count++) {
        const struct pct_strategy *strategy = *at;
        assert_int_equal(strategy->abi, PCT_STRATEGY_ABI);
        assert_true(is_name(strategy->name));
        assert_true(strlen(strategy->summary) > 0);
        assert_null(strchr(strategy->summary, '\n'));
        assert_ptr_equal(pct_strategy_find(strategy->name), strategy);
        assert_true(strategy->enable && strategy->disable && strategy->pick && strategy->start && strategy->state_size);
        for (int i = 0; strategy->params && strategy->params[i].name; i++) {
            const struct pct_param *param = &strategy->params[i];
            assert_true(i < PCT_MAX_PARAMS);
            assert_true(is_name(param->name));
            assert_true(strcmp(param->name, "time") != 0 && strcmp(param->name, "max-steps") != 0);
            assert_true(param->min <= param->default_value && param->default_value <= param->max);
            assert_true(strlen(param->help) > 0);
            assert_null(strchr(param->help, '\n'));
        }
    }
    assert_int_equal(count, 20);
}

static void test_find(void **unused)
{
    (void)unused;
    assert_string_equal(pct_strategy_find("pct")->name, "pct");
    assert_string_equal(pct_strategy_find("random-walk")->name, "random-walk");
    assert_string_equal(pct_strategy_find("random-delay")->name, "random-delay");
    assert_string_equal(pct_strategy_find("round-robin")->name, "round-robin");
    assert_string_equal(pct_strategy_find("none")->name, "none");
    assert_string_equal(pct_strategy_find("delay-bound")->name, "delay-bound");
    assert_null(pct_strategy_find(""));
    assert_null(pct_strategy_find("pc"));
    assert_null(pct_strategy_find("pct "));
    assert_null(pct_strategy_find("PCT"));
}

static uint64_t schedule(const struct pct_strategy *strategy, uint64_t seed, uint64_t variant)
{
    struct pct_run run = defaults_of(strategy, seed);
    /* With two delays or preemptions in 1000 steps, two runs of 400 steps may well be the same. */
    for (int i = 0; strategy->params && strategy->params[i].name; i++)
        if (!strcmp(strategy->params[i].name, "bound"))
            run.param[i] = 20;
    struct model nothing = { .data = NULL };
    return run_abstract(strategy, &run, &nothing, 6, 400, variant);
}

/* A pure function of parameters, seed and calls; and the seed matters where there is chance. */
static void test_seeds(void **unused)
{
    (void)unused;
    for (const struct pct_strategy *const *at = pct_strategies; *at; at++) {
        bool chance = strcmp((*at)->name, "round-robin") != 0 && strcmp((*at)->name, "none") != 0 &&
                      strcmp((*at)->name, "schedule") != 0;
        int different = 0;
        for (uint64_t seed = 0; seed < 50; seed++) {
            uint64_t once = schedule(*at, seed, 5);
            assert_int_equal(once, schedule(*at, seed, 5));
            different += once != schedule(*at, seed + 1, 5);
        }
        assert_true(chance ? different > 45 : different == 0);
    }
}

/* If one of these changes, tokens that users wrote down replay something else: their version must go up. */
static void test_pinned(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        uint64_t hash;
    } pinned[] = {
        /* The runs have no join that succeeds, so pctcp is pct; and seed 42 of portfolio is. */
        { "pct", UINT64_C(0x6ff6332d80d35c85) },          { "random-walk", UINT64_C(0xcadf814923e7bd82) },
        { "random-delay", UINT64_C(0x0f8fc91bfafd101a) }, { "round-robin", UINT64_C(0x988663901e8c8785) },
        { "none", UINT64_C(0xd09a8be2fc200f38) },         { "tapct", UINT64_C(0xc51b6f8b975823db) },
        { "pctcp", UINT64_C(0x6ff6332d80d35c85) },        { "pos", UINT64_C(0xa53117a99dff4257) },
        { "urw", UINT64_C(0x7773e403f26ea95c) },          { "surw", UINT64_C(0xa36fe08ce4d164b9) },
        { "delay-bound", UINT64_C(0xa55c5474770eb71f) },  { "preemption-bound", UINT64_C(0x7eb6f1c7a23b3451) },
        { "portfolio", UINT64_C(0x6ff6332d80d35c85) },    { "schedule", UINT64_C(0xd09a8be2fc200f38) },
        { "order", UINT64_C(0xe93f9c983358fd8f) },        { "surw-one", UINT64_C(0x9752b4661bff72a7) },
        { "pct-large", UINT64_C(0x0f37b444cbe215d0) },
    };
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++)
        assert_int_equal(schedule(pct_strategy_find(pinned[i].name), 42, 42), pinned[i].hash);
}

static void compare_runs(const struct pct_strategy *strategy, const struct pct_run *run, struct model *model,
                         void *data, const void *initial, size_t size, uint64_t variant)
{
    uint64_t random = variant;
    memcpy(data, initial, size);
    model->data = data;
    run_abstract(strategy, run, model, 1 + test_below(&random, MODEL_THREADS), 400, variant);
}

/* random-walk: the enabled threads in an array, the last one filling gaps; a number for each pick. */
struct walk {
    uint64_t seed;
    uint32_t member[MODEL_THREADS], size;
    uint64_t step;
    uint32_t redraw;
};

static void walk_enabled(void *data, const struct world *world, uint32_t thread)
{
    struct walk *m = data;
    (void)world;
    m->member[m->size++] = thread;
}

static void walk_disabled(void *data, uint32_t thread)
{
    struct walk *m = data;
    uint32_t i = 0;
    while (m->member[i] != thread)
        i++;
    m->member[i] = m->member[--m->size];
}

static uint32_t walk_next(void *data, const struct world *world, bool picked)
{
    struct walk *m = data;
    assert_true(picked);
    assert_int_equal(m->size, enabled_count(world));
    m->redraw = world->step == m->step ? m->redraw + 1 : 0;
    m->step = world->step;
    return m->member[pct_random_below(m->seed, PCT_STREAM_PICK, world->step << 16 | m->redraw, m->size)];
}

static void test_walk_model(void **unused)
{
    (void)unused;
    struct model model = { .enabled = walk_enabled, .disabled = walk_disabled, .next = walk_next };
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct pct_run run = { .seed = seed };
        struct walk data, initial = { .seed = seed };
        compare_runs(&pct_strategy_random_walk, &run, &model, &data, &initial, sizeof data, seed);
    }
}

/* Uniform over the enabled: at one step over consecutive seeds; over the steps of one run; and for the pairs of
 * neighbouring picks, also when the second is made at the same step because the first thread was blocked. */
static void test_walk_uniform(void **unused)
{
    (void)unused;
    const struct pct_strategy *strategy = &pct_strategy_random_walk;
    for (uint32_t n = 2; n <= 9; n++) {
        uint64_t first[9] = { 0 }, pairs[81] = { 0 }, again[81] = { 0 };
        for (uint64_t seed = 0; seed < 10000; seed++) {
            struct pct_run run = { .seed = seed, .threads = n };
            void *state = new_state(strategy, &run);
            for (uint32_t t = 0; t < n; t++)
                strategy->enable(state, t);
            struct pct_point point = { .current = PCT_NO_THREAD, .enabled = n, .why = PCT_WHY_START };
            uint32_t a = strategy->pick(state, &point).thread;
            point = (struct pct_point){ .step = 1, .ran = 1, .current = a, .enabled = n, .why = PCT_WHY_BUDGET };
            struct pct_choice choice = strategy->pick(state, &point);
            uint32_t b = choice.thread;
            assert_int_equal(choice.budget, 1);
            strategy->disable(state, b);
            point = (struct pct_point){ .step = 1, .current = b, .enabled = n - 1, .why = PCT_WHY_BLOCKED };
            uint32_t c = strategy->pick(state, &point).thread;
            assert_int_not_equal(b, c);
            first[a]++;
            pairs[a * n + b]++;
            again[b * (n - 1) + (c > b ? c - 1 : c)]++;
            free_state(strategy, &run, state);
        }
        assert_true(chi_square(first, n) < chi_square_limit(n));
        assert_true(chi_square(pairs, (size_t)n * n) < chi_square_limit((size_t)n * n));
        assert_true(chi_square(again, (size_t)n * (n - 1)) < chi_square_limit((size_t)n * (n - 1)));

        uint64_t ran[9] = { 0 };
        struct pct_run run = { .seed = n };
        void *state = new_state(strategy, &run);
        for (uint32_t t = 0; t < n; t++)
            strategy->enable(state, t);
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = n, .why = PCT_WHY_START };
        for (uint64_t step = 0; step < 20000; step++) {
            uint32_t thread = strategy->pick(state, &point).thread;
            ran[thread]++;
            point = (struct pct_point){
                .step = step + 1, .ran = 1, .current = thread, .enabled = n, .why = PCT_WHY_BUDGET
            };
        }
        assert_true(chi_square(ran, n) < chi_square_limit(n));
        free_state(strategy, &run, state);
    }
}

/* random-delay: the machine of random_delay.c's model. The threads of the next tick are found by a scan; those of the
 * present one stand in an array as the strategy has them, for a number drawn means a place in it: the thread that came
 * to the tick last is first, and the last one fills gaps. */
struct machine {
    uint64_t seed, inverse, length, now;
    uint64_t time[MODEL_THREADS], steps[MODEL_THREADS];
    uint64_t came[MODEL_THREADS], comings; /* in which order the threads came to their times */
    uint32_t due[MODEL_THREADS], size;
};

static uint64_t machine_draw(const struct machine *m, uint32_t thread, unsigned which, uint64_t bound)
{
    return pct_random_below(m->seed, PCT_STREAM_DELAY, ((uint64_t)thread << 48) + 2 * m->steps[thread] + which, bound);
}

static void machine_sleep(struct machine *m, uint32_t thread)
{
    if (machine_draw(m, thread, 0, m->inverse) == 0)
        m->time[thread] += 1 + machine_draw(m, thread, 1, m->length);
    m->came[thread] = ++m->comings;
}

static void machine_created(void *data, uint32_t thread)
{
    struct machine *m = data;
    m->time[thread] = m->now;
    machine_sleep(m, thread);
}

static void machine_enabled(void *data, const struct world *world, uint32_t thread)
{
    struct machine *m = data;
    (void)world;
    m->time[thread] = m->time[thread] > m->now ? m->time[thread] : m->now;
    m->came[thread] = ++m->comings;
}

static void machine_disabled(void *data, uint32_t thread)
{
    struct machine *m = data;
    for (uint32_t i = 0; i < m->size; i++)
        if (m->due[i] == thread)
            m->due[i] = m->due[--m->size];
}

static void machine_advance(struct machine *m, const struct world *world)
{
    uint64_t tick = UINT64_MAX;
    for (uint32_t t = 0; t < world->threads; t++)
        if (world->enabled[t] && m->time[t] < tick)
            tick = m->time[t];
    assert_true(tick >= m->now && tick <= m->now + m->length + 1);
    m->now = tick + 1;
    for (uint64_t came = m->comings; came > 0; came--)
        for (uint32_t t = 0; t < world->threads; t++)
            if (world->enabled[t] && m->time[t] == tick && m->came[t] == came)
                m->due[m->size++] = t;
}

static uint32_t machine_next(void *data, const struct world *world, bool picked)
{
    struct machine *m = data;
    assert_true(picked);
    if (!m->size)
        machine_advance(m, world);
    uint64_t place = m->now << 15 | m->size;
    uint32_t thread = m->due[pct_random_below(m->seed, PCT_STREAM_PICK, place, m->size)];
    for (uint32_t t = 0; t < world->threads; t++) /* nobody is late: simulated time does not go back */
        assert_true(!world->enabled[t] || m->time[thread] <= m->time[t]);
    return thread;
}

static void machine_stepped(void *data, const struct world *world, uint32_t thread)
{
    struct machine *m = data;
    (void)world;
    machine_disabled(m, thread);
    m->time[thread]++;
    m->steps[thread]++;
    machine_sleep(m, thread);
}

static void test_delay_model(void **unused)
{
    (void)unused;
    struct model model = { .created = machine_created,
                           .enabled = machine_enabled,
                           .disabled = machine_disabled,
                           .next = machine_next,
                           .stepped = machine_stepped };
    static const uint64_t inverses[] = { 1, 2, 5, 50, 1000000000 }, lengths[] = { 1, 2, 62, 63, 100, 100000 };
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct pct_run run = { .seed = seed, .param = { inverses[seed % 5], lengths[seed / 5 % 6] } };
        struct machine data, initial = { .seed = seed, .inverse = run.param[0], .length = run.param[1] };
        compare_runs(&pct_strategy_random_delay, &run, &model, &data, &initial, sizeof data, seed);
    }
}

/* A thread that is blocked and enabled again in its own step goes on as late as any can: the last tick of the window,
 * for lengths with which the window is the whole ring (2, 6, 62). */
static void test_delay_window(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = { 1, 2, 6, 7, 62, 63 };
    for (uint64_t seed = 0; seed < 120; seed++) {
        const struct pct_strategy *strategy = &pct_strategy_random_delay;
        struct pct_run run = { .seed = seed, .param = { 1 + seed / 6 % 3, lengths[seed % 6] } };
        struct machine m = { .seed = seed, .inverse = run.param[0], .length = run.param[1] };
        struct world world = { .threads = 5 };
        void *state = new_state(strategy, &run);
        for (uint32_t t = 0; t < world.threads; t++) {
            strategy->created(state, t);
            machine_created(&m, t);
            strategy->enable(state, t);
            machine_enabled(&m, &world, t);
            world.enabled[t] = true;
        }
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = world.threads, .why = PCT_WHY_START };
        uint64_t latest = 0;
        for (uint64_t step = 1; step <= 2000; step++) {
            uint32_t thread = strategy->pick(state, &point).thread;
            assert_int_equal(thread, machine_next(&m, &world, true));
            strategy->disable(state, thread);
            strategy->enable(state, thread);
            machine_disabled(&m, thread);
            machine_enabled(&m, &world, thread);
            machine_stepped(&m, &world, thread);
            latest = m.time[thread] - m.now > latest ? m.time[thread] - m.now : latest;
            point = (struct pct_point){
                .step = step, .ran = 1, .current = thread, .enabled = world.threads, .why = PCT_WHY_ENABLED
            };
        }
        assert_int_equal(latest, run.param[1] + 1);
        free_state(strategy, &run, state);
    }
}

/* Steps that were not of its choosing take no time: whoever made them, the two threads go on side by side. */
static void test_delay_forced(void **unused)
{
    (void)unused;
    const struct pct_strategy *strategy = &pct_strategy_random_delay;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct pct_run run = { .seed = seed, .param = { 1000000000, 100 } };
        void *state = new_state(strategy, &run);
        for (uint32_t t = 0; t < 2; t++) {
            strategy->created(state, t);
            strategy->enable(state, t);
        }
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 2, .why = PCT_WHY_START };
        uint32_t chosen = strategy->pick(state, &point).thread;
        /* The other one makes a thousand steps, and then both are left in this tick. */
        point =
            (struct pct_point){ .step = 1000, .ran = 1000, .current = 1 - chosen, .enabled = 2, .why = PCT_WHY_BUDGET };
        uint32_t tick[20];
        for (uint32_t i = 0; i < 20; i++) {
            tick[i] = strategy->pick(state, &point).thread;
            /* The chosen one makes a thousand steps: it counts as one. */
            point = (struct pct_point){
                .step = point.step + 1000, .ran = 1000, .current = tick[i], .enabled = 2, .why = PCT_WHY_BUDGET
            };
        }
        for (uint32_t i = 0; i < 20; i += 2)
            assert_int_equal(tick[i], 1 - tick[i + 1]);
        free_state(strategy, &run, state);
    }
}

/* How many of `steps` steps each of n threads made that are always enabled. lead: the largest difference on the way.
 * ran: which thread made each step, NULL if that is not asked for. */
static void race(const struct pct_run *run, uint32_t n, uint64_t steps, uint64_t *made, uint64_t *lead, uint32_t *ran)
{
    const struct pct_strategy *strategy = &pct_strategy_random_delay;
    void *state = new_state(strategy, run);
    for (uint32_t t = 0; t < n; t++) {
        strategy->created(state, t);
        strategy->enable(state, t);
        made[t] = 0;
    }
    *lead = 0;
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = n, .why = PCT_WHY_START };
    for (uint64_t step = 0; step < steps; step++) {
        uint32_t thread = strategy->pick(state, &point).thread;
        if (ran)
            ran[step] = thread;
        made[thread]++;
        for (uint32_t t = 0; t < n; t++)
            if (made[thread] > made[t] && made[thread] - made[t] > *lead)
                *lead = made[thread] - made[t];
        point =
            (struct pct_point){ .step = step + 1, .ran = 1, .current = thread, .enabled = n, .why = PCT_WHY_BUDGET };
    }
    free_state(strategy, run, state);
}

/* Without sleeps all threads advance in step, and their order in a tick is uniform and independent of that in the tick
 * before; with sleeps they drift apart by as much as a sleep is long, and all make the same number of steps in the long
 * run. */
static void test_delay_machine(void **unused)
{
    (void)unused;
    enum { N = 4 };
    uint64_t made[N], lead, orders[N * N * N * N] = { 0 }, pairs[N * N] = { 0 };
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct pct_run run = { .seed = seed, .param = { 1000000000, 100 } };
        uint32_t ran[10 * N];
        race(&run, N, 10 * N, made, &lead, ran);
        orders[((ran[0] * N + ran[1]) * N + ran[2]) * N + ran[3]]++;
        for (uint32_t tick = 0; tick < 10; tick += 2)
            pairs[ran[tick * N] * N + ran[(tick + 1) * N]]++;
        assert_int_equal(lead, 1);
        for (uint32_t t = 0; t < N; t++)
            assert_int_equal(made[t], 10);
    }
    uint32_t possible = 0; /* 4! orders: as many places are in use, and these evenly */
    for (uint32_t i = 0; i < N * N * N * N; i++)
        if (orders[i])
            orders[possible++] = orders[i];
    assert_int_equal(possible, 24);
    assert_true(chi_square(orders, possible) < chi_square_limit(possible));
    assert_true(chi_square(pairs, (size_t)N * N) < chi_square_limit((size_t)N * N));

    struct pct_run run = { .seed = 1, .param = { 50, 100 } };
    race(&run, N, 200000, made, &lead, NULL);
    assert_true(lead > 50);
    /* About 1,000 sleeps in 50,000 steps, of 1 to 100 ticks: their sum has the mean 50,500 and the standard deviation
     * sqrt(1000 * 3383) = 1,840. Five of those are 9 % of the 100,500 ticks that a thread takes. */
    for (uint32_t t = 0; t < N; t++)
        assert_true(made[t] > 45000 && made[t] < 55000);
}

/* round-robin */
struct turns {
    uint64_t quantum, left;
    uint32_t turn;
};

static void turns_disabled(void *data, uint32_t thread)
{
    struct turns *m = data;
    if (m->turn == thread)
        m->left = 0;
}

static uint32_t turns_next(void *data, const struct world *world, bool picked)
{
    struct turns *m = data;
    (void)picked;
    if (!m->left) {
        do
            m->turn = m->turn + 1 < world->threads ? m->turn + 1 : 0;
        while (!world->enabled[m->turn]);
        m->left = m->quantum;
    }
    return m->turn;
}

static void turns_stepped(void *data, const struct world *world, uint32_t thread)
{
    struct turns *m = data;
    (void)world;
    assert_int_equal(thread, m->turn);
    m->left--;
}

static void turns_spins(void *data, uint32_t thread)
{
    turns_disabled(data, thread);
}

static void test_round_robin_model(void **unused)
{
    (void)unused;
    struct model model = {
        .disabled = turns_disabled, .next = turns_next, .stepped = turns_stepped, .spins = turns_spins
    };
    static const uint64_t quanta[] = { 1, 2, 3, 10, 100, UINT64_C(1000000000000) };
    for (uint64_t variant = 0; variant < 1200; variant++) {
        struct pct_run run = { .seed = variant, .param = { quanta[variant % 6] } };
        struct turns data, initial = { .quantum = run.param[0], .turn = PCT_NO_THREAD };
        compare_runs(&pct_strategy_round_robin, &run, &model, &data, &initial, sizeof data, variant);
    }
}

/* A turn of three steps that another thread's becoming enabled interrupts twice: three steps all the same. */
static void test_round_robin_interrupted(void **unused)
{
    (void)unused;
    const struct pct_strategy *strategy = &pct_strategy_round_robin;
    struct pct_run run = { .param = { 3 } };
    void *state = new_state(strategy, &run);
    strategy->enable(state, 0);
    strategy->enable(state, 1);
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 2, .why = PCT_WHY_START };
    struct pct_choice choice = strategy->pick(state, &point);
    assert_int_equal(choice.thread, 0);
    assert_int_equal(choice.budget, 3);
    for (uint64_t step = 1; step <= 2; step++) {
        strategy->enable(state, 1 + (uint32_t)step);
        point = (struct pct_point){
            .step = step, .ran = 1, .current = 0, .enabled = 2 + (uint32_t)step, .why = PCT_WHY_ENABLED
        };
        choice = strategy->pick(state, &point);
        assert_int_equal(choice.thread, 0);
        assert_int_equal(choice.budget, 3 - step);
    }
    point = (struct pct_point){ .step = 3, .ran = 1, .current = 0, .enabled = 4, .why = PCT_WHY_BUDGET };
    choice = strategy->pick(state, &point);
    assert_int_equal(choice.thread, 1);
    assert_int_equal(choice.budget, 3);
    free_state(strategy, &run, state);
}

/* none: who runs goes on until it blocks; then the lowest id. */
static uint32_t none_next(void *data, const struct world *world, bool picked)
{
    uint32_t *current = data;
    (void)picked;
    if (*current == PCT_NO_THREAD || !world->enabled[*current])
        for (*current = 0; !world->enabled[*current]; ++*current)
            ;
    return *current;
}

static void test_none_model(void **unused)
{
    (void)unused;
    struct model model = { .next = none_next };
    for (uint64_t variant = 0; variant < 300; variant++) {
        struct pct_run run = { .seed = variant };
        uint32_t data, initial = PCT_NO_THREAD;
        compare_runs(&pct_strategy_none, &run, &model, &data, &initial, sizeof data, variant);
    }
}

/* choose(), where there is one by chance: in bounds, uniform, the choices of one step independent of each other. */
static void test_choose(void **unused)
{
    (void)unused;
    for (const struct pct_strategy *const *at = pct_strategies; *at; at++) {
        if (!(*at)->choose || !strcmp((*at)->name, "schedule"))
            continue;
        struct pct_run run = defaults_of(*at, 3);
        void *state = new_state(*at, &run);
        for (uint32_t waiters = 2; waiters <= 6; waiters++) {
            uint64_t count[36] = { 0 };
            for (uint64_t step = 0; step < 20000; step++) {
                uint32_t a = (*at)->choose(state, waiters, step), b = (*at)->choose(state, waiters + 1, step);
                assert_true(a < waiters && b <= waiters);
                if (b < waiters)
                    count[a * waiters + b]++;
            }
            assert_true(chi_square(count, (size_t)waiters * waiters) < chi_square_limit((size_t)waiters * waiters));
        }
        free_state(*at, &run, state);
    }
}

/* The highest thread id there can be. */
static void test_last_thread(void **unused)
{
    (void)unused;
    for (const struct pct_strategy *const *at = pct_strategies; *at; at++) {
        const struct pct_strategy *strategy = *at;
        const uint32_t last = PCT_MAX_THREADS - 1;
        struct pct_run run = defaults_of(strategy, 9);
        void *state = new_state(strategy, &run);
        for (uint32_t t = 0; t <= last && strategy->created; t++)
            strategy->created(state, t);
        strategy->enable(state, last);
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
        assert_int_equal(strategy->pick(state, &point).thread, last);
        point = (struct pct_point){ .step = 1, .ran = 1, .current = last, .enabled = 1, .why = PCT_WHY_BUDGET };
        assert_int_equal(strategy->pick(state, &point).thread, last);
        strategy->disable(state, last);
        strategy->enable(state, 0);
        point = (struct pct_point){ .step = 2, .ran = 1, .current = last, .enabled = 1, .why = PCT_WHY_FINISHED };
        assert_int_equal(strategy->pick(state, &point).thread, 0);
        free_state(strategy, &run, state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_walk_model),
        cmocka_unit_test(test_walk_uniform),
        cmocka_unit_test(test_delay_model),
        cmocka_unit_test(test_delay_window),
        cmocka_unit_test(test_delay_forced),
        cmocka_unit_test(test_delay_machine),
        cmocka_unit_test(test_round_robin_model),
        cmocka_unit_test(test_round_robin_interrupted),
        cmocka_unit_test(test_none_model),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_last_thread),
    };
    return cmocka_run_group_tests_name("strategies", tests, NULL, NULL);
}
