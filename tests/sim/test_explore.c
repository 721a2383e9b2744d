/* Systematic exploration against brute force: of random programs of every operation in the table of dependence, all
 * schedules are made, and what the search asks for. It must meet the same classes of schedules, each once, make no
 * redundant run, and see every behaviour. That each row of the table is noticed when it is wrong: test_rows.c. */
#include "compared.h"
#include <cli/campaign/preemptions.h>
#include <cli/explore/rows.h>

struct tally {
    uint64_t programs, skipped, refused, tried, runs, classes, redundant, unplanned, moved, twice;
    uint64_t missed_classes, missed_behaviours;
};

static void compare(const struct sim_program *program, uint64_t number, struct tally *tally, bool loud)
{
    if (!brute_force(program)) {
        tally->skipped++;
        return;
    }
    search_all(program, PCT_UNBOUNDED, 4 * classes.count + 100);
    uint64_t missed = 0, unseen = 0;
    for (size_t i = 0; i < classes.count; i++)
        missed += hashes_add(&found_classes, classes.at[i]);
    for (size_t i = 0; i < behaviours.count; i++)
        unseen += hashes_add(&found_behaviours, behaviours.at[i]);
    tally->programs++;
    tally->runs += facts.runs;
    tally->classes += classes.count;
    tally->twice += twice;
    /* Which other deadlines one is going to take along is a guess: of a program where one was wrong, `pct explore` says
     * that it is not verified (add_facts() in verdict.c). */
    bool refused = facts.early && facts.redundant + facts.unplanned;
    /* Where a thread came to its wait for the kernel later, it is tried whether it could have gone on before. */
    bool guesses = waits_in_kernel && !refused;
    if (refused) {
        tally->refused++;
        missed = unseen = 0;
    } else if (guesses) {
        tally->tried += facts.redundant;
    } else {
        tally->redundant += facts.redundant;
        tally->unplanned += facts.unplanned;
    }
    tally->moved += facts.moved;
    tally->missed_classes += missed;
    tally->missed_behaviours += unseen;
    bool imprecise = !refused && !guesses && (facts.redundant || facts.unplanned);
    if (loud && (missed || unseen || twice || imprecise || facts.moved || facts.unrepeatable)) {
        print_message(
            "# program %lu: %lu classes, %lu runs; missed %lu classes, %lu behaviours; twice %lu, redundant %lu, "
            "unplanned %lu, moved %lu%s\n",
            (unsigned long)number, (unsigned long)classes.count, (unsigned long)facts.runs, (unsigned long)missed,
            (unsigned long)unseen, (unsigned long)twice, (unsigned long)facts.redundant, (unsigned long)facts.unplanned,
            (unsigned long)facts.moved, facts.unrepeatable ? ", unrepeatable" : "");
        print_program(program);
    }
}

static uint64_t from_environment(const char *name, uint64_t default_value)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : default_value;
}

/* Of programs that were explored without a bound. */
static void check_whole(const struct tally *tally)
{
    print_message("# %lu programs (%lu had too many schedules, %lu are refused), %lu classes, %lu runs, %lu tried for "
                  "the kernel, %lu redundant, %lu unplanned\n",
                  (unsigned long)tally->programs, (unsigned long)tally->skipped, (unsigned long)tally->refused,
                  (unsigned long)tally->classes, (unsigned long)tally->runs, (unsigned long)tally->tried,
                  (unsigned long)tally->redundant, (unsigned long)tally->unplanned);
    assert_int_equal(tally->missed_classes, 0);
    assert_int_equal(tally->missed_behaviours, 0);
    assert_int_equal(tally->twice, 0);
    assert_int_equal(tally->redundant, 0);
    assert_int_equal(tally->unplanned, 0);
    assert_int_equal(tally->moved, 0);
}

static void test_random_programs(void **unused)
{
    (void)unused;
    struct tally tally = { 0 };
    uint64_t first = from_environment("FIRST", 0), programs = from_environment("PROGRAMS", 250);
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = make_program(number);
        compare(&program, number, &tally, true);
    }
    check_whole(&tally);
}

