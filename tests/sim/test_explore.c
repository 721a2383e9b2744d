/* Systematic exploration against brute force: of random programs of every operation in the table of dependence, all schedules are made, and
 * what the search asks for. It must meet the same classes of schedules, each once, make no run in vain, and see every behaviour. Then
 * each row of the table is made wrong on purpose, which must be noticed. */
#include "explored.h"
#include <cli/campaign/preemptions.h>
#include <errno.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The table under test, with one row that may be wrong: two uses that are said to commute though they do not. */
#define pct_uses_commute right_table
#include <cli/explore/commute.c>
#undef pct_uses_commute
static int wrong_a = -1, wrong_b = -1;
bool pct_uses_commute(enum pct_use a, enum pct_use b)
{
    if (((int)a == wrong_a && (int)b == wrong_b) || ((int)a == wrong_b && (int)b == wrong_a))
        return true;
    return right_table(a, b);
}

enum { OPS = 40, MOST_THREADS = 4, MOST_SCHEDULES = 6000 };

static uint64_t random_seed, random_place;
static uint32_t draw(uint32_t bound)
{
    return (uint32_t)pct_random_below(random_seed, PCT_STREAM_USER, random_place++, bound);
}

static struct sim_op text[MOST_THREADS + 1][OPS];
static struct sim_op *list;
static uint32_t length;

#define ADD_OP(...)                                                                                                    \
    do {                                                                                                               \
        assert_true(length < OPS);                                                                                     \
        list[length++] = (struct sim_op)__VA_ARGS__;                                                                   \
    } while (0)

static void add_action(uint8_t held, uint32_t kinds);

static void add_locked(uint8_t m, uint32_t kinds)
{
    ADD_OP(LOCK(m));
    for (uint32_t i = draw(2); i; i--)
        add_action(m, kinds);
    ADD_OP(UNLOCK(m));
}

/* kinds: bit i: such actions may be among those of the program. */
enum { LOCKS = 1, CONDS = 2, SEMS = 4, RWLOCKS = 8, BARRIERS = 16, VARIABLES = 32, TIME = 64, ALL_KINDS = 127 };

