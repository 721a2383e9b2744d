/* Theorem 9 of the PCT paper (Burckhardt et al., ASPLOS 2010) on a family of random programs with random bugs, exactly.
 *
 * A program here is two or three threads with a few operations: steps that do nothing, critical sections, a semaphore.
 * Every schedule of it is enumerated, and the schedule of figure 7 for each of its n! k^(d-1) valuations is made on the
 * simulated host. A bug is what the paper says it is (definitions 4 to 7): a random directive, that is d constraints
 * "all of A_i before b_i, and the b_i in their order", which guarantees the set of complete schedules that satisfy it.
 * Whether it does is decided over all schedules; the others are thrown away. The theorem's bound must hold for each
 * that is left, in whole numbers, and so must what cli/campaign/guarantee.c says of runs with one change point more
 * than the bug needs. docs/GUARANTEE.md refers to this. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "scripted.h"
#include <pct/random.h>

enum {
    PROGRAMS = 200,
    DIRECTIVES = 300, /* tried for each program and d */
    DEPTH = 3,
    SCHEDULES = 2000, /* programs with more are thrown away */
    STEPS = 24,
    OPS = 12,
    THREADS = 3,
    STREAM = 900
};

struct schedule {
    uint32_t length;
    uint8_t thread[STEPS];
};

/* The program at hand: all of its complete schedules in the order of a depth-first walk, each with its probability
 * under a uniform random walk; its longest, and the steps of each thread in it. */
static struct {
    uint64_t seed, drawn;
    struct sim_op op[THREADS][OPS];
    struct sim_program sim;
    uint32_t n, k, schedules;
    struct schedule schedule[SCHEDULES];
    double walk[SCHEDULES];
    uint32_t steps[THREADS];
} program;

static uint32_t draw(uint32_t below)
{
    return (uint32_t)pct_random_below(program.seed, STREAM, program.drawn++, below);
}

static void draw_program(uint64_t seed)
{
    memset(&program, 0, sizeof program);
    program.seed = seed;
    program.n = 2 + draw(2);
    program.sim.name = "random";
    program.sim.sem[0] = draw(2);
    for (uint32_t t = 0; t < program.n; t++) {
        struct sim_op *op = program.op[t];
        program.sim.thread[t] = op;
        for (uint32_t child = 1; !t && child < program.n; child++)
            *op++ = (struct sim_op)CREATE((uint8_t)child);
        for (uint32_t left = program.n == 2 ? 1 + draw(3) : draw(2); left; left--)
            switch (draw(5)) {
            case 0:
                *op++ = (struct sim_op)LOCK(0);
                *op++ = (struct sim_op)UNLOCK(0);
                break;
            case 1:
                *op++ = (struct sim_op)UP(0);
                break;
            case 2:
                *op++ = (struct sim_op)DOWN(0);
                break;
            default:
                *op++ = (struct sim_op)READ(0);
            }
    }
}

/* Run the program once and note its schedule. False: it is too long. */
static bool run_once(const struct pct_strategy *strategy, struct schedule *schedule)
{
    static uint64_t records[PCT_TRACE_BLOCK * 2];
    struct sim_options options = {
        .strategy = strategy, .slow = true, .records = records, .max = sizeof records / sizeof *records
    };
    struct sim_result result;
    sim_run(&program.sim, &options, &result);
    if (result.broken)
        fail_msg("%s", result.broken);
    assert_true(result.verdict == PCT_VERDICT_EXIT || result.verdict == PCT_VERDICT_DEADLOCK);
    if (result.steps > STEPS)
        return false;
    schedule->length = (uint32_t)result.steps;
    for (uint32_t i = 0; i < schedule->length; i++)
        schedule->thread[i] = (uint8_t)PCT_RECORD_THREAD(records[i]);
    return true;
}