/* What was pending at a crash, on an object that was not known, commutes with what else is tried in its place. */
static void test_behind_crash(void **unused)
{
    (void)unused;
    struct tally tally = { 0 };
    explored_slack = 0;
    explored_to_the_full = true;
    const struct sim_program program = {
        .barrier = { 2 },
        .thread = { THREAD(CREATE(1), CREATE(2), ATOMIC_READ(0), DETACH(1), JOIN(2), EXITING, EXIT_NOW),
                    THREAD(ATOMIC_WRITE(0, 1), CHECK(0, 0)), THREAD(ATOMIC_READ(0), ATOMIC_READ(0), ATOMIC_TRY(0, 2)) },
    };
    compare(&program, 0, &tally, true);
    explored_to_the_full = false;
    assert_int_equal(tally.classes, 116);
    check_whole(&tally);
}

/* As many programs as the environment variable of this name says, or `usual`. */
static void compare_made(struct sim_program (*make)(uint64_t number), const char *name, uint64_t usual)
{
    struct tally tally = { 0 };
    uint64_t first = from_environment("FIRST", 0), programs = from_environment(name, usual);
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = make(number);
        compare(&program, number, &tally, true);
    }
    explored_to_the_full = false;
    explored_slack = 0;
    check_whole(&tally);
}

static void test_robust(void **unused)
{
    (void)unused;
    compare_made(make_robust, "ROBUST", 120);
}

/* Spin locks, guards of statics, objects that are initialised and destroyed, the loader, waits for what the kernel
 * keeps; and accesses to two variables at once. */
static void test_own_kinds(void **unused)
{
    (void)unused;
    compare_made(make_own, "OWN", 150);
    compare_made(make_wide, "WIDE", 150);
    compare_made(make_barriers, "BARRIERS", 60);
}

/* Every operation that the table has a row for, if it uses anything, is made by some of the programs. */
static void test_every_operation(void **unused)
{
    (void)unused;
    explored_by_force = false;
    for (uint64_t number = 0; number < 400; number++) {
        struct sim_program program = number % 3 == 0   ? make_program(number)
                                     : number % 3 == 1 ? make_own(number)
                                                       : make_robust(number);
        explored_run(&program, NULL, 0);
    }
    for (int op = 1; op < PCT_OP_COUNT; op++) {
        struct pct_row row = pct_row_of((enum pct_op)op);
        if (row.use != PCT_ROW_UNKNOWN && row.use != PCT_ROW_NOTHING && !explored_ops[op])
            fail_msg("no program makes operation %d", op);
    }
    explored_to_the_full = false;
    explored_slack = 0;
}

/* Of a requeue, and a try to join, that was pending when a run ended, it is not known all that it uses: what it is
 * found to use then has not moved. */
static void test_pending(void **unused)
{
    (void)unused;
    static const uint64_t numbers[] = { 23084, 24903 };
    struct tally tally = { 0 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sim_program program = make_program(numbers[i]);
        compare(&program, numbers[i], &tally, true);
    }
    assert_int_equal(tally.programs, 2);
    assert_int_equal(tally.classes, 44 + 32);
    assert_int_equal(tally.missed_classes, 0);
    assert_int_equal(tally.moved, 0);
}

/* A crash comes of one thread, and another one, which has nothing to do with it, may stand anywhere; or crash, or use
 * more than was known, in its place. */
static void test_crashes(void **unused)
{
    (void)unused;
    static const uint64_t numbers[] = { 100493, 100256, 100592 };
    struct tally tally = { 0 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sim_program program = make_program(numbers[i]);
        compare(&program, numbers[i], &tally, true);
    }
    assert_int_equal(tally.classes, 13 + 50 + 11);
    assert_int_equal(tally.missed_classes, 0);
    assert_int_equal(tally.missed_behaviours, 0);
    assert_int_equal(tally.redundant + tally.unplanned + tally.moved + tally.twice, 0);
}

