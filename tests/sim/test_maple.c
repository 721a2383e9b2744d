/* What the strategy maple is for: it forces an iRoot of each idiom, however many threads there are, in one of its two
 * orders; and a run ends as it would without it. Under the real scheduler, on the simulated host. */
#include "probe.h"
#include <strategies/iroot.h>
#include <strategies/strategies.h>
#include <stdio.h>

enum { MANY = 24, SEEDS = 100, BAD = 7 /* a variable that stays 0 */ };
enum { RANDOM, OLDEST, YOUNGEST };

#define FAIL CHECK(BAD, 1)
#define STOP                                                                                                           \
    {                                                                                                                  \
        .kind = SIM_END                                                                                                \
    }

/* One more access of the iRoot: this operation of the program. */
static void add(char *iroot, uint32_t op, const struct sim_op *at)
{
    sprintf(iroot + strlen(iroot), "-%u.%08x", op, (unsigned)(uintptr_t)at);
}

/* The iRoot of idiom 1 whose accesses are this store, and this load. Until the next one is. */
static const char *store_load(const struct sim_op *store, const struct sim_op *load)
{
    static char iroot[128];
    add(strcpy(iroot, "1"), PCT_OP_ATOMIC_STORE, store);
    add(iroot, PCT_OP_ATOMIC_LOAD, load);
    return iroot;
}

/* How often the assertion fails, in the runs of these seeds: `others` threads of the first kind, and one of the second.
 */
static uint32_t count_failures(const struct sim_op *first, const struct sim_op *second, const struct sim_op *end,
                               uint32_t others, const char *iroot, uint64_t order, uint64_t seeds)
{
    struct sim_op begin[2 * MANY + 8] = { STOP };
    uint32_t count = 0, failures = 0;
    for (uint32_t i = 0; i < others; i++)
        begin[count++] = (struct sim_op)CREATE(1);
    begin[count++] = (struct sim_op)CREATE(2);
    begin[count++] = (struct sim_op)JOIN(1);
    begin[count++] = (struct sim_op)JOIN(2);
    while (end && end->kind != SIM_END)
        begin[count++] = *end++;
    begin[count] = (struct sim_op)STOP;
    const struct sim_program program = { .thread = { begin, first, second } };
    struct sim_options options = sim_defaults(&pct_strategy_maple);
    options.run.list = iroot;
    sim_set(&options, "order", order);
    for (options.run.seed = 0; options.run.seed < seeds; options.run.seed++) {
        struct sim_result result;
        sim_run(&program, &options, &result);
        assert_true(result.verdict == PCT_VERDICT_EXIT || result.verdict == PCT_VERDICT_ASSERTION);
        failures += result.verdict == PCT_VERDICT_ASSERTION;
    }
    return failures;
}

struct access {
    uint32_t op;
    const struct sim_op *at;
};

/* The iRoot shows in one of the two orders, for few and for many threads; and in half of the runs of a random one. */
static void look(const char *name, uint32_t idiom, const struct sim_op *first, const struct sim_op *second,
                 const struct sim_op *end, const struct access *access, unsigned accesses)
{
    char iroot[128];
    sprintf(iroot, "%u", idiom);
    for (unsigned i = 0; i < accesses; i++)
        add(iroot, access[i].op, access[i].at);
    for (uint32_t others = 1; others <= MANY; others += 23) {
        uint32_t oldest = count_failures(first, second, end, others, iroot, OLDEST, 1);
        uint32_t youngest = count_failures(first, second, end, others, iroot, YOUNGEST, 1);
        uint32_t drawn = count_failures(first, second, end, others, iroot, RANDOM, SEEDS);
        uint32_t profile = count_failures(first, second, end, others, "", RANDOM, SEEDS);
        print_message("# %s, %u threads: %u, %u; random: %u of %d; profile: %u\n", name, others + 1, oldest, youngest,
                      drawn, SEEDS, profile);
        assert_true(oldest || youngest);
        assert_true(drawn >= SEEDS / 3);
    }
}