/* False: there are too many schedules, or too little to make bugs of. */
static bool enumerate(void)
{
    double total = 0;
    walk_first();
    do {
        if (program.schedules == SCHEDULES)
            return false;
        struct schedule *s = &program.schedule[program.schedules];
        if (!run_once(&walk_strategy, s))
            return false;
        assert_int_equal(walk.at, s->length); /* one choice for each step */
        total += program.walk[program.schedules++] = walk_probability();
        program.k = s->length > program.k ? s->length : program.k;
        uint32_t steps[THREADS] = { 0 };
        for (uint32_t i = 0; i < s->length; i++)
            steps[s->thread[i]]++;
        for (uint32_t t = 0; t < program.n; t++)
            program.steps[t] = steps[t] > program.steps[t] ? steps[t] : program.steps[t];
    } while (walk_next());
    assert_true(total > 1 - 1e-9 && total < 1 + 1e-9);
    uint32_t labels = 0;
    for (uint32_t t = 0; t < program.n; t++)
        labels += program.steps[t] ? program.steps[t] - 1 : 0;
    return program.schedules > 1 && labels >= DEPTH;
}

/* --- Directives --------------------------------------------------------------------------------------------------- */

/* A label: the step of this ordinal in its thread, from 1, because the first one has none (definition 4, NotFirst). */
struct label {
    uint8_t thread, ordinal;
};

struct directive {
    uint32_t d;
    struct label b[DEPTH];
    uint32_t sources[DEPTH];
    struct label a[DEPTH][2];
};

static struct label draw_label(void)
{
    struct label label;
    do
        label.thread = (uint8_t)draw(program.n);
    while (program.steps[label.thread] < 2);
    label.ordinal = (uint8_t)(1 + draw(program.steps[label.thread] - 1));
    return label;
}

static bool same(struct label a, struct label b)
{
    return a.thread == b.thread && a.ordinal == b.ordinal;
}

static struct directive draw_directive(uint32_t d)
{
    struct directive directive = { .d = d };
    for (uint32_t i = 0; i < d; i++) {
        bool distinct;
        do {
            directive.b[i] = draw_label();
            distinct = true;
            for (uint32_t j = 0; j < i; j++)
                distinct &= !same(directive.b[i], directive.b[j]);
        } while (!distinct);
        directive.sources[i] = 1 + draw(2);
        for (uint32_t j = 0; j < directive.sources[i]; j++)
            directive.a[i][j] = draw_label();
    }
    return directive;
}

/* Definition 6. Returns the index of the first step with which the schedule violates the directive; its length if it
 * never does, and then *satisfies says whether all b_i occur. */
static uint32_t find_violation(const struct directive *directive, const struct schedule *s, bool *satisfies)
{
    uint32_t done[THREADS] = { 0 }, emitted = 0; /* b_1 .. b_emitted have occurred */
    for (uint32_t at = 0; at < s->length; at++) {
        struct label label = { s->thread[at], (uint8_t)done[s->thread[at]] };
        for (uint32_t i = 0; i < directive->d; i++) {
            if (!label.ordinal || !same(label, directive->b[i]))
                continue;
            if (i != emitted)
                return at;
            for (uint32_t j = 0; j < directive->sources[i]; j++)
                if (done[directive->a[i][j].thread] <= directive->a[i][j].ordinal)
                    return at;
            emitted++;
        }
        done[label.thread]++;
    }
    *satisfies = emitted == directive->d;
    return s->length;
}

/* Definition 7: whether it guarantees the schedules that satisfy it. The schedules are in the order of a depth-first
 * walk, so the nodes of the tree that the next schedule does not share are done with, from the leaves up. */
static bool guarantees(const struct directive *directive)
{
    bool open[STEPS + 1] = { 0 }; /* by depth: a child was found that does not violate */
    for (uint32_t i = 0; i < program.schedules; i++) {
        const struct schedule *s = &program.schedule[i], *next = i + 1 < program.schedules ? s + 1 : NULL;
        bool satisfies = false;
        uint32_t violation = find_violation(directive, s, &satisfies), shared = 0;
        if (violation == s->length && !satisfies)
            return false; /* 2: complete, does not violate, and is no bug */
        for (uint32_t at = 0; at < violation; at++)
            open[at] = true;
        while (next && shared < s->length && s->thread[shared] == next->thread[shared])
            shared++;
        for (uint32_t at = s->length; at-- > (next ? shared + 1 : 0);) {
            if (at <= violation && !open[at])
                return false; /* 1: partial, does not violate, and every next step does */
            open[at] = false;
        }
    }
    return true;
}