/* One deadline takes another along, which is over by then; who waited to it may find what it waited for, or nothing. */
static void test_deadlines_at_once(void **unused)
{
    (void)unused;
    struct tally tally = { 0 };
    struct sim_program program = make_program(20873);
    compare(&program, 20873, &tally, true);
    assert_int_equal(tally.classes, 33);
    assert_int_equal(tally.runs, 33);
    assert_int_equal(tally.missed_classes, 0);
}

/* What a thread uses behind a try depends on what came of that: here, when it looks at the time, which a deadline of
 * the other one changes. */
static void test_footprints(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), SLEEP(1000)),
                                                     THREAD(LOCK(0), UNLOCK(0)),
                                                     THREAD(TRYLOCK(0), UNLESS(1, 1), UNLOCK(0), CLOCK) } };
    struct tally tally = { 0 };
    explored_slack = 2000;
    compare(&program, 0, &tally, true);
    explored_slack = 0;
    assert_int_equal(tally.programs, 1);
    assert_int_equal(tally.missed_classes, 0);
    assert_true(facts.begun);
}

/* Where a lock is free, its deadline cannot come: to try that ends in a run that is like another one. */
static void test_needless_deadlines(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEEP(1000), CLOCK),
                                                     THREAD(LOCK_FOR(0, 1000), UNLOCK(0), DOWN_FOR(0, 1000)) } };
    struct tally tally = { 0 };
    explored_slack = 2000;
    compare(&program, 0, &tally, true);
    explored_slack = 0;
    assert_int_equal(tally.programs, 1);
    assert_int_equal(tally.missed_classes, 0);
    assert_int_equal(facts.redundant, 0);
}

static void add_timed(uint8_t held, bool rwlocks);

static void add_timed_rw(uint8_t m, uint32_t ns, uint8_t held)
{
    bool timed = draw(2);
    ADD_OP({ .kind = draw(2) ? SIM_RDLOCK : SIM_WRLOCK, .a = m, .value = timed ? (int64_t)ns : -1 });
    if (timed)
        ADD_OP(UNLESS(1, 1));
    else if (draw(2))
        add_timed(held, true);
    ADD_OP(RWUNLOCK(m));
}