static void test_idioms(void **unused)
{
    (void)unused;
    static const struct sim_op set[] = { ATOMIC_WRITE(0, 1), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op check[] = { ATOMIC_READ(0), UNLESS(1, 3), ATOMIC_READ(1), UNLESS(0, 1), FAIL, STOP };
    const struct access order[] = { { PCT_OP_ATOMIC_LOAD, &check[2] }, { PCT_OP_ATOMIC_STORE, &set[1] } };
    look("idiom 1, order", 1, set, check, NULL, order, 2);

    static const struct sim_op write[] = { ATOMIC_WRITE(0, 1), STOP };
    static const struct sim_op twice[] = { ATOMIC_READ(0), UNLESS(0, 3), ATOMIC_READ(0), UNLESS(1, 1), FAIL, STOP };
    const struct access stale[] = { { PCT_OP_ATOMIC_LOAD, &twice[0] },
                                    { PCT_OP_ATOMIC_STORE, &write[0] },
                                    { PCT_OP_ATOMIC_LOAD, &twice[2] } };
    look("idiom 2, stale read", 2, write, twice, NULL, stale, 3);

    static const struct sim_op steps[] = { ATOMIC_WRITE(0, 1), ATOMIC_WRITE(0, 2), STOP };
    static const struct sim_op jump[] = { ATOMIC_READ(0), UNLESS(0, 3), ATOMIC_READ(0), UNLESS(2, 1), FAIL, STOP };
    const struct access both[] = { { PCT_OP_ATOMIC_LOAD, &jump[0] },
                                   { PCT_OP_ATOMIC_STORE, &steps[0] },
                                   { PCT_OP_ATOMIC_STORE, &steps[1] },
                                   { PCT_OP_ATOMIC_LOAD, &jump[2] } };
    look("idiom 3, two writes between", 3, steps, jump, NULL, both, 4);

    /* Between its two, their thread may make others. */
    static const struct sim_op more[] = { ATOMIC_WRITE(0, 1), ATOMIC_READ(0), ATOMIC_WRITE(0, 3), ATOMIC_WRITE(0, 2),
                                          STOP };
    const struct access apart[] = { { PCT_OP_ATOMIC_LOAD, &jump[0] },
                                    { PCT_OP_ATOMIC_STORE, &more[0] },
                                    { PCT_OP_ATOMIC_STORE, &more[3] },
                                    { PCT_OP_ATOMIC_LOAD, &jump[2] } };
    look("idiom 3, and others between these", 3, more, jump, NULL, apart, 4);

    const struct access half[] = { { PCT_OP_ATOMIC_STORE, &set[0] },
                                   { PCT_OP_ATOMIC_LOAD, &check[0] },
                                   { PCT_OP_ATOMIC_LOAD, &check[2] },
                                   { PCT_OP_ATOMIC_STORE, &set[1] } };
    look("idiom 4, half written", 4, set, check, NULL, half, 4);

    static const struct sim_op one[] = { ATOMIC_WRITE(0, 1), ATOMIC_READ(1), UNLESS(1, 1), ATOMIC_WRITE(2, 1), STOP };
    static const struct sim_op other[] = { ATOMIC_WRITE(1, 1), ATOMIC_READ(0), UNLESS(1, 1), ATOMIC_WRITE(3, 1), STOP };
    static const struct sim_op crossed[] = { ATOMIC_READ(2), UNLESS(1, 3), ATOMIC_READ(3), UNLESS(1, 1), FAIL, STOP };
    const struct access across[] = { { PCT_OP_ATOMIC_STORE, &one[0] },
                                     { PCT_OP_ATOMIC_LOAD, &other[1] },
                                     { PCT_OP_ATOMIC_STORE, &other[0] },
                                     { PCT_OP_ATOMIC_LOAD, &one[1] } };
    look("idiom 5, crossed", 5, one, other, crossed, across, 4);

    static const struct sim_op blink[] = { ATOMIC_WRITE(0, 1), ATOMIC_WRITE(0, 0), ATOMIC_WRITE(1, 1),
                                           ATOMIC_WRITE(1, 0), STOP };
    static const struct sim_op twin[] = { ATOMIC_READ(0), UNLESS(1, 3), ATOMIC_READ(1), UNLESS(1, 1), FAIL, STOP };
    const struct access parallel[] = { { PCT_OP_ATOMIC_STORE, &blink[0] },
                                       { PCT_OP_ATOMIC_LOAD, &twin[0] },
                                       { PCT_OP_ATOMIC_STORE, &blink[2] },
                                       { PCT_OP_ATOMIC_LOAD, &twin[2] } };
    look("idiom 6, both seen while they are set", 6, blink, twin, NULL, parallel, 4);
}

/* Of locks: what is between the sections of a writer. Threads are held before they have taken the lock. */
static void test_locks(void **unused)
{
    (void)unused;
    static const struct sim_op write[] = { LOCK(0), ATOMIC_WRITE(0, 1), UNLOCK(0),
                                           LOCK(1), ATOMIC_WRITE(1, 1), UNLOCK(1),
                                           STOP };
    static const struct sim_op read[] = { LOCK(0),        ATOMIC_READ(0), UNLOCK(0),    UNLESS(1, 5), LOCK(1),
                                          ATOMIC_READ(1), UNLOCK(1),      UNLESS(0, 1), FAIL,         STOP };
    const struct access between[] = { { PCT_OP_MUTEX_UNLOCK, &read[6] }, { PCT_OP_MUTEX_LOCK, &write[3] } };
    look("idiom 1, between sections", 1, write, read, NULL, between, 2);
}

/* Two dependencies of three threads, whatever the order of the threads is. */
static void test_combined(void **unused)
{
    (void)unused;
    static const struct sim_op set[] = { ATOMIC_WRITE(0, 1), STOP };
    static const struct sim_op both[] = { ATOMIC_READ(0), UNLESS(0, 3), ATOMIC_READ(1), UNLESS(1, 1), FAIL, STOP };
    static const struct sim_op answer[] = { ATOMIC_READ(0), UNLESS(1, 1), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op early[] = { ATOMIC_READ(0), UNLESS(0, 1), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op late[] = { ATOMIC_READ(1), UNLESS(1, 3), ATOMIC_READ(0), UNLESS(1, 1), FAIL, STOP };
    static const struct sim_op other[] = { ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op third[] = { ATOMIC_READ(0), UNLESS(1, 3), ATOMIC_READ(1), UNLESS(1, 1), FAIL, STOP };
    static const struct {
        const struct sim_op *thread[3];
        struct access access[4];
    } patterns[] = {
        { { early, set, late },
          { { PCT_OP_ATOMIC_LOAD, &early[0] },
            { PCT_OP_ATOMIC_STORE, &set[0] },
            { PCT_OP_ATOMIC_STORE, &early[2] },
            { PCT_OP_ATOMIC_LOAD, &late[0] } } },
        { { both, set, other },
          { { PCT_OP_ATOMIC_LOAD, &both[0] },
            { PCT_OP_ATOMIC_STORE, &set[0] },
            { PCT_OP_ATOMIC_STORE, &other[0] },
            { PCT_OP_ATOMIC_LOAD, &both[2] } } },
        { { set, answer, late },
          { { PCT_OP_ATOMIC_STORE, &set[0] },
            { PCT_OP_ATOMIC_LOAD, &answer[0] },
            { PCT_OP_ATOMIC_STORE, &answer[2] },
            { PCT_OP_ATOMIC_LOAD, &late[0] } } },
        { { set, third, other },
          { { PCT_OP_ATOMIC_STORE, &set[0] },
            { PCT_OP_ATOMIC_LOAD, &third[0] },
            { PCT_OP_ATOMIC_STORE, &other[0] },
            { PCT_OP_ATOMIC_LOAD, &third[2] } } },
    };
    static const uint8_t ways[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < sizeof ways / sizeof *ways; k++)
            for (uint32_t order = OLDEST; order <= YOUNGEST; order++) {
                const struct sim_op *const *thread = patterns[i].thread;
                const struct sim_program program = {
                    .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)), thread[ways[k][0]],
                                thread[ways[k][1]], thread[ways[k][2]] }
                };
                struct sim_options options = sim_defaults(&pct_strategy_maple);
                struct sim_result result;
                char list[128];
                sprintf(list, "%u", 7 + i);
                for (uint32_t n = 0; n < 4; n++)
                    add(list, patterns[i].access[n].op, patterns[i].access[n].at);
                options.run.list = list;
                sim_set(&options, "order", order);
                sim_run(&program, &options, &result);
                if (result.verdict != PCT_VERDICT_ASSERTION)
                    fail_msg("idiom %u, threads %u, order %u: %d", 7 + i, k, order, result.verdict);
            }
}

/* What brings the last access there is what the other thread does behind its own: order 9 lets it go on to there. */
static void test_goes_on(void **unused)
{
    (void)unused;
    static const struct sim_op set[] = { ATOMIC_WRITE(0, 1), ATOMIC_READ(2), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op look_at[] = { ATOMIC_READ(1), UNLESS(1, 2), ATOMIC_READ(0), FAIL, STOP };
    const char *iroot = store_load(&set[0], &look_at[2]);
    assert_int_equal(count_failures(set, look_at, NULL, 1, iroot, 1, 4), 0);
    assert_int_equal(count_failures(set, look_at, NULL, 1, iroot, 9, 4), 4);

    /* The last but one access of several, too. */
    static const struct sim_op read[] = { ATOMIC_READ(0), ATOMIC_READ(1), UNLESS(1, 2), ATOMIC_READ(0), FAIL, STOP };
    char three[128] = "2";
    add(three, PCT_OP_ATOMIC_LOAD, &read[0]);
    add(three, PCT_OP_ATOMIC_STORE, &set[0]);
    add(three, PCT_OP_ATOMIC_LOAD, &read[3]);
    assert_int_equal(count_failures(read, set, NULL, 1, three, 1, 4), 0);
    assert_int_equal(count_failures(read, set, NULL, 1, three, 9, 4), 4);
}

/* Whatever the iRoot is, nobody waits for ever: not one that is held with a lock that others need, nor one that polls
 * for what a held one does, nor at a barrier. */
static void test_progress(void **unused)
{
    (void)unused;
    static const struct sim_op first[] = {
        LOCK(0), ATOMIC_WRITE(0, 1), UNLOCK(0), BARRIER(0), LOCK(1), UNLOCK(1), STOP
    };
    static const struct sim_op second[] = { LOCK(1),        ATOMIC_WRITE(1, 1), UNLOCK(1), BARRIER(0), YIELD,
                                            ATOMIC_READ(0), UNLESS(1, 0),       LOCK(0),   UNLOCK(0),  STOP };
    static const struct sim_op poll[] = { YIELD, ATOMIC_READ(1), UNLESS(0, 1), BACK(3), STOP };
    static const uint8_t ops[] = { PCT_OP_MUTEX_LOCK, PCT_OP_ATOMIC_STORE, PCT_OP_MUTEX_UNLOCK, PCT_OP_ATOMIC_LOAD };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
                                                     first, second, poll },
                                         .barrier = { 2 } };
    struct sim_options options = sim_defaults(&pct_strategy_maple);
    uint64_t random = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        char iroot[128];
        uint32_t idiom = 1 + i % PCT_IROOT_IDIOMS, accesses = idiom == 1 ? 2 : idiom == 2 ? 3 : 4;
        sprintf(iroot, "%u", idiom);
        for (uint32_t k = 0; k < accesses; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            const struct sim_op *at = random >> 60 & 1 ? &first[(random >> 40) % 6] : &second[(random >> 40) % 9];
            add(iroot, ops[random >> 50 & 3], at);
        }
        if (i % 3 == 0) {
            strcat(iroot, i % 2 ? "-n" : "-x");
            for (uint32_t k = 0; i % 2 && k < accesses; k++)
                sprintf(iroot + strlen(iroot), "%u.", (i / 6 + k) % 4);
            sprintf(iroot + strlen(iroot), "%u.%u.%u.%u.0.%x", 1 + i % 23, i % 4, (i + 1 + i % 2) % 4, i % 2, i);
        }
        options.run.list = iroot;
        options.run.seed = i;
        sim_set(&options, "order", i / PCT_IROOT_IDIOMS % PCT_IROOT_ORDERS);
        struct sim_result result;
        sim_run(&program, &options, &result);
        assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
    }
}

