/* The recorder and the replay: blocks, the running hash against its definition in docs/TRACE.md, running out of space,
 * the ring of last steps, following a trace, and saying where a run left it. Programs run on the simulated host. */
#include "probe.h"
#include <pct/random.h>
#include <stdio.h>
#include <strategies/strategies.h>

enum { RING = 16 * PCT_TRACE_BLOCK, AREA = 64 * PCT_TRACE_BLOCK, BIG = 1 << 20 };
static uint64_t area[BIG], whole[BIG];

/* docs/TRACE.md, "Hash". */
static uint64_t hash_of(const uint64_t *records, uint64_t count)
{
    uint64_t hash = 0;
    for (; count >= 512; records += 512, count -= 512)
        hash = XXH3_64bits_withSeed(records, 4096, hash);
    return count ? XXH3_64bits_withSeed(records, 8 * count, hash) : hash;
}

/* A program of exactly this many steps, with different records. */
static struct sim_program of_length(uint64_t steps, struct sim_op list[5])
{
    list[0] = (struct sim_op)READ(0);
    list[1] = (struct sim_op)WRITE(1, 1);
    list[2] = (struct sim_op)REPEAT(((int64_t)steps - 1) / 2, 2);
    list[3] = (struct sim_op){ .kind = SIM_END };
    if (steps % 2 == 0) {
        list[3] = (struct sim_op)READ(2);
        list[4] = (struct sim_op){ .kind = SIM_END };
    }
    return (struct sim_program){ .thread = { list } };
}

static void run_whole(const struct sim_program *program)
{
    struct sim_options options = { .records = whole, .max = BIG };
    assert_int_equal(probe_run_with(program, PREFER_NEW, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.recorded, probe_result.steps);
    assert_false(sim.sched.ring);
}

/* As a signal handler does whose own steps have filled the block that its thread was about to record in. */
static void fill_block(struct sim *s)
{
    struct pct_sched *sched = &s->sched;
    uint64_t before = pct_steps(sched);
    while (!pct_is_full(sched))
        pct_record(sched, &s->running->core, PCT_OP_YIELD, 0, 0);
    uint64_t made = pct_steps(sched) - before;
    pct_sched_make_room(sched, &s->running->core);
    sim_check(pct_steps(sched) == before + made, "steps were lost or made");
    sim_check(sched->record == sched->block, "there is no room");
    sim_check(!pct_on_fast_path(sched), "the fast path would run on to a stop in another block");
    sim_check(sched->current == &s->running->core, "the baton was lost");
}

/* Blocks that are turned beside scheduling points, around the whole ring. */
static void test_make_room(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(READ(0), CALL(fill_block), WRITE(1, 1), REPEAT(40, 3)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_true(sim.sched.ring);
    assert_true(probe_result.steps > 2 * RING);
}

/* A trace that is closed while its last thread runs on: what is written to it ends with the block. */
static void test_closed(void **unused)
{
    (void)unused;
    struct sim_op list[5];
    struct sim_program program = of_length(700, list);
    run_whole(&program);
    struct pct_sched *s = &sim.sched;
    uint64_t *block = s->block, after = block[PCT_TRACE_BLOCK];
    pct_record_close(s);
    pct_record_finish(s);
    uint64_t steps = s->header->steps, hash = s->header->hash, last[4], now[4];
    assert_int_equal(pct_record_last(s, last, 4), 4);
    for (unsigned i = 0; i < 3 * PCT_TRACE_BLOCK; i++) {
        pct_record(s, &sim.thread[0].core, PCT_OP_YIELD, 0, 0);
        if (pct_is_full(s))
            pct_record_turn(s);
    }
    assert_int_equal(s->header->steps, steps);
    assert_int_equal(s->header->hash, hash);
    assert_int_equal(block[PCT_TRACE_BLOCK], after);
    assert_int_equal(pct_record_last(s, now, 4), 4);
    assert_memory_equal(now, last, sizeof now);
}

/* The hash by its definition, whether all steps were kept or only the last. */
static void test_hash(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = { 3,    4,    100,  510,  511,  512,  513,  514,  1023,
                                        1024, 1025, 4096, 8191, 8192, 8193, 8705, 50000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct sim_op list[5];
        struct sim_program program = of_length(lengths[i], list);
        run_whole(&program);
        assert_int_equal(probe_result.steps, lengths[i]);
        uint64_t hash = probe_result.hash;
        assert_int_equal(hash, hash_of(whole, lengths[i]));
        assert_int_equal(probe_run(&program, PREFER_NEW, 7), PCT_VERDICT_EXIT);
        assert_true(sim.sched.ring);
        assert_int_equal(probe_result.steps, lengths[i]);
        assert_int_equal(probe_result.hash, hash);
    }
}

/* A record says who did what to which object, and how it went. Objects are numbered as they are first come to: main
 * stands before its first lock while thread 1 runs. */
static void test_records(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), LOCK(3), UNLOCK(3), TRYLOCK(2), JOIN(1)),
                                                     THREAD(READ(0), TRYLOCK(2)) } };
    run_whole(&program);
    const uint64_t expected[] = {
        PCT_RECORD(0, PCT_OP_THREAD_CREATE, 0, 1), PCT_RECORD(1, PCT_OP_THREAD_START, 0, 1),
        PCT_RECORD(1, PCT_OP_NONE, 1, 2),          PCT_RECORD(1, PCT_OP_MUTEX_TRYLOCK, 0, 3),
        PCT_RECORD(1, PCT_OP_THREAD_FINISH, 0, 1), PCT_RECORD(0, PCT_OP_MUTEX_LOCK, 0, 1),
        PCT_RECORD(0, PCT_OP_MUTEX_UNLOCK, 0, 1),  PCT_RECORD(0, PCT_OP_MUTEX_TRYLOCK, PCT_ARG_BUSY, 3),
        PCT_RECORD(0, PCT_OP_THREAD_JOIN, 0, 1),   PCT_RECORD(0, PCT_OP_THREAD_FINISH, 0, 0),
    };
    assert_int_equal(probe_result.steps, sizeof expected / sizeof *expected);
    assert_memory_equal(whole, expected, sizeof expected);
    assert_int_equal(sim.header.objects, 3);
    assert_int_equal(sim.header.threads, 2);
}