static void add_timed(uint8_t held, bool rwlocks)
{
    uint8_t m = (uint8_t)draw(2);
    uint32_t ns = 1000 * (1 + draw(3));
    switch (draw(rwlocks ? 10 : 8)) {
    case 0:
        ADD_OP(SLEEP(ns));
        break;
    case 1:
        ADD_OP(DOWN_FOR(m, ns));
        break;
    case 2:
        ADD_OP(UP(m));
        break;
    case 3:
        ADD_OP(TRYDOWN(m));
        break;
    case 4:
        if (held == m)
            break;
        ADD_OP(TRYLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(UNLOCK(m));
        break;
    case 5:
        if (held < SIM_THINGS)
            ADD_OP(WAIT_FOR(0, held, ns));
        else
            ADD_OP(SIGNAL(0));
        break;
    case 6:
        ADD_OP(SIGNAL(0));
        break;
    case 8:
    case 9:
        add_timed_rw(m, ns, held);
        break;
    default:
        if (held < SIM_THINGS)
            break;
        if (draw(2)) {
            ADD_OP(LOCK(m));
            if (draw(2))
                add_timed(m, rwlocks);
            ADD_OP(UNLOCK(m));
        } else {
            ADD_OP(LOCK_FOR(m, ns));
            ADD_OP(UNLESS(1, 1));
            ADD_OP(UNLOCK(m));
        }
    }
}

/* Deadlines may come early; there are this many classes, and no run is in vain. */
static void compare_timed(const struct sim_program *program, uint64_t expected)
{
    struct tally tally = { 0 };
    explored_slack = 1000000;
    explored_to_the_full = false;
    compare(program, 0, &tally, true);
    explored_slack = 0;
    assert_int_equal(tally.programs, 1);
    assert_int_equal(tally.classes, expected);
    assert_int_equal(tally.missed_classes, 0);
    assert_int_equal(tally.missed_behaviours, 0);
    assert_int_equal(facts.redundant, 0);
}

/* Threads whose deadlines are close to each other, so that one takes others along, or comes when they no longer wait.
 * more: read-write locks, too, and deadlines that were set beforehand, and may have passed when the wait begins. */
static struct sim_program make_timed(uint64_t number, bool more)
{
    struct sim_program program = begin_program(number, 1000000);
    for (uint32_t t = 0; t < 3; t++) {
        begin_thread(&program, t);
        for (uint32_t i = t ? 1 + draw(2) : draw(2); i; i--)
            add_timed(SIM_THINGS, more);
        if (number % 2 && t != 1 && draw(2)) {
            uint8_t other = t ? 1 : (uint8_t)(1 + draw(2));
            if (draw(2))
                ADD_OP(TRYJOIN(other));
            ADD_OP(JOIN_FOR(other, 1000 * (1 + draw(3))));
            explored_to_the_full = true;
        }
        for (uint32_t i = 0; i < length && more; i++)
            list[i].date = list[i].value > 1 && draw(2);
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

static void test_timed(void **unused)
{
    (void)unused;
    struct tally tally = { 0 };
    static const uint64_t numbers[] = { 302,
                                        460 }; /* a semaphore that is counted before a deadline; a lock behind one */
    uint64_t programs = from_environment("TIMED", 60), first = from_environment("FIRST", 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sim_program program = make_timed(numbers[i], false);
        compare(&program, numbers[i], &tally, true);
    }
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = make_timed(number, number % 3);
        compare(&program, number, &tally, true);
    }
    explored_slack = 0;
    print_message("# %lu programs (%lu had too many schedules), %lu classes, %lu runs\n", (unsigned long)tally.programs,
                  (unsigned long)tally.skipped, (unsigned long)tally.classes, (unsigned long)tally.runs);
    assert_int_equal(tally.missed_classes, 0);
    assert_int_equal(tally.missed_behaviours, 0);
}

/* Whoever is woken by a signal waits for the mutex, and no longer for a deadline. */
static void test_woken_waits(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2)),
                                                     THREAD(LOCK(0), WAIT_FOR(0, 0, 1000), UNLOCK(0)),
                                                     THREAD(LOCK(0), SIGNAL(0), UNLOCK(0)) } };
    compare_timed(&program, 4);
}

/* Whether a wait is over when it begins, by a deadline that was set beforehand, depends on other deadlines alone. */
static void test_dates(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), UP(1)), THREAD(DOWN_BY(0, 2000)),
                                                     THREAD(UP(0), DOWN_BY(1, 2000)) } };
    compare_timed(&program, 11);
}

/* Others may have begun to wait by the time at which a deadline comes that could have come earlier. */
static void test_later_waits(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), UP(0)),
                                                     THREAD(LOCK(1), UNLOCK(1), DOWN_FOR(0, 2000)),
                                                     THREAD(WRLOCK_FOR(1, 1000), RWUNLOCK(1), UP(1)) } };
    compare_timed(&program, 9);
}

/* Who shares a lock gets it all the same before another one gives its share back. */
static void test_shared_waits(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(RDLOCK_FOR(0, 1000), UNLESS(1, 1), RWUNLOCK(0)),
                    THREAD(RDLOCK_FOR(0, 1000), UNLESS(1, 1), RWUNLOCK(0), SLEEP(2000)) }
    };
    compare_timed(&program, 4);
}

/* Who has a lock already gets it in no schedule, and its deadline may come in each. */
static void test_own_way(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2)),
                                                     THREAD(RDLOCK(0), WRLOCK_FOR(0, 1000), UNLESS(1, 1), RWUNLOCK(0),
                                                            RWUNLOCK(0)),
                                                     THREAD(DOWN_FOR(1, 1000)) } };
    compare_timed(&program, 4);
}

/* Where one finds a lock busy that is shared, others may take a share before that. */
static void test_busy_share(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), RDLOCK(0), CREATE(2), TRYWRLOCK(0), RWUNLOCK(0)),
                                                     THREAD(RDLOCK(0), RWUNLOCK(0)), THREAD(WRLOCK(0), RWUNLOCK(0)) } };
    struct tally tally = { 0 };
    compare(&program, 0, &tally, true);
    assert_int_equal(tally.programs, 1);
    assert_int_equal(tally.missed_classes, 0);
}