/* With order 9, too, where others poll for what the one does that goes on, or for what one does that would come in
 * between. */
static void test_others_progress(void **unused)
{
    (void)unused;
    static const struct sim_op set[] = { ATOMIC_WRITE(0, 1), YIELD, REPEAT(40, 1), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op spoil[] = { ATOMIC_WRITE(0, 2), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op poll[] = { YIELD, ATOMIC_READ(1), UNLESS(0, 1), BACK(3), ATOMIC_READ(0), STOP };
    for (unsigned spoils = 0; spoils < 2; spoils++) {
        const struct sim_program program = { .thread = {
                                                 THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
                                                 set, poll, spoils ? spoil : poll } };
        struct sim_options options = sim_defaults(&pct_strategy_maple);
        struct sim_result result;
        options.run.list = store_load(&set[0], &poll[4]);
        options.max_steps = 200000;
        sim_set(&options, "order", 9);
        sim_run(&program, &options, &result);
        assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
    }
}

/* Nor is one let go again and again that tries for what another one waits for, or owns it. */
static void test_owner_progress(void **unused)
{
    (void)unused;
    static const struct sim_op poll[] = { LOCK(0),      LOCK(1), UNLOCK(1), YIELD, TRYDOWN(0),
                                          UNLESS(0, 1), BACK(5), UNLOCK(0), STOP };
    static const struct sim_op wait[] = { YIELD, LOCK(0), UNLOCK(0), DOWN(0), STOP };
    static const struct sim_op set[] = { YIELD, UP(0), UP(0), STOP };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
                                                     poll, wait, set } };
    struct sim_options options = sim_defaults(&pct_strategy_maple);
    char iroot[128] = "2";
    add(iroot, PCT_OP_SEM_WAIT, &wait[3]);
    add(iroot, PCT_OP_SEM_POST, &set[1]);
    add(iroot, PCT_OP_SEM_TRYWAIT, &poll[4]);
    options.run.list = iroot;
    options.max_steps = 200000;
    for (unsigned order = 0; order < PCT_IROOT_ORDERS; order++) {
        struct sim_result result;
        sim_set(&options, "order", order);
        sim_run(&program, &options, &result);
        assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
    }
}

