/* Times of the real machine that are in a trace, and in no hash: what a thread has computed for, and where time jumped
 * before an arrival. A replay has them at the same places. On the simulated host. */
#include "probe.h"
#include <common/hash.h>
#include <sched/internal.h>
#include <strategies/strategies.h>

static void note_time(struct sim *s)
{
    s->note[s->note[15]++] = pct_sched_now(&s->sched);
}

static uint64_t computes; /* what the host measures at each read, ns */

/* As pct_read_may_spin() of preload/time/clock.c. */
static void read_clock(struct sim *s)
{
    struct pct_thread *self = &s->running->core;
    const bool spins = pct_progress_clock(&s->sched, self);
    const uint32_t read = spins ? 0 : self->clock_reads;
    if (spins)
        sim_point(s->running, PCT_OP_CLOCK, NULL);
    const uint64_t passed = pct_is_replay(&s->sched) ? pct_replay_clock(&s->sched, self, read) : computes;
    if (spins || passed)
        pct_progress_clock_step(&s->sched, self, read, passed);
    note_time(s);
}

static void read_often(struct sim *s)
{
    const uint64_t each = computes;
    computes = 0;
    for (unsigned i = 0; i < PCT_CLOCK_READS; i++)
        (void)pct_progress_clock(&s->sched, &s->running->core);
    computes = each;
    read_clock(s);
}

/* A replay shows the recorded time at the same read, whatever the machine measures, and whoever ran at the point before
 * one that is too many. No hash has it. */
static void test_computed(void **unused)
{
    (void)unused;
    static uint64_t records[PCT_TRACE_BLOCK], others[PCT_TRACE_BLOCK];
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), READ(0), CALL(read_clock), READ(0), CALL(read_often), READ(0), JOIN(1)),
                    THREAD(READ(0), CALL(read_clock), CALL(read_often), SLEEP(1000000), CALL(read_clock)) }
    };
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct sim_options options = sim_defaults(&pct_strategy_random_walk);
        uint64_t times[5];
        options.run.seed = seed;
        options.records = records;
        options.max = PCT_TRACE_BLOCK;
        computes = 250000000 + seed;
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        const struct sim_result first = probe_result;
        memcpy(times, sim.note, sizeof times);
        assert_true(first.virtual_ns >= 5 * UINT64_C(250000000));
        memcpy(others, records, sizeof others);
        options.replay = others;
        options.replay_count = first.recorded;
        computes = seed % 2 ? 0 : 999000000;
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.hash, first.hash);
        assert_memory_equal(records, others, first.recorded * sizeof *records);
        assert_memory_equal(sim.note, times, sizeof times);
        /* Of another time, or at another read, it is the same run to a hash; another thread's is not. */
        for (uint64_t i = 0; i < first.recorded; i++)
            if (PCT_RECORD_OP(others[i]) == PCT_OP_CLOCK)
                others[i] = PCT_RECORD(PCT_RECORD_THREAD(others[i]), PCT_OP_CLOCK, 7 << 9 | 1, 12345);
        assert_int_equal(pct_hash_records(others, first.recorded, 0), first.hash);
        /* A trace whose time stands at a read that does not come: the run is said to be another one. */
        if (seed % 2)
            assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_DIVERGENCE);
        others[0] ^= PCT_RECORD(1, 0, 0, 0) & ~PCT_RECORD(0, 0, 0, 0);
        assert_int_not_equal(pct_hash_records(others, first.recorded, 0), first.hash);
    }
}

/* The step of a read that is none too many makes room for itself: it may be the first of a block, or the last. */
static void test_computed_at_block_end(void **unused)
{
    (void)unused;
    for (int64_t steps = PCT_TRACE_BLOCK - 3; steps <= PCT_TRACE_BLOCK + 1; steps++) {
        const struct sim_program program = { .thread = { THREAD(READ(0), REPEAT(steps - 1, 1), CALL(read_clock),
                                                                READ(0), READ(0)) } };
        computes = 250000000;
        assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.virtual_ns / 250000000, 1);
    }
}

static struct pct_timer timer;

static void go_off(struct pct_sched *s, struct pct_timer *self)
{
    (void)self;
    note_time(&sim);
    sim.sem[0]++;
    pct_sched_changed(s, pct_object_at(&s->objects, &sim.sem[0], PCT_CLASS_SEM));
}

static void arm(struct sim *s)
{
    timer = (struct pct_timer){ .order = PCT_MAX_THREADS, .fire = go_off };
    pct_sched_set_timer(&s->sched, &timer, pct_sched_now(&s->sched) + 50000);
}

/* The record, of an arrival, with as many jumps before it. */
static uint64_t with_jumps(uint64_t record, uint32_t jumps)
{
    const uint64_t all = PCT_RECORD(0, 0, PCT_RECORD_JUMPS_MOST << 12, 0) & ~PCT_RECORD(0, 0, 0, 0);
    return (record & ~all) | PCT_RECORD(0, 0, jumps << 12, 0);
}

/* How often time jumped before an arrival is in its record, where no hash reads it: a replay makes these jumps and does
 * not wait for the world, however late or early that is. Of a damaged trace with more, it makes those that there
 * are. */
static void test_jumped_first(void **unused)
{
    (void)unused;
    static uint64_t records[PCT_TRACE_BLOCK], others[PCT_TRACE_BLOCK];
    struct sim_program program = { .thread = { THREAD(CREATE(1), CALL(arm), DOWN_SHARED(0), CALL(note_time), JOIN(1)),
                                               THREAD(DOWN_SHARED(1)) },
                                   .event = { { .at = 900000, .sem = 1, .post = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        struct sim_options options = { .records = records, .max = PCT_TRACE_BLOCK };
        uint32_t jumps = 0;
        program.event[0].at = 900000;
        assert_int_equal(probe_run_with(&program, (enum prefer)prefer, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
        const struct sim_result first = probe_result;
        const uint64_t came = sim.note[1];
        for (uint64_t i = 0; i < first.recorded; i++)
            jumps += PCT_RECORD_OP(records[i]) == PCT_OP_OUTSIDE ? PCT_RECORD_JUMPS(records[i]) : 0;
        assert_int_equal(jumps, 1);
        for (uint32_t made = 0; made <= PCT_RECORD_JUMPS_MOST; made++) {
            for (uint64_t i = 0; i < first.recorded; i++)
                others[i] = PCT_RECORD_OP(records[i]) == PCT_OP_OUTSIDE && (made > 1 || PCT_RECORD_JUMPS(records[i]))
                                ? with_jumps(records[i], made)
                                : records[i];
            assert_int_equal(pct_hash_records(others, first.recorded, 0), first.hash);
            program.event[0].at = made % 2 ? 2000000 : 30000;
            options = (struct sim_options){ .replay = others, .replay_count = first.recorded };
            if (!made)
                continue; /* as from before they were recorded: it waits for the world */
            assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            assert_int_equal(probe_result.hash, first.hash);
            assert_int_equal(sim.note[1], came);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_computed), cmocka_unit_test(test_computed_at_block_end),
                                        cmocka_unit_test(test_jumped_first) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