/* A sleep ends together with a wait for the thread that sleeps, which may go on before that thread has ended. */
static void test_late_join(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), JOIN_FOR(1, 2000), DETACH(1)),
                                                     THREAD(SLEEP(3000)) } };
    struct tally tally = { 0 };
    explored_slack = 10000;
    explored_to_the_full = true;
    compare(&program, 0, &tally, true);
    explored_slack = 0;
    explored_to_the_full = false;
    assert_int_equal(tally.programs, 1);
    assert_int_equal(tally.missed_classes, 0);
}

/* With a bound: every class that has a schedule with so few preemptions, and none that there is not. */
static void test_bounds(void **unused)
{
    (void)unused;
    uint64_t programs = from_environment("BOUNDED", 75), first = from_environment("FIRST", 0), within = 0;
    uint64_t behaviours_within = 0;
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = number % 7 == 3 ? make_own(number)
                                     : number % 5    ? make_program(number)
                                     : number % 10   ? make_robust(number)
                                                     : make_timed(number, true);
        uint64_t classes_within[4];
        if (!brute_force(&program))
            continue;
        for (int way = 0; way < 8; way++) { /* bounds of 0 to 3, in both orders */
            int bound = way % 4;
            search_order = way < 4 ? PCT_SEARCH_CHESS : PCT_SEARCH_RANK;
            search_all(&program, bound, 100000);
            assert_false(facts.unrepeatable);
            assert_int_equal(facts.below, bound + 1);
            assert_int_equal(facts.classes, found_classes.count);
            if (way < 4)
                classes_within[bound] = facts.classes;
            assert_int_equal(facts.classes, classes_within[bound]);
            uint64_t missed = add_missed(&found_classes, &least_of_class, (unsigned)bound, &within);
            uint64_t unseen = add_missed(&found_behaviours, &least_of_behaviour, (unsigned)bound, &behaviours_within);
            if (missed || unseen) {
                print_program(&program);
                fail_msg("program %lu: %lu classes and %lu behaviours are missed with a bound of %d",
                         (unsigned long)number, (unsigned long)missed, (unsigned long)unseen, bound);
            }
        }
    }
    explored_slack = 0;
    print_message("# %lu classes, %lu behaviours within bounds of 0 to 3\n", (unsigned long)within,
                  (unsigned long)behaviours_within);
}

/* Three threads, one of them main, take locks inside of locks: that one who is held has a lock that others wait for
 * with another one in their hands. */
static struct sim_program make_nested(uint64_t number)
{
    struct sim_program program = begin_program(number, 0);
    for (uint32_t t = 0; t < 3; t++) {
        begin_thread(&program, t);
        uint8_t outer = (uint8_t)draw(3), inner = (uint8_t)((outer + 1 + draw(2)) % 3);
        ADD_OP(LOCK(outer));
        ADD_OP(LOCK(inner));
        if (draw(2))
            ADD_OP(UNLOCK(inner));
        ADD_OP(UNLOCK(outer));
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

/* Several shards meet together each class once, and divide the work in the same way. Returns whether they did divide
 * it. */
static bool compare_shards(const struct sim_program *program, uint64_t number, uint64_t *met, uint64_t *runs)
{
    unsigned of = 1 + (unsigned)(number % 3);
    uint64_t division = 0, missed = 0;
    hashes_clear(&found_classes);
    hashes_clear(&found_behaviours);
    twice = 0;
    for (unsigned shard = 1; shard <= of; shard++) {
        search_more(program, pct_search_new_shard(shard, of, 4 * of), 40 * classes.count + 1000);
        assert_int_equal(facts.open, 0);
        assert_false(facts.unrepeatable);
        assert_false(facts.undivided);
        assert_true(shard == 1 || facts.division == division);
        division = facts.division;
        *runs += facts.runs;
    }
    *met += found_classes.count;
    for (size_t i = 0; i < classes.count; i++)
        missed += hashes_add(&found_classes, classes.at[i]);
    if (missed || twice || found_classes.count != classes.count) {
        print_program(program);
        fail_msg("program %lu in %u shards: %lu classes, %lu missed, %lu twice", (unsigned long)number, of,
                 (unsigned long)classes.count, (unsigned long)missed, (unsigned long)twice);
    }
    return facts.parts > 1;
}

static void test_shards(void **unused)
{
    (void)unused;
    uint64_t programs = from_environment("SHARDED", 60), first = from_environment("FIRST", 0);
    uint64_t met = 0, runs = 0, divided = 0;
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = number % 7 == 3 ? make_own(number)
                                     : number % 4    ? make_program(number)
                                     : number % 8    ? make_robust(number + 1)
                                                     : make_nested(number);
        if (brute_force(&program))
            divided += compare_shards(&program, number, &met, &runs);
    }
    assert_true(4 * divided > programs);
    print_message("# %lu classes in %lu runs of all shards; %lu programs were divided\n", (unsigned long)met,
                  (unsigned long)runs, (unsigned long)divided);
}

/* At the end of a part, who is held has a lock that others wait for, who have one that others wait for. */
static void test_shards_that_wait(void **unused)
{
    (void)unused;
    static const uint64_t numbers[] = { 148, 412, 940, 1680 };
    uint64_t met = 0, runs = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sim_program program = make_nested(numbers[i]);
        assert_true(brute_force(&program));
        assert_true(compare_shards(&program, numbers[i], &met, &runs));
    }
    assert_int_equal(met, 5 + 5 + 4 + 4);
}