/* Nor is one that is held, and tries in vain, let go for ever while another one that is kept back too is to do it. */
static void test_kept_progress(void **unused)
{
    (void)unused;
    static const struct sim_op poll[] = { YIELD, TRYDOWN(0), UNLESS(0, 1), BACK(3), ATOMIC_WRITE(1, 1), STOP };
    static const struct sim_op post[] = { DOWN(1), ATOMIC_WRITE(0, 1), UP(0), STOP };
    static const struct sim_op give[] = { ATOMIC_WRITE(0, 2), UP(1), ATOMIC_READ(0), STOP };
    static const struct {
        uint8_t op;
        const struct sim_op *at;
    } accesses[] = { { PCT_OP_SEM_TRYWAIT, &poll[1] },
                     { PCT_OP_SEM_WAIT, &post[0] },
                     { PCT_OP_SEM_POST, &post[2] },
                     { PCT_OP_SEM_POST, &give[1] },
                     { PCT_OP_ATOMIC_STORE, &post[1] } };
    enum { ACCESSES = sizeof accesses / sizeof *accesses };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
                                                     poll, post, give } };
    struct sim_options options = sim_defaults(&pct_strategy_maple);
    uint64_t random = 0;
    options.max_steps = 200000;
    for (uint32_t i = 0; i < 6000; i++) {
        char iroot[128];
        uint32_t idiom = 1 + i % PCT_IROOT_IDIOMS, count = idiom == 1 ? 2 : idiom == 2 ? 3 : 4;
        sprintf(iroot, "%u", idiom);
        for (uint32_t k = 0; k < count; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            const uint64_t which = (random >> 40) % ACCESSES;
            add(iroot, accesses[which].op, accesses[which].at);
        }
        options.run.list = iroot;
        options.run.seed = i;
        sim_set(&options, "order", i / PCT_IROOT_IDIOMS % PCT_IROOT_ORDERS);
        struct sim_result result;
        sim_run(&program, &options, &result);
        assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
    }
}