/* No space for more: the run goes on, the first part is kept, the hash covers everything, the header says so. */
static void test_out_of_space(void **unused)
{
    (void)unused;
    struct sim_op list[5];
    struct sim_program program = of_length(20001, list);
    run_whole(&program);
    uint64_t hash = probe_result.hash;
    static const struct {
        uint64_t max, populate, recorded;
    } cases[] = {
        { AREA, 8 * 512 * 8, 8 * 512 }, /* memory for the first eight blocks, and then no more */
        { AREA, 16 * 512 * 8, 16 * 512 },
        { 512, 0, 512 },  /* a small area */
        { 1000, 0, 512 }, /* not a whole number of blocks */
        { 5 * 512, 0, 5 * 512 },
        { 12 * 512 + 511, 0, 12 * 512 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(area, 0xee, sizeof area);
        struct sim_options options = { .records = area, .max = cases[i].max, .populate = cases[i].populate };
        assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.steps, 20001);
        assert_int_equal(probe_result.recorded, cases[i].recorded);
        assert_int_equal(probe_result.hash, hash);
        assert_memory_equal(area, whole, cases[i].recorded * 8);
        assert_int_equal(area[cases[i].recorded], UINT64_C(0xeeeeeeeeeeeeeeee)); /* nothing is written behind it */
        assert_non_null(strstr(sim.header.message, "no space for the trace"));
        assert_true(sim.sched.ring);
    }
    /* Not even the first block. */
    static const struct {
        uint64_t max, populate;
    } none[] = { { 511, 0 }, { AREA, 8 } };
    for (size_t i = 0; i < 2; i++) {
        memset(area, 0xee, sizeof area);
        struct sim_options options = { .records = area, .max = none[i].max, .populate = none[i].populate };
        assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.recorded, 0);
        assert_int_equal(probe_result.hash, hash);
        assert_int_equal(area[0], UINT64_C(0xeeeeeeeeeeeeeeee));
    }
}