#include "listed.h"

/* The number of classes is within the interval, or above, for most programs. */
static void test_estimates(void **unused)
{
    (void)unused;
    uint64_t first = from_environment("FIRST", 0), programs = 0, below = 0, within = 0;
    double ratios = 0;
    for (uint64_t number = first; number < first + 120; number++) {
        struct sim_program program = make_program(number);
        struct pct_estimate estimate = { 0 };
        if (!brute_force(&program))
            continue;
        explored_by_force = false;
        for (uint32_t i = 1; i <= 300; i++) {
            struct pct_execution x;
            struct pct_order order;
            uint32_t plan = PCT_PLAN_WALK(i);
            explored_run(&program, &plan, 1);
            explored_read(&x);
            assert_int_equal(pct_order_make(&order, &x), 0);
            assert_int_equal(pct_estimate_add(&estimate, pct_order_class(&order)), 0);
            pct_order_free(&order);
            pct_execution_free(&x);
        }
        struct pct_estimate_result r = pct_estimate_result(&estimate);
        assert_true(estimate.count <= classes.count);
        programs++;
        ratios += r.classes / (double)classes.count;
        below += r.high < (double)classes.count;
        within += r.low <= (double)classes.count && (double)classes.count <= r.high;
        pct_estimate_free(&estimate);
    }
    print_message(
        "# %lu programs: estimate / classes is %.3f in the mean; %lu have as many as their interval says, %lu "
        "more\n",
        (unsigned long)programs, ratios / (double)programs, (unsigned long)within, (unsigned long)below);
    assert_true(10 * within >= 8 * programs);
    assert_true(ratios / (double)programs > 0.9 && ratios / (double)programs < 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs), cmocka_unit_test(test_behind_crash),
        cmocka_unit_test(test_robust),          cmocka_unit_test(test_own_kinds),
        cmocka_unit_test(test_every_operation), cmocka_unit_test(test_pending),
        cmocka_unit_test(test_crashes),         cmocka_unit_test(test_deadlines_at_once),
        cmocka_unit_test(test_footprints),      cmocka_unit_test(test_needless_deadlines),
        cmocka_unit_test(test_timed),           cmocka_unit_test(test_woken_waits),
        cmocka_unit_test(test_dates),           cmocka_unit_test(test_later_waits),
        cmocka_unit_test(test_shared_waits),    cmocka_unit_test(test_own_way),
        cmocka_unit_test(test_late_join),       cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_shards),          cmocka_unit_test(test_shards_that_wait),
        cmocka_unit_test(test_lists),           cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_busy_share),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