/* A run that follows another one to behind its end is that one: a profile run, one that forces something, and one that
 * follows a run itself. */
static void test_follows(void **unused)
{
    (void)unused;
    static const struct sim_op first[] = {
        ATOMIC_READ(0), ATOMIC_WRITE(0, 1), LOCK(0), UNLOCK(0), ATOMIC_READ(1), STOP
    };
    static const struct sim_op second[] = {
        ATOMIC_READ(1), ATOMIC_WRITE(1, 1), LOCK(0), UNLOCK(0), ATOMIC_READ(0), STOP
    };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(1), JOIN(1), JOIN(2)), first,
                                                     second } };
    struct sim_options options = sim_defaults(&pct_strategy_maple);
    char forced[128] = "1", never[128] = "1";
    add(forced, PCT_OP_ATOMIC_LOAD, &first[4]);
    add(forced, PCT_OP_ATOMIC_STORE, &second[1]);
    add(never, PCT_OP_ATOMIC_LOAD, &second[3]);
    add(never, PCT_OP_ATOMIC_LOAD, &second[3]);
    uint32_t differing = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char followed[320], list[512];
        struct sim_result result, again;
        uint32_t order = seed % 3 ? (uint32_t)seed % 10 : 0;
        sprintf(followed, "%s", seed % 3 ? forced : "");
        if (seed % 3 == 2)
            sprintf(followed + strlen(followed), "-x%u.1.2.1.0.7", (unsigned)seed / 6 + 1);
        options.run.list = followed;
        options.run.seed = seed;
        sim_set(&options, "order", order);
        sim_run(&program, &options, &result);
        assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
        options.run.seed = 4711;
        options.run.list = list;
        sim_set(&options, "order", 1);
        sprintf(list, "%s-x%u.1.2.0.%u.%x%s%s", never, (unsigned)result.steps + 1, order, (unsigned)seed,
                *followed ? "-" : "", followed);
        sim_run(&program, &options, &again);
        assert_int_equal(again.hash, result.hash);
        sprintf(list, "%s-x%u.1.2.0.%u.%x%s%s", forced, 7u, order, (unsigned)seed, *followed ? "-" : "", followed);
        sim_run(&program, &options, &again);
        assert_true(again.verdict == PCT_VERDICT_EXIT || (seed % 3 == 2 && seed / 6 + 1 >= 7));
        differing += again.hash != result.hash;
    }
    assert_true(differing > 10);
}

