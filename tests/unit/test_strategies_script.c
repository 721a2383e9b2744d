/* The strategy `script`: it keeps to what its engine says, and what it tells the engine is the schedule: as a list for
 * the strategy `schedule`, or `processes`, it is the same run, without the engine. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <pct/random.h>
#include <pct/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <strategies/processes.h>
#include <strategies/script.h>
#include <strategies/strategies.h>
#include <string.h>

enum { THREADS = 5, STEPS = 12, ALL = THREADS * STEPS };

/* What an engine says, as a test wants it, and what it heard. */
struct fake {
    uint64_t seed;
    uint64_t over_at; /* it is over from this step on */
    unsigned turns, stuck;
    uint64_t chose_step[ALL];
    uint32_t chose_thread[ALL];
    unsigned chose;
};

static struct fake fake;

static int start(void *state, struct pct_script_control *control, const char **why)
{
    (void)state, (void)why;
    assert_false(control->over);
    return 0;
}

/* At every step a part of the threads stands, and one of them may be the first, drawn from the seed. */
static void turn(void *state, struct pct_script_control *control, uint32_t made, uint64_t step)
{
    (void)state, (void)made;
    fake.turns++;
    control->over = step >= fake.over_at;
    memset(&control->held, 0, sizeof control->held);
    for (uint32_t t = 0; t < THREADS && !control->over; t++)
        if (pct_random_below(fake.seed, PCT_STREAM_PICK, step * THREADS + t, 2))
            pct_rank_set_insert(&control->held, t);
    control->first = (uint32_t)pct_random_below(fake.seed, PCT_STREAM_CHANGE, step, 2 * THREADS);
    if (control->first >= THREADS)
        control->first = PCT_NO_THREAD;
}

static void chose(void *state, uint32_t thread, uint64_t step, bool awaited)
{
    (void)state, (void)awaited;
    assert_true(fake.chose < ALL);
    fake.chose_thread[fake.chose] = thread;
    fake.chose_step[fake.chose++] = step;
}

static void created(void *state, uint32_t thread)
{
    (void)state, (void)thread;
}

/* One of those that stand may go on. */
static void stuck(void *state, struct pct_script_control *control, uint64_t step)
{
    (void)state, (void)step;
    fake.stuck++;
    uint32_t t = pct_rank_set_lowest(&control->held);
    assert_int_not_equal(t, PCT_NO_RANK);
    pct_rank_set_remove(&control->held, t);
}

/* It wants to be asked at each step. */
static void calm(void *state, uint32_t thread, struct pct_calm *calm)
{
    (void)state, (void)thread, (void)calm;
}

static const struct pct_script_engine engine = {
    .state_size = 64, .start = start, .turn = turn, .chose = chose, .created = created, .stuck = stuck, .calm = calm
};

static bool spins(uint64_t seed, uint32_t thread, uint32_t made)
{
    return !pct_random_below(seed, PCT_STREAM_SPIN, thread * STEPS + made, 3);
}

/* Threads of STEPS operations, some of which are spins; the last of the first thread ends the process. Writes who
 * made each step. As the scheduler does, asks at the end of the budget, behind a spin, and when a thread has finished.
 */
static void play(char *out, const struct pct_strategy *strategy, const struct pct_run *run, uint64_t seed)
{
    const char *why = NULL;
    size_t size = (strategy->state_size(run) + 63u) & ~(size_t)63;
    void *state = aligned_alloc(64, size);
    uint32_t made[THREADS] = { 0 }, current = PCT_NO_THREAD, enabled = THREADS;
    uint64_t step = 0, ran = 0;
    memset(state, 0, size);
    assert_int_equal(strategy->start(state, run, &why), 0);
    for (uint32_t t = 0; t < THREADS; t++) {
        if (strategy->created)
            strategy->created(state, t);
        strategy->enable(state, t);
    }
    while (enabled) {
        struct pct_point point = { .step = step,
                                   .ran = ran,
                                   .current = current,
                                   .enabled = enabled,
                                   .why = current == PCT_NO_THREAD ? PCT_WHY_START
                                          : made[current] == STEPS ? PCT_WHY_FINISHED
                                                                   : PCT_WHY_BUDGET };
        struct pct_choice choice = strategy->pick(state, &point);
        bool asks = false;
        current = choice.thread;
        assert_true(current < THREADS && made[current] < STEPS);
        for (ran = 0; !asks && ran < (choice.budget ? choice.budget : 1) && made[current] < STEPS; ran++) {
            out[step++] = (char)('0' + current);
            made[current]++;
            if (made[current] < STEPS && !current && made[current] == STEPS - 1) {
                strategy->final_wait(state, current);
                asks = true;
            } else if (made[current] < STEPS && spins(seed, current, made[current])) {
                strategy->spinning(state, current, 1);
                asks = true;
            }
        }
        if (made[current] == STEPS) {
            enabled--;
            strategy->disable(state, current);
        }
    }
    out[step] = 0;
    free(state);
}