static void assert_last(uint64_t steps, uint32_t most, uint32_t least)
{
    static uint64_t last[RING + 1];
    uint32_t count = pct_record_last(&sim.sched, last, most);
    assert_in_range(count, least, most);
    assert_memory_equal(last, whole + steps - count, count * sizeof *last);
}

/* The last steps, for a report: from the area, from a ring that came round, from a ring that began late. */
static void test_last(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = { 5,    511,  513,  4095,  4096,  4097,  4110,  4700, 8191,
                                        8192, 8193, 9000, 12287, 12288, 12289, 16385, 30000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct sim_op list[5];
        uint64_t n = lengths[i];
        struct sim_program program = of_length(n, list);
        run_whole(&program);
        assert_last(n, 32, n < 32 ? (uint32_t)n : 32);
        assert_last(n, 1, 1);
        probe_run(&program, PREFER_NEW, PCT_UNLIMITED);
        assert_last(n, 32, n < 32 ? (uint32_t)n : 32);
        assert_last(n, RING + 1, n < RING ? (uint32_t)n : RING);
        /* Space for eight blocks: what comes later stands in a ring, and what came before does not. */
        struct sim_options options = { .records = area, .max = 8 * PCT_TRACE_BLOCK };
        probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, options);
        uint64_t in_ring = n < 8 * PCT_TRACE_BLOCK ? n : n - 8 * PCT_TRACE_BLOCK;
        assert_last(n, 32, in_ring < 32 ? (uint32_t)in_ring : 32);
    }
}

/* --- Replay ------------------------------------------------------------------------------------------------------- */

/* Everything that a run can contain, with verdicts of all kinds. */
static const struct sim_program mixed = {
    .name = "mixed",
    .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), LOCK(1), SIGNAL(0), UNLOCK(1), UP(0), READ(5), BARRIER(0),
                       SLEEP(100000), UP(0), JOIN(1), JOIN(2), JOIN(3), WRITE(6, 1), EXIT),
                THREAD(LOCK(1), WAIT_FOR(0, 1, 50000), UNLOCK(1), BARRIER(0), TRYLOCK(2), UNLESS(1, 2), YIELD,
                       UNLOCK(2), SLEEP(3000), DOWN_FOR(0, 20000)),
                THREAD(LOCK(1), WAIT_FOR(0, 1, 50000), UNLOCK(1), TRYLOCK(2), UNLESS(1, 2), READ(2), UNLOCK(2),
                       BARRIER(0), YIELD, CLOCK, SLEEP(0), DOWN_FOR(0, 20000)),
                THREAD(LOCK(1), SIGNAL(0), WAIT_FOR(0, 1, 1000), BROADCAST(0), UNLOCK(1), BARRIER(0), TRYDOWN(0),
                       SLEEP(10)) },
    .barrier = { 4 }
};
static const struct sim_program abba = { .name = "abba",
                                         .thread = { THREAD(CREATE(1), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), JOIN(1)),
                                                     THREAD(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) } };
static const struct sim_program order = {
    .name = "order", .thread = { THREAD(CREATE(1), READ(1), WRITE(0, 1), JOIN(1)), THREAD(READ(1), CHECK(0, 1)) }
};
static const struct sim_program waits = {
    .name = "waits",
    .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(3), READ(3), READ(3), READ(3), LOCK(0), SIGNAL(0),
                       SIGNAL(0), SIGNAL(0), UNLOCK(0), JOIN(1), JOIN(2), JOIN(3)),
                THREAD(LOCK(0), WAIT_FOR(0, 0, 900000), READ(0), STORE(1), UNLOCK(0)),
                THREAD(LOCK(0), WAIT_FOR(0, 0, 900000), READ(0), STORE(1), UNLOCK(0)),
                THREAD(LOCK(0), WAIT_FOR(0, 0, 900000), READ(0), STORE(1), UNLOCK(0)) }
};