/* A thread counts to five; others fail where they see one, two or three. */
static const struct sim_op count[] = { ATOMIC_ADD(0, 1), REPEAT(4, 1), STOP };
static const struct sim_op look_at[][5] = { { ATOMIC_READ(0), UNLESS(1, 1), FAIL, STOP },
                                            { ATOMIC_READ(0), UNLESS(2, 1), FAIL, STOP },
                                            { ATOMIC_READ(0), UNLESS(3, 1), FAIL, STOP } };

/* Of several rounds, the access is in the one that the list says: the value that the other thread sees tells. */
static void test_visits(void **unused)
{
    (void)unused;
    for (unsigned visit = 1; visit <= 3; visit++) {
        const struct sim_op *seen = look_at[visit - 1];
        char counted[128] = "1", any[128];
        add(counted, PCT_OP_ATOMIC_UPDATE, &count[0]);
        add(counted, PCT_OP_ATOMIC_LOAD, &seen[0]);
        sprintf(any, "%s-x1.1.2.0.1.1", counted);
        sprintf(counted + strlen(counted), "-n%u.1.1.1.2.0.1.1", visit);
        assert_int_equal(count_failures(count, seen, NULL, 1, counted, OLDEST, 1), 1);
        assert_int_equal(count_failures(count, seen, NULL, 1, any, OLDEST, 1), visit == 1);
    }
}

/* Step by step, as the list says, from before the threads are there; and a thread that cannot go on ends that. */
static void test_segments(void **unused)
{
    (void)unused;
    for (unsigned made = 1; made <= 3; made++) {
        const struct sim_op *seen = look_at[made - 1];
        char list[128] = "1", more[128];
        add(list, PCT_OP_ATOMIC_UPDATE, &count[0]);
        add(list, PCT_OP_ATOMIC_LOAD, &seen[0]);
        sprintf(more, "%s-s4.%u.1.1.1.1.1.2.0.1.1", list, made);
        sprintf(list + strlen(list), "-s2.%u.2.1.1.2.0.1.1", made + 1);
        assert_int_equal(count_failures(count, seen, NULL, 1, list, OLDEST, 1), 1);
        assert_int_equal(count_failures(count, seen, NULL, 1, more, OLDEST, 1), 1);
    }
    static const struct sim_op first[] = { LOCK(0), ATOMIC_ADD(0, 1), UNLOCK(0), STOP };
    static const struct sim_op second[] = { LOCK(0), ATOMIC_READ(0), UNLOCK(0), STOP };
    char list[128] = "1";
    add(list, PCT_OP_ATOMIC_UPDATE, &first[1]);
    add(list, PCT_OP_ATOMIC_LOAD, &second[1]);
    sprintf(list + strlen(list), "-s4.2.9.9.9.1.1.2.0.1.1");
    assert_int_equal(count_failures(first, second, NULL, 1, list, OLDEST, 1), 0);
}