static void add_rw(uint8_t m)
{
    switch (draw(4)) {
    case 0:
        ADD_OP(RDLOCK(m));
        if (draw(2))
            ADD_OP(READ(0));
        ADD_OP(RWUNLOCK(m));
        break;
    case 1:
        ADD_OP(WRLOCK(m));
        if (draw(2))
            ADD_OP(WRITE(0, 1 + draw(2)));
        ADD_OP(RWUNLOCK(m));
        break;
    case 2:
        ADD_OP(TRYRDLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(RWUNLOCK(m));
        break;
    default:
        ADD_OP(TRYWRLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(RWUNLOCK(m));
    }
}

static void add_sem(uint8_t s)
{
    switch (draw(3)) {
    case 0:
        ADD_OP(UP(s));
        break;
    case 1:
        ADD_OP(DOWN(s));
        break;
    default:
        ADD_OP(TRYDOWN(s));
    }
}

static void add_cond(uint8_t held)
{
    uint32_t what = draw(3);
    if (what == 0 && held < SIM_THINGS)
        ADD_OP(WAIT(0, held));
    else if (what < 2)
        ADD_OP(SIGNAL(0));
    else
        ADD_OP(BROADCAST(0));
}

static void add_time(uint8_t held)
{
    if (draw(2))
        ADD_OP(SLEEP(1000 * (1 + draw(3))));
    else if (held < SIM_THINGS)
        ADD_OP(WAIT_FOR(0, held, 2000));
    else
        ADD_OP(DOWN_FOR(1, 1000 * (1 + draw(2))));
}

static void add_action(uint8_t held, uint32_t kinds)
{
    uint8_t m = !draw(4);
    uint32_t kind;
    do
        kind = 1u << draw(7);
    while (!(kind & kinds));
    switch (kind) {
    case LOCKS:
        if (m == held)
            break;
        if (draw(3)) {
            add_locked(m, kinds);
            break;
        }
        ADD_OP(TRYLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(UNLOCK(m));
        break;
    case CONDS:
        if (held < SIM_THINGS || draw(2))
            add_cond(held);
        else
            add_locked(m, kinds);
        break;
    case SEMS:
        add_sem(m);
        break;
    case RWLOCKS:
        add_rw(m);
        break;
    case BARRIERS:
        ADD_OP(BARRIER(0));
        break;
    case TIME:
        add_time(held);
        break;
    default:
        if (draw(2))
            ADD_OP(READ(m));
        else
            ADD_OP(WRITE(m, 1 + draw(2)));
    }
}

static struct sim_program make_program(uint64_t number)
{
    struct sim_program program = { .barrier = { 2 } };
    explored_slack = number % 2 ? 1000000 : 0; /* of half of the programs, deadlines may come early */
    random_seed = number;
    random_place = 0;
    uint32_t kinds = draw(3) ? (1u << draw(7)) | (1u << draw(7)) | (draw(2) ? 0 : VARIABLES) : ALL_KINDS;
    uint32_t threads = 3 + !draw(3);
    program.sem[0] = draw(3);
    for (uint32_t t = 0; t < threads; t++) {
        list = text[t];
        length = 0;
        program.thread[t] = list;
        if (t)
            for (uint32_t i = 1 + draw(threads == 3 ? 3 : 2); i; i--)
                add_action(SIM_THINGS, kinds);
        bool nested = threads == 3 && !(number % 5); /* thread 1 makes the last */
        for (uint32_t i = 1; !t && i < threads; i++)
            if (!nested || i == 1)
                ADD_OP(CREATE((uint8_t)i));
        if (t == 1 && nested)
            ADD_OP(CREATE(2));
        if (!t && !draw(3))
            add_action(SIM_THINGS, kinds);
        for (uint32_t i = 1; !t && i < threads && !nested; i++)
            if (draw(2))
                ADD_OP(JOIN((uint8_t)i));
        if (!t && !draw(4)) {
            ADD_OP(EXITING);
            if (draw(2))
                add_action(SIM_THINGS, kinds);
            ADD_OP(EXIT_NOW);
        }
        if (t && !(number % 7) && !draw(3))
            ADD_OP(EXIT_NOW);
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

/* --- Both ways ------------------------------------------------------------------------------------------------------------------ */

static struct hashes classes, behaviours, found_classes, found_behaviours;

/* By class: the fewest preemptions of a schedule. */
static struct {
    uint64_t class_;
    unsigned fewest;
} least[MOST_SCHEDULES];
static size_t leasts;

static unsigned preemptions_of(const struct pct_execution *x)
{
    unsigned count = 0;
    for (uint32_t i = 1; i < x->count; i++)
        count += x->event[i].thread != x->event[i - 1].thread && x->event[i - 1].op != PCT_OP_YIELD &&
                 x->ready[i] >> x->event[i - 1].thread & 1;
    return count;
}

static void note_preemptions(uint64_t class_, unsigned count)
{
    size_t i = 0;
    while (i < leasts && least[i].class_ != class_)
        i++;
    if (i == MOST_SCHEDULES)
        return;
    if (i == leasts) {
        least[leasts].class_ = class_;
        least[leasts++].fewest = count;
    } else if (least[i].fewest > count) {
        least[i].fewest = count;
    }
}

/* False: there are too many schedules. */
static bool brute_force(const struct sim_program *program)
{
    static struct chosen chosen[EXPLORED_PLAN];
    static uint32_t plan[EXPLORED_PLAN];
    uint32_t count = 0, made = 0;
    hashes_clear(&classes);
    hashes_clear(&behaviours);
    leasts = 0;
    explored_by_force = true;
    do {
        struct pct_execution x;
        struct pct_order order;
        explored_run(program, plan, count);
        explored_read(&x);
        assert_int_equal(x.doubts, 0);
        assert_int_equal(pct_order_make(&order, &x), 0);
        hashes_add(&classes, pct_order_class(&order));
        note_preemptions(pct_order_class(&order), preemptions_of(&x));
        hashes_add(&behaviours, explored_behaviour());
        pct_order_free(&order);
        pct_execution_free(&x);
        count = explored_after(plan, chosen, explored_choices(chosen, count));
        if (++made > MOST_SCHEDULES)
            return false;
    } while (count);
    return true;
}

static struct pct_search_facts facts;
static uint64_t twice;

static enum pct_search_order search_order;

/* What is named ahead of time is asked for later, once. */
enum { MOST_AHEAD = 4096 };
static uint64_t ahead[MOST_AHEAD];
static size_t aheads;

static void name_ahead(struct pct_search *search, const uint32_t *wanted, uint32_t wanted_count)
{
    const uint32_t *plan;
    uint32_t count;
    for (size_t n = 0; n < 2 && aheads < MOST_AHEAD && pct_search_ahead(search, &plan, &count); n++) {
        uint64_t hash = XXH3_64bits(plan, count * sizeof *plan);
        assert_int_not_equal(hash, XXH3_64bits(wanted, wanted_count * sizeof *wanted));
        for (size_t i = 0; i < aheads; i++)
            assert_int_not_equal(hash, ahead[i]);
        ahead[aheads++] = hash;
    }
}

static void ask_for(const uint32_t *plan, uint32_t count)
{
    uint64_t hash = XXH3_64bits(plan, count * sizeof *plan);
    size_t kept = 0;
    for (size_t i = 0; i < aheads; i++)
        if (ahead[i] != hash)
            ahead[kept++] = ahead[i];
    aheads = kept;
}

/* What is kept of a run is the run, whatever came before. */
static void keep(struct pct_explored *before)
{
    struct pct_explored run = explored_kept(), back = { 0 };
    uint8_t *bytes;
    size_t size;
    assert_int_equal(pct_explored_pack(&run, before->log ? before : NULL, &bytes, &size), 0);
    assert_int_equal(pct_explored_unpack(&back, before->log ? before : NULL, bytes, size), 0);
    assert_int_equal(back.log_count, run.log_count);
    assert_int_equal(back.record_count, run.record_count);
    for (uint32_t i = 0; i < run.log_count; i++)
        assert_memory_equal(&back.log[i], &run.log[i], sizeof run.log[i]);
    assert_memory_equal(back.records, run.records, run.record_count * sizeof *run.records);
    pct_explored_free(before);
    *before = back;
    if (size > 1) { /* less of it is none */
        assert_int_equal(pct_explored_unpack(&back, NULL, bytes, size - 1), -EINVAL);
        pct_explored_free(&back);
    }
    free(bytes);
}

static void search_all(const struct sim_program *program, int bound, size_t most)
{
    struct pct_search *search = pct_search_new(bound, search_order);
    const uint32_t *plan;
    uint32_t count;
    assert_non_null(search);
    explored_by_force = false;
    hashes_clear(&found_classes);
    hashes_clear(&found_behaviours);
    twice = 0;
    aheads = 0;
    struct pct_explored before = { 0 };
    bool more;
    for (size_t runs = 0; (more = pct_search_next(search, &plan, &count)) && runs < most; runs++) {
        struct pct_execution x;
        uint64_t class_ = 0;
        ask_for(plan, count);
        name_ahead(search, plan, count);
        explored_run(program, plan, count);
        keep(&before);
        uint64_t behaviour = explored_behaviour(), vain = pct_search_facts(search)->vain;
        explored_read(&x);
        assert_int_equal(pct_search_take(search, &x, &class_), 0);
        if (pct_search_facts(search)->vain > vain)
            continue;
        twice += !hashes_add(&found_classes, class_);
        hashes_add(&found_behaviours, behaviour);
    }
    facts = *pct_search_facts(search);
    pct_explored_free(&before);
    if (!more && !facts.unplanned && !facts.unrepeatable)
        assert_int_equal(aheads, 0);
    pct_search_free(search);
}

static void print_program(const struct sim_program *program)
{
    static const char *const names[] = { "END",  "LOCK",    "TRYLOCK", "UNLOCK", "WAIT",   "SIGNAL", "BROADCAST",
                                         "DOWN", "TRYDOWN", "UP",      "SLEEP",  "YIELD",  "CLOCK",  "CREATE",
                                         "JOIN", "BARRIER", "RDLOCK",  "WRLOCK", "TRYRD",  "TRYWR",  "RWUNLOCK",
                                         "READ", "WRITE",   "STORE",   "CHECK",  "AWAY",   "SPIN",   "SLEPT",
                                         "EXIT", "EXITNOW", "SET",     "ADD",    "UNLESS", "BACK",   "REPEAT" };
    print_message("# sem 0: %u\n", program->sem[0]);
    for (uint32_t t = 0; t < SIM_THREADS && program->thread[t]; t++) {
        print_message("# thread %u:", t);
        for (const struct sim_op *op = program->thread[t]; op->kind; op++)
            print_message(" %s(%u,%u,%ld)", names[op->kind], op->a, op->b, (long)op->value);
        print_message("\n");
    }
}

struct tally {
    uint64_t programs, skipped, runs, classes, vain, early_vain, unplanned, moved, twice;
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
    tally->vain += explored_slack ? 0 : facts.vain;
    tally->unplanned += explored_slack ? 0 : facts.unplanned;
    tally->early_vain +=
        explored_slack ? facts.vain : 0; /* which other deadlines one is going to take along is a guess */
    tally->moved += facts.moved;
    tally->twice += twice;
    tally->missed_classes += missed;
    tally->missed_behaviours += unseen;
    bool imprecise = !explored_slack && (facts.vain || facts.unplanned);
    if (loud && (missed || unseen || twice || imprecise || facts.moved || facts.unrepeatable)) {
        print_message("# program %lu: %lu classes, %lu runs; missed %lu classes, %lu behaviours; twice %lu, vain %lu, "
                      "unplanned %lu, moved %lu%s\n",
                      (unsigned long)number, (unsigned long)classes.count, (unsigned long)facts.runs,
                      (unsigned long)missed, (unsigned long)unseen, (unsigned long)twice, (unsigned long)facts.vain,
                      (unsigned long)facts.unplanned, (unsigned long)facts.moved,
                      facts.unrepeatable ? ", unrepeatable" : "");
        print_program(program);
    }
}

static uint64_t from_environment(const char *name, uint64_t default_value)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : default_value;
}

static void test_random_programs(void **unused)
{
    (void)unused;
    struct tally tally = { 0 };
    uint64_t first = from_environment("FIRST", 0), programs = from_environment("PROGRAMS", 500);
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = make_program(number);
        compare(&program, number, &tally, true);
    }
    print_message("# %lu programs (%lu had too many schedules), %lu classes, %lu runs, %lu in vain, %lu unplanned; %lu "
                  "in vain where deadlines may come early\n",
                  (unsigned long)tally.programs, (unsigned long)tally.skipped, (unsigned long)tally.classes,
                  (unsigned long)tally.runs, (unsigned long)tally.vain, (unsigned long)tally.unplanned,
                  (unsigned long)tally.early_vain);
    assert_int_equal(tally.missed_classes, 0);
    assert_int_equal(tally.missed_behaviours, 0);
    assert_int_equal(tally.twice, 0);
    assert_int_equal(tally.vain, 0);
    assert_int_equal(tally.unplanned, 0);
    assert_int_equal(tally.moved, 0);
}

/* With a bound: every class that has a schedule with so few preemptions, and none that there is not. */
static void test_bounds(void **unused)
{
    (void)unused;
    uint64_t programs = from_environment("BOUNDED", 150), first = from_environment("FIRST", 0), within = 0;
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = make_program(number);
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
            for (size_t i = 0; i < leasts; i++) {
                bool missed = least[i].fewest <= (unsigned)bound && hashes_add(&found_classes, least[i].class_);
                within += least[i].fewest <= (unsigned)bound;
                if (missed) {
                    print_program(&program);
                    fail_msg("program %lu: a class with %u preemptions is missed with a bound of %d",
                             (unsigned long)number, least[i].fewest, bound);
                }
            }
        }
    }
    print_message("# %lu classes within bounds of 0 to 3\n", (unsigned long)within);
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

/* --- Wrong rows ------------------------------------------------------------------------------------------------------------------- */

static void notice(enum pct_use a, enum pct_use b)
{
    struct tally tally = { 0 };
    assert_false(right_table(a, b));
    for (uint64_t number = 0; number < 3000 && !tally.missed_behaviours; number++) {
        struct sim_program program = make_program(number);
        wrong_a = (int)a;
        wrong_b = (int)b;
        compare(&program, number, &tally, false);
        wrong_a = wrong_b = -1;
    }
    if (!tally.missed_behaviours)
        fail_msg("nobody notices that %d and %d commute", (int)a, (int)b);
}

static void test_wrong_rows(void **unused)
{
    (void)unused;
    static const enum pct_use pairs[][2] = {
        { PCT_USE_READS, PCT_USE_ANY },  { PCT_USE_ANY, PCT_USE_ANY },      { PCT_USE_TAKES, PCT_USE_TAKES },
        { PCT_USE_TAKES, PCT_USE_BUSY }, { PCT_USE_GIVES, PCT_USE_BUSY },   { PCT_USE_DOWN, PCT_USE_DOWN },
        { PCT_USE_DOWN, PCT_USE_EMPTY }, { PCT_USE_UP, PCT_USE_EMPTY },     { PCT_USE_SHARES, PCT_USE_BUSY },
        { PCT_USE_PARTS, PCT_USE_BUSY }, { PCT_USE_SHARES, PCT_USE_TAKES }, { PCT_USE_NOBODY, PCT_USE_ANY },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        notice(pairs[i][0], pairs[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs), cmocka_unit_test(test_bounds),     cmocka_unit_test(test_lists),
        cmocka_unit_test(test_estimates),       cmocka_unit_test(test_wrong_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