/* Every run of every strategy replays by its trace, under another strategy, to the same trace and the same verdict. */
static void test_replay(void **unused)
{
    (void)unused;
    const struct sim_program *const programs[] = { &mixed, &abba, &order, &waits };
    bool seen[8] = { false };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
            for (uint64_t seed = 0; seed < 200; seed++) {
                struct sim_options options = sim_defaults(*strategy);
                options.run.seed = seed;
                options.records = whole;
                options.max = BIG;
                sim_set(&options, "k", 60);
                probe_run_with(programs[i], PREFER_NEW, 1, options);
                struct sim_result recorded = probe_result;
                seen[recorded.verdict] = true;
                struct sim_options replay = { .replay = whole, .replay_count = recorded.recorded };
                probe.picks = probe.chooses = probe.spins = 0;
                probe_run_with(programs[i], PREFER_NEW, 1, replay);
                if (probe_result.verdict != recorded.verdict)
                    fail_msg("%s, %s, seed %lu: verdict %d, was %d: %s", programs[i]->name, (*strategy)->name,
                             (unsigned long)seed, (int)probe_result.verdict, (int)recorded.verdict,
                             probe_result.message);
                assert_int_equal(probe_result.hash, recorded.hash);
                assert_int_equal(probe_result.steps, recorded.steps);
                assert_int_equal(probe_result.virtual_ns, recorded.virtual_ns);
                assert_int_equal(probe_result.switches, recorded.switches);
                assert_int_equal(probe.picks, 0); /* nobody was asked */
                assert_int_equal(probe.chooses, 0);
                assert_int_equal(probe.spins, 0);
            }
    assert_true(seen[PCT_VERDICT_EXIT] && seen[PCT_VERDICT_DEADLOCK] && seen[PCT_VERDICT_ASSERTION]);
}

/* Replay `other` by the trace of `program`; it must leave it, with this message. */
static void assert_divergence(const struct sim_program *program, const struct sim_program *other, const char *message)
{
    struct sim_options options = { .records = whole, .max = BIG };
    probe_run_with(program, PREFER_NEW, PCT_UNLIMITED, options);
    struct sim_options replay = { .replay = whole, .replay_count = probe_result.recorded };
    assert_int_equal(probe_run_with(other, PREFER_NEW, 1, replay), PCT_VERDICT_DIVERGENCE);
    assert_string_equal(probe_result.message, message);
}

static void take_mutex(struct sim *s)
{
    s->mutex[0] = 99;
}

/* A replay of a changed program says at which step it left, what was recorded there, and what came. */
static void test_divergence(void **unused)
{
    (void)unused;
    const struct sim_program base = { .thread = { THREAD(CREATE(1), READ(7), LOCK(0), UNLOCK(0), JOIN(1)),
                                                  THREAD(READ(1), READ(2)) } };
    struct sim_program other = base;
    other.thread[0] = THREAD(CREATE(1), READ(7), LOCK(0), READ(7), JOIN(1));
    assert_divergence(&base, &other, "at step 8: expected thread 0: unlock #4, came thread 0: none #1 (1)");
    other.thread[0] = THREAD(CREATE(1), READ(7), TRYLOCK(0), UNLOCK(0), JOIN(1));
    assert_divergence(&base, &other, "at step 7: expected thread 0: lock #4, came thread 0: trylock #4");
    /* Another object. */
    other.thread[0] = base.thread[0];
    other.thread[1] = THREAD(READ(1), READ(1));
    assert_divergence(&base, &other, "at step 4: expected thread 1: none #3 (1), came thread 1: none #2 (1)");
    /* Another result. */
    const struct sim_program got = { .thread = { THREAD(READ(0), TRYLOCK(0)) } };
    const struct sim_program missed = { .thread = { THREAD(READ(0), CALL(take_mutex), TRYLOCK(0)) } };
    assert_divergence(&got, &missed, "at step 2: expected thread 0: trylock #2, came thread 0: trylock #2 (2)");
    /* Too many steps. */
    other.thread[0] = THREAD(CREATE(1), READ(7), LOCK(0), UNLOCK(0), JOIN(1), READ(7));
    other.thread[1] = base.thread[1];
    assert_divergence(&base, &other, "at step 10: expected thread 0: finish, came thread 0: none #1 (1)");
    const struct sim_program ends = { .thread = { THREAD(READ(0), EXIT_NOW) } };
    const struct sim_program goes_on = { .thread = { THREAD(READ(0), READ(0)) } };
    assert_divergence(&ends, &goes_on, "at step 2: expected thread 0: exit now, came thread 0: none #1 (1)");
}