static void test_lists(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "x1.0.1.0.0.1",
        "1-1.00000000-1.00000000-x0.0.1.0.0.1",
        "1-1.00000000-1.00000000-x1.0.0.0.0.1",
        "1-1.00000000-1.00000000-x1.0.1.2.0.1",
        "1-1.00000000-1.00000000-x1.0.1.0.12.1",
        "1-1.00000000-1.00000000-x1.0.1.0.0.",
        "1-1.00000000-1.00000000-x1.0.1.0.0.g",
        "1-1.00000000-1.00000000-x1.0.1.0.0.00000000000000001",
        "1-1.00000000-1.00000000-x1.0.1.0.0.1-",
        "1-1.00000000-1.00000000-x1.0.99999.0.0.1",
        "1-1.00000000-1.00000000-x4.0.1.0.0.1-1-1.00000000-1.00000000-x4.0.1.0.0.1",
        "1-1.00000000-1.00000000-n1.4.0.1.0.0.1",
        "1-1.00000000-1.00000000-n1.256.4.0.1.0.0.1",
        "1-1.00000000-1.00000000-n1.1x4.0.1.0.0.1",
        "1-1.00000000-1.00000000-s0.4.0.1.0.0.1",
        "1-1.00000000-1.00000000-s2.1.4.0.1.0.0.1",
        "1-1.00000000-1.00000000-s1.256.4.0.1.0.0.1",
        "1-1.00000000-1.00000000-s9.1.1.1.1.1.1.1.1.1.4.0.1.0.0.1",
    };
    const struct sim_program program = { .thread = { THREAD(YIELD) } };
    struct sim_options options = sim_defaults(&pct_strategy_maple);
    struct sim_result result;
    options.run.list = "1-1.00000000-1.00000000-x4.0.1.0.9.1-1-1.00000000-1.00000000-x3.0.1.1.0.ffffffffffffffff";
    sim_run(&program, &options, &result);
    assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.run.list = wrong[i];
        sim_run(&program, &options, &result);
        assert_int_equal(result.verdict, PCT_VERDICT_INTERNAL);
    }
}

/* Section 4.6: what the partner waits for comes from outside. Replayed, it comes there, too. */
static void test_outside(void **unused)
{
    (void)unused;
    enum { MS = 1000000, OUTSIDE = 10, OUTSIDE_YOUNGEST };
    static const struct {
        uint64_t at; /* when it comes */
        uint64_t order;
        bool found;
    } tries[] = { { 5 * MS, OLDEST, false },
                  { 5 * MS, YOUNGEST, false },
                  { 5 * MS, OUTSIDE, true },
                  { 5 * MS, OUTSIDE_YOUNGEST, true },
                  { UINT64_C(500) * MS, OUTSIDE, false } };
    static uint64_t records[4096];
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        static const struct sim_op set[] = { DOWN_SHARED(0), ATOMIC_WRITE(0, 1), STOP };
        static const struct sim_op check[] = { ATOMIC_READ(0), UNLESS(1, 1), FAIL, STOP };
        static const struct sim_op begin[] = { CREATE(1), CREATE(2), JOIN(1), JOIN(2), STOP };
        const struct sim_program program = { .thread = { begin, set, check },
                                             .event = { { .at = tries[i].at, .post = true } } };
        struct sim_options options = sim_defaults(&pct_strategy_maple);
        struct sim_result result, again;
        options.run.list = store_load(&set[1], &check[0]);
        sim_set(&options, "order", tries[i].order);
        options.records = records;
        options.max = sizeof records / sizeof *records;
        sim_run(&program, &options, &result);
        print_message("# order %u: %s, %llu real ns, %llu steps\n", (unsigned)tries[i].order, result.message,
                      (unsigned long long)result.real_ns, (unsigned long long)result.steps);
        assert_null(result.broken);
        assert_int_equal(result.verdict, tries[i].found ? PCT_VERDICT_ASSERTION : PCT_VERDICT_EXIT);
        struct sim_options replay = { .replay = records, .replay_count = result.recorded };
        sim_run(&program, &replay, &again);
        print_message("# again: %s\n", again.message);
        assert_null(again.broken);
        assert_int_equal(again.verdict, result.verdict);
        assert_int_equal(again.hash, result.hash);
    }
}