/* What the engine heard, as a list. */
static void format(char *list, size_t size, const char *run)
{
    size_t length = 0;
    list[0] = 0;
    for (unsigned i = 0; i < fake.chose; i++) {
        uint64_t step = fake.chose_step[i];
        unsigned made = 0;
        if (!step)
            continue; /* the first thread to run is given */
        for (uint64_t k = 0; k < step; k++)
            made += run[k] == run[step - 1];
        length += (size_t)snprintf(list + length, size - length, "%s%c.%u.%u", length ? "-" : "", run[step - 1], made,
                                   fake.chose_thread[i]);
    }
}

/* The same for the strategy `processes`. */
static void format_steps(char *list, size_t size)
{
    size_t length = 0;
    list[0] = 0;
    for (unsigned i = 0; i < fake.chose; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%llu.%u", length ? "-" : "",
                                   (unsigned long long)fake.chose_step[i], fake.chose_thread[i]);
}

static void test_schedule_alone(void **unused)
{
    (void)unused;
    char with[ALL + 1], without[ALL + 1], list[ALL * 16];
    unsigned compared = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        fake = (struct fake){ .seed = seed, .over_at = pct_random_below(seed, PCT_STREAM_PICK, 1000000, 2 * ALL) };
        struct pct_run run = { .script = &engine };
        play(with, &pct_strategy_script, &run, seed);
        assert_true(fake.turns > 0);
        if (fake.chose && !fake.chose_step[0])
            continue; /* a program begins with its first thread, and no choice */
        format(list, sizeof list, with);
        run = (struct pct_run){ .list = list };
        play(without, &pct_strategy_schedule, &run, seed);
        assert_string_equal(with, without);
        format_steps(list, sizeof list);
        play(without, &pct_strategy_processes, &run, seed);
        assert_string_equal(with, without);
        compared++;
    }
    assert_true(compared > 500);
}

/* --- Several processes -------------------------------------------------------------------------------------------- */

/* What was done on the board, in order: 's' or 'r', and the name. */
static char board_did[64];

static void on_board(char what, uint32_t name)
{
    size_t length = strlen(board_did);
    snprintf(board_did + length, sizeof board_did - length, "%c%u ", what, name);
}

static void board_post(uint32_t name)
{
    on_board('s', name);
}

static void board_await(uint32_t name)
{
    on_board('r', name);
}

static void board_begin(void)
{
    on_board('b', 0);
}

static void test_processes(void **unused)
{
    (void)unused;
    static const char list[] = "0.s1-2.1-2.r0-p1-1.2-3.s2-9.h77-p1.12-0.r256-2.3-p1e1-4.4";
    static const struct {
        const char *path;
        uint32_t image;
        const char *did, *own; /* on the board; its switches, as a list of the first process alone */
    } cases[] = {
        { "", 0, "s1 r0 ", "2.1" }, { "1", 0, "b0 s2 ", "1.2" }, { "1.12", 0, "b0 r256 ", "2.3" },
        { "1", 1, "b0 ", "4.4" },   { "", 1, "", "" },           { "1.1", 0, "", "" },
        { "12", 0, "", "" },        { NULL, 0, "", "" },
    };
    char made[ALL + 1], expected[ALL + 1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pct_board board = { .path = cases[i].path,
                                         .image = cases[i].image,
                                         .post = board_post,
                                         .await = board_await,
                                         .begin = board_begin };
        const struct pct_run run = { .list = list, .board = &board };
        board_did[0] = 0;
        play(made, &pct_strategy_processes, &run, 0);
        assert_string_equal(board_did, cases[i].did);
        const struct pct_run alone = { .list = cases[i].own };
        play(expected, &pct_strategy_processes, &alone, 0);
        assert_string_equal(made, expected);
    }
}