/* The threads that the trace names may be missing, finished or blocked. */
static void test_divergence_threads(void **unused)
{
    (void)unused;
    const struct sim_program two = { .thread = { THREAD(CREATE(1), READ(0), JOIN(1)), THREAD(READ(1)) } };
    const struct sim_program one = { .thread = { THREAD(READ(0), READ(0)) } };
    assert_divergence(&two, &one, "at step 1: expected thread 0: create #1, came thread 0: none #1 (1)");
    /* The first record is the same, then thread 1 is named: made up, as after an edit of the trace. */
    uint64_t made_up[] = { PCT_RECORD(0, PCT_OP_NONE, 1, 1), PCT_RECORD(1, PCT_OP_NONE, 1, 1) };
    struct sim_options replay = { .replay = made_up, .replay_count = 2 };
    assert_int_equal(probe_run_with(&one, PREFER_NEW, 1, replay), PCT_VERDICT_DIVERGENCE);
    assert_string_equal(probe_result.message, "at step 2: expected thread 1: none #1 (1), came no such thread");
    const struct sim_program blocked = { .thread = { THREAD(CREATE(1), READ(0), JOIN(1)), THREAD(DOWN(0)) } };
    assert_divergence(&two, &blocked, "at step 3: expected thread 1: none #2 (1), came that thread is not enabled");
    /* The recording ends before the run does. */
    replay.replay_count = 1;
    assert_int_equal(probe_run_with(&one, PREFER_NEW, 1, replay), PCT_VERDICT_DIVERGENCE);
    assert_string_equal(probe_result.message, "at step 2: expected the end of the run, came thread 0: none #1 (1)");
    /* An operation that this version does not know. */
    made_up[1] = PCT_RECORD(0, 127, 3, 0);
    replay.replay_count = 2;
    assert_int_equal(probe_run_with(&one, PREFER_NEW, 1, replay), PCT_VERDICT_DIVERGENCE);
    assert_string_equal(probe_result.message,
                        "at step 2: expected thread 0: unknown operation (3), came thread 0: none #1 (1)");
}

/* A changed program leaves the trace at the first changed step, wherever that is; also at the ends of blocks. */
static void test_divergence_anywhere(void **unused)
{
    (void)unused;
    for (int64_t at = 1; at < 1100; at += at < 505 || at > 520 ? 13 : 1) {
        const struct sim_program base = { .thread = { THREAD(READ(0), REPEAT(1200, 1)) } };
        const struct sim_program other = { .thread = {
                                               THREAD(READ(0), REPEAT(at, 1), READ(1), READ(0), REPEAT(1200, 1)) } };
        char message[100];
        snprintf(message, sizeof message, "at step %d: expected thread 0: none #1 (1), came thread 0: none #2 (1)",
                 (int)at + 1);
        assert_divergence(&base, &other, message);
        assert_int_equal(probe_result.steps, (uint64_t)at + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_make_room),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_out_of_space),
        cmocka_unit_test(test_last),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_divergence_threads),
        cmocka_unit_test(test_divergence_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