/* While that has its time, none passes for deadlines: one that is held could go on before them. */
static void test_outside_in_vain(void **unused)
{
    (void)unused;
    const uint64_t s = UINT64_C(1000000000);
    static const struct sim_op set[] = { DOWN_POLLED(0), ATOMIC_WRITE(0, 1), STOP };
    static const struct sim_op check[] = { ATOMIC_READ(0), UP(1), STOP };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), JOIN(2), JOIN(3),
                                                            UP_KERNEL(0), JOIN(1)),
                                                     set, check, THREAD(DOWN_FOR(1, 1000 * s), UNLESS(0, 1), FAIL) },
                                         .relative = 1 /* real ns: it sleeps from then on */ };
    for (unsigned order = 10; order <= 11; order++) {
        struct sim_options options = sim_defaults(&pct_strategy_maple);
        struct sim_result result;
        options.run.list = store_load(&set[1], &check[0]);
        sim_set(&options, "order", order);
        sim_run(&program, &options, &result);
        assert_null(result.broken);
        assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
    }
}

/* Whoever is enabled goes on if it must, but what comes from outside has a while before. */
static uint32_t reluctantly(void *state, uint64_t step, uint64_t ran, uint32_t without)
{
    (void)state;
    (void)step;
    (void)ran;
    if (without != PCT_NO_THREAD || !probe.enabled)
        return 0;
    return (31u - (uint32_t)__builtin_clz(probe.enabled)) | PCT_RELUCTANTLY;
}

static void note_real_time(struct sim *s)
{
    s->note[0] = s->real_ns;
}

/* The while (RELUCTANT_NS) ends also where there was nobody to keep back when the process began to wait. */
static void test_reluctant(void **unused)
{
    (void)unused;
    struct pct_strategy reluctant = probe_strategy;
    reluctant.would_pick = reluctantly;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), DOWN_SHARED(0), CALL(note_real_time),
                                                            JOIN(1), JOIN(2)),
                                                     THREAD(DOWN_SHARED(1)), THREAD(DOWN_POLLED(2)) },
                                         .event = { { .at = 500000000, .sem = 0, .post = true },
                                                    { .at = 900000000, .sem = 1, .post = true },
                                                    { .at = 900000000, .sem = 2, .post = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        struct sim_options options = { .strategy = &reluctant };
        assert_int_equal(probe_run_with(&program, (enum prefer)prefer, 1, options), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 600000000, 610000000);
    }
}

/* In long runs priorities change seldom, be the iRoot made at once or never: each hand-over takes microseconds. */
static void test_seldom(void **unused)
{
    (void)unused;
    static const struct sim_op set[] = { ATOMIC_WRITE(0, 1), ATOMIC_WRITE(1, 1), REPEAT(2000, 1), STOP };
    static const struct sim_op look_on[] = { ATOMIC_READ(0), ATOMIC_WRITE(1, 2), REPEAT(2000, 1), STOP };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), JOIN(1), JOIN(2)), set, look_on } };
    for (unsigned never = 0; never < 2; never++) {
        struct sim_options options = sim_defaults(&pct_strategy_maple);
        struct sim_result result;
        uint64_t switches = 0;
        options.run.list = store_load(&set[2 * never], &look_on[2 * never]);
        sim_set(&options, "order", 4);
        for (options.run.seed = 0; options.run.seed < SEEDS / 4; switches += result.switches, options.run.seed++)
            sim_run(&program, &options, &result);
        assert_in_range(switches, 4 * (SEEDS / 4), result.steps / 20 * (SEEDS / 4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follows),        cmocka_unit_test(test_visits),
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_idioms),
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_locks),
        cmocka_unit_test(test_progress),       cmocka_unit_test(test_others_progress),
        cmocka_unit_test(test_owner_progress), cmocka_unit_test(test_kept_progress),
        cmocka_unit_test(test_goes_on),        cmocka_unit_test(test_combined),
        cmocka_unit_test(test_outside),        cmocka_unit_test(test_outside_in_vain),
        cmocka_unit_test(test_reluctant),      cmocka_unit_test(test_seldom),
    };
    return cmocka_run_group_tests_name("maple", tests, NULL, NULL);
}