static void test_end_and_choices(void **unused)
{
    (void)unused;
    const char *why = NULL;
    uint64_t steps = 0;
    uint32_t hash = 0;
    const struct pct_run run = { .list = "3.c2-5.a1-9.h77" };
    void *state = calloc(1, pct_strategy_processes.state_size(&run));
    assert_int_equal(pct_strategy_processes.start(state, &run, &why), 0);
    assert_true(pct_strategy_processes_end(state, &steps, &hash));
    assert_int_equal(steps, 9);
    assert_int_equal(hash, 77);
    assert_int_equal(pct_strategy_processes.choose(state, 4, 2), 0);
    assert_false(pct_strategy_processes_returned(state, 2));
    assert_true(pct_strategy_processes_returned(state, 3));
    assert_int_equal(pct_strategy_processes.choose(state, 4, 3), 2);
    assert_int_equal(pct_strategy_processes.choose(state, 4, 3), 0);
    pct_strategy_processes.enable(state, 0);
    assert_int_equal(pct_strategy_processes.would_pick(state, 5, 0, PCT_NO_THREAD), PCT_NO_THREAD);
    pct_strategy_processes.enable(state, 1);
    const struct pct_point later = { .step = 6, .current = 0, .enabled = 2, .why = PCT_WHY_BUDGET };
    assert_int_equal(pct_strategy_processes.pick(state, &later).thread, 1);
    free(state);
}

static void test_wrong_lists(void **unused)
{
    (void)unused;
    static const char *const wrong[] = { "1",      "1.x2",   "p",       "p1.-1.2", "p1e",        "2.1-1.1",
                                         "3.s257", "3.r257", "1.2-",    "-1.2",    "1.99999999", "01.2",
                                         "p1e1-",  "3.1.4",  "p01-1.2", "1.2-p1x1" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *why = NULL;
        const struct pct_run run = { .list = wrong[i] };
        void *state = calloc(1, pct_strategy_processes.state_size(&run));
        bool taken = !pct_strategy_processes.start(state, &run, &why);
        if (taken)
            fprintf(stderr, "%s was taken\n", wrong[i]);
        assert_false(taken);
        free(state);
    }
}

/* Without a script it is the strategy `schedule` without a list. */
static void test_no_script(void **unused)
{
    (void)unused;
    char with[ALL + 1], without[ALL + 1];
    for (uint64_t seed = 0; seed < 100; seed++) {
        const struct pct_run run = { .seed = seed };
        play(with, &pct_strategy_script, &run, seed);
        play(without, &pct_strategy_schedule, &run, seed);
        assert_string_equal(with, without);
    }
}

/* Who stands does not go on as long as another one can. */
static void test_keeps_to_it(void **unused)
{
    (void)unused;
    unsigned freed = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        char run[ALL + 1];
        const struct pct_run with = { .script = &engine };
        fake = (struct fake){ .seed = seed, .over_at = UINT64_MAX };
        play(run, &pct_strategy_script, &with, seed);
        for (uint64_t step = 0; step < ALL && !fake.stuck; step++) {
            uint32_t thread = (uint32_t)(run[step] - '0');
            assert_int_equal(pct_random_below(seed, PCT_STREAM_PICK, step * THREADS + thread, 2), 0);
        }
        freed += fake.stuck > 0;
    }
    assert_true(freed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_schedule_alone), cmocka_unit_test(test_no_script),
                                        cmocka_unit_test(test_processes),      cmocka_unit_test(test_end_and_choices),
                                        cmocka_unit_test(test_wrong_lists),    cmocka_unit_test(test_keeps_to_it) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