static bool hits(const struct directive *directive, const struct schedule *s)
{
    bool satisfies = false;
    return find_violation(directive, s, &satisfies) == s->length && satisfies;
}

/* --- The theorem -------------------------------------------------------------------------------------------------- */

/* What came of all directives of one size. */
struct outcome {
    uint32_t bugs, tight, walk_below;
    double least; /* the least ratio of the probability to the bound */
};

/* The schedules of all valuations of figure 7 with depth d, one for each. */
static struct schedule made[6 * STEPS * STEPS * STEPS];

static uint32_t make_all(uint32_t d)
{
    uint32_t count = 0;
    figure7_first(program.n, d);
    do
        do
            assert_true(run_once(&figure7_strategy, &made[count++]));
        while (figure7_next_changes(program.k));
    while (figure7_next_permutation());
    return count;
}

static uint32_t count_hits(const struct directive *directive, uint32_t valuations)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < valuations; i++)
        count += hits(directive, &made[i]);
    return count;
}

static double walk_probability_of(const struct directive *directive)
{
    double sum = 0;
    for (uint32_t i = 0; i < program.schedules; i++)
        if (hits(directive, &program.schedule[i]))
            sum += program.walk[i];
    return sum;
}

static void check_program(struct outcome *outcomes)
{
    static struct directive valid[DEPTH + 1][DIRECTIVES];
    uint32_t count[DEPTH + 1] = { 0 }, others = program.n == 3 ? 2 : 1; /* (n-1)! */
    for (uint32_t d = 1; d <= DEPTH; d++)
        for (uint32_t i = 0; i < DIRECTIVES; i++) {
            valid[d][count[d]] = draw_directive(d);
            count[d] += guarantees(&valid[d][count[d]]);
        }
    for (uint32_t depth = 1; depth <= DEPTH; depth++) {
        uint32_t valuations = make_all(depth);
        for (uint32_t i = 0; i < count[depth]; i++) {
            uint32_t found = count_hits(&valid[depth][i], valuations);
            struct outcome *o = &outcomes[depth];
            assert_true(found >= others); /* found / (n! k^(d-1)) >= 1 / (n k^(d-1)) */
            double ratio = (double)found / others, bound = (double)others / valuations;
            o->least = !o->bugs || ratio < o->least ? ratio : o->least;
            o->bugs++;
            o->tight += found == others;
            o->walk_below += walk_probability_of(&valid[depth][i]) < bound;
        }
        /* One change point more than needed: (depth-1 choose depth-2) = depth-1 ways. */
        for (uint32_t i = 0; depth > 1 && i < count[depth - 1]; i++)
            assert_true(count_hits(&valid[depth - 1][i], valuations) >= (depth - 1) * others);
    }
}

static void test_theorem(void **unused)
{
    (void)unused;
    struct outcome outcomes[DEPTH + 1] = { 0 };
    uint32_t programs = 0;
    uint64_t schedules = 0;
    for (uint64_t seed = 1; programs < PROGRAMS; seed++) {
        draw_program(seed);
        if (!enumerate())
            continue;
        programs++;
        schedules += program.schedules;
        check_program(outcomes);
    }
    print_message("# %u programs, %lu schedules in all\n", programs, (unsigned long)schedules);
    for (uint32_t d = 1; d <= DEPTH; d++) {
        const struct outcome *o = &outcomes[d];
        print_message("# %u directives of size %u: the bound is met exactly by %u, a random walk is below it for %u\n",
                      o->bugs, d, o->tight, o->walk_below);
        assert_true(o->bugs > 300); /* or this would test little */
        assert_true(o->tight > 0);  /* "this bound is also tight", section 2.6.1 */
        assert_true(o->least == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_theorem) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
