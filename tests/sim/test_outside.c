/* The world outside: waits that only it can end, threads that leave the scheduler and come back, threads that pct does
 * not know; on the simulated host with its simulated real time. */
#include "probe.h"
#include <pct/random.h>
#include <strategies/strategies.h>

static void note_time(struct sim *s)
{
    s->note[s->note[15]++] = pct_sched_now(&s->sched);
}

/* A single thread waits for the world, really. Virtual time has gone on for as long as the world has. */
static void test_alone(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN_SHARED(0), CALL(note_time)) },
                                         .event = { { .at = 700000, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 700000 - PCT_STEP_NS, 700000 + 2 * PCT_STEP_NS);
    assert_int_equal(probe_result.outside, 1);
}

/* What threads of this process do for it comes first: nobody goes outside while anything can run. */
static void test_inside_first(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), REPEAT(1000, 1), UP(0), JOIN(1)),
                                                     THREAD(DOWN_SHARED(0)) },
                                         .event = { { .at = 90000000, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.outside, 0);
    assert_true(probe_result.real_ns < 90000000);
}

/* Several wait; each is let go by its own event; those that find nothing wait again. */
static void test_several(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), DOWN_SHARED(0), CALL(note_time), JOIN(1), JOIN(2)),
                    THREAD(DOWN_SHARED(1), CALL(note_time)), THREAD(DOWN_SHARED(2), CALL(note_time)) },
        .event = { { .at = 100000, .sem = 2, .post = true },
                   { .at = 200000, .sem = 0, .post = true },
                   { .at = 300000, .sem = 1, .post = true } }
    };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
        for (uint64_t i = 0; i < 3; i++)
            assert_in_range(sim.note[i], (i + 1) * 100000 - 10 * PCT_STEP_NS, (i + 1) * 100000 + 10 * PCT_STEP_NS);
    }
}

/* While somebody waits for the world, time does not jump past what really elapsed: the sleeper wakes at its own
 * time. */
static void test_no_jump(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEEP(400000), CALL(note_time), JOIN(1)),
                                                     THREAD(DOWN_SHARED(0), CALL(note_time)) },
                                         .event = { { .at = 900000, .post = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 400000, 400000 + 10 * PCT_STEP_NS);
        assert_in_range(sim.note[1], 900000 - 10 * PCT_STEP_NS, 900000 + 10 * PCT_STEP_NS);
        assert_true(probe_result.real_ns >= 900000);
    }
}

/* The machine is slow: two seconds of real time go by, and hardly a step. */
static void dawdle(struct sim *s)
{
    s->real_ns += 2000000000;
}

/* Whoever talks to the world has its time: a run that takes long for its steps falls behind by a second, and not
 * further. */
static void test_keeps_up(void **unused)
{
    (void)unused;
    static uint64_t records[PCT_TRACE_BLOCK];
    const uint64_t ms = 1000000, room = 20 * PCT_STEP_NS;
    const struct sim_program program = { .thread = { THREAD(DOWN_SHARED(0), CALL(dawdle), DOWN_SHARED(0),
                                                            CALL(note_time), DOWN_SHARED(0), CALL(note_time),
                                                            CALL(dawdle), DOWN_SHARED(0), CALL(note_time)) },
                                         .event = { { .at = 100 * ms, .post = true },
                                                    { .at = 2200 * ms, .post = true },
                                                    { .at = 2300 * ms, .post = true },
                                                    { .at = 4500 * ms, .post = true } } };
    struct sim_options options = { .records = records, .max = PCT_TRACE_BLOCK };
    assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 1200 * ms - room, 1200 * ms + room);
    assert_in_range(sim.note[1], 1300 * ms - room, 1300 * ms + room);
    assert_in_range(sim.note[2], 3500 * ms - room, 3500 * ms + room);

    /* A replay on a machine that is not slow sees the same time. */
    uint64_t times[3];
    memcpy(times, sim.note, sizeof times);
    struct sim_program quick = program;
    for (int i = 0; i < 4; i++)
        quick.event[i].at = 1000 * (uint64_t)(i + 1);
    struct sim_options replay = { .replay = records, .replay_count = probe_result.recorded };
    assert_int_equal(probe_run_with(&quick, PREFER_NEW, PCT_UNLIMITED, replay), PCT_VERDICT_EXIT);
    assert_memory_equal(times, sim.note, sizeof times);

    /* And a sleep that jumps ahead stays ahead. */
    const struct sim_program ahead = { .thread = { THREAD(DOWN_SHARED(0), SLEEP(5000000000), CALL(note_time),
                                                          CALL(dawdle), DOWN_SHARED(0), CALL(note_time)) },
                                       .event = { { .at = 100 * ms, .post = true },
                                                  { .at = 2200 * ms, .post = true } } };
    assert_int_equal(probe_run(&ahead, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 5100 * ms - room, 5100 * ms + room);
    assert_in_range(sim.note[1], 5200 * ms - room, 5200 * ms + room);
}

/* Deadlines are served while a thread is away without a bound, also when it is the last to leave. */
static void test_sleepers_wake(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), SLEEP(100000), CALL(note_time), JOIN(1), JOIN(2)),
                    THREAD(AWAY(5000000), CALL(note_time)), THREAD(SLEEP(300000), CALL(note_time)) }
    };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 100000, 100000 + 20 * PCT_STEP_NS);
        assert_in_range(sim.note[1], 300000, 300000 + 20 * PCT_STEP_NS);
        assert_in_range(sim.note[2], 5000000 - 20 * PCT_STEP_NS, 5000000 + 20 * PCT_STEP_NS);
    }
}

/* A wait for the world with a deadline of its own. */
static void test_deadline(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN_SHARED_FOR(0, 500000), STORE(0), CALL(note_time)) },
                                         .var = { 9 } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 0);
    assert_in_range(sim.note[0], 500000, 500000 + 10 * PCT_STEP_NS);
    struct sim_program in_time = program;
    in_time.event[0] = (struct sim_event){ .at = 300000, .post = true };
    assert_int_equal(probe_run(&in_time, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 1);
    assert_true(sim.note[0] < 400000);
}

/* Threads that leave the scheduler do not hold the others up, and come back in the middle of their steps. */
static void test_leave(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { AWAY(30000), READ(0), ADD(1), STORE(0), REPEAT(5, 4), { .kind = SIM_END } };
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), READ(1), REPEAT(100, 1), JOIN(1), JOIN(2)), body, body }
    };
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (uint64_t seed = 0; seed < 30; seed++) {
            struct sim_options options = sim_defaults(*strategy);
            options.run.seed = seed;
            assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            assert_in_range(probe_result.var[0], 5, 10);
            assert_int_equal(probe_result.outside, 10);
            assert_true(probe_result.real_ns >= 150000);
        }
}

/* Who comes back while others run is seen at their next point. */
static void test_seen_soon(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), REPEAT(400, 1)),
                                                     THREAD(AWAY(30000), CALL(note_time)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 30000, 30000 + 5 * PCT_STEP_NS);
}

/* All of them away at the same time, coming back one by one and together. */
static void test_all_away(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), AWAY(100000), WRITE(0, 1), AWAY(100000)),
                    THREAD(AWAY(100000), WRITE(1, 1)), THREAD(AWAY(200000), WRITE(2, 1)),
                    THREAD(AWAY(99000), AWAY(99000), WRITE(3, 1)) }
    };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++)
        for (uint64_t budget = 1; budget < 4; budget++) {
            assert_int_equal(probe_run(&program, (enum prefer)prefer, budget), PCT_VERDICT_EXIT);
            for (int i = 0; i < 4; i++)
                assert_int_equal(probe_result.var[i], 1);
            assert_int_equal(sim.sched.outside, 0);
        }
}

/* Leaving is a place where a block of the trace may be full: whatever the number of steps before it, the trace is
 * whole. */
static void test_leave_at_block_end(void **unused)
{
    (void)unused;
    static uint64_t records[4 * PCT_TRACE_BLOCK];
    for (int64_t steps = 500; steps < 520; steps++) {
        const struct sim_program program = { .thread = {
                                                 THREAD(CREATE(1), READ(0), REPEAT(steps, 1), AWAY(50000), READ(0)),
                                                 THREAD(READ(1), READ(1), REPEAT(600, 1)) } };
        struct sim_options options = { .records = records, .max = 4 * PCT_TRACE_BLOCK };
        assert_int_equal(probe_run_with(&program, PREFER_OLD, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.steps, (uint64_t)steps + 607);
        uint64_t hash = 0;
        for (uint64_t at = 0; at < probe_result.steps; at += PCT_TRACE_BLOCK) {
            uint64_t left = probe_result.steps - at;
            left = left < PCT_TRACE_BLOCK ? left : PCT_TRACE_BLOCK;
            for (uint64_t i = at; i < at + left; i++)
                if (PCT_RECORD_OP(records[i]) == PCT_OP_OUTSIDE)
                    records[i] &= ~UINT64_C(0x1ffffffffff);
            hash = XXH3_64bits_withSeed(records + at, 8 * left, hash);
        }
        assert_int_equal(probe_result.hash, hash);
    }
}

/* With threads about that pct does not know, nothing is a deadlock: they may post what is waited for. */
static void test_foreign(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN(0)) },
                                         .foreign = PCT_FOREIGN_THREADS,
                                         .event = { { .at = 250000, .post = true, .attention = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(probe_result.real_ns, 250000, 250000 + 2 * PCT_STEP_NS);
    struct sim_program never = program;
    never.event[0].at = 0;
    assert_int_equal(probe_run(&never, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_RUNNING);
    assert_string_equal(probe_result.message, "the host sleeps for ever");
}

/* The same where the waiter has a deadline, in real time: the post counts when it comes, not when the deadline has
 * passed. */
static void test_foreign_before_deadline(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN_FOR(0, 10000000), STORE(0)) },
                                         .foreign = PCT_FOREIGN_THREADS,
                                         .event = { { .at = 250000, .post = true, .attention = true } } };
    assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, (struct sim_options){ .real_time = true }),
                     PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 1);
    assert_in_range(probe_result.real_ns, 250000, 260000);
}

/* One that cannot tell what it has done: somebody looks every millisecond, and time does not jump over what it may
 * do. */
static void test_silent(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN(0)) },
                                         .foreign = PCT_FOREIGN_THREADS | PCT_FOREIGN_SILENT,
                                         .event = { { .at = 2500000, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(probe_result.real_ns, 2500000, 3500000 + 2 * PCT_STEP_NS);
    struct sim_program limited = program;
    limited.thread[0] = THREAD(DOWN_FOR(0, 10000000), STORE(0));
    assert_int_equal(probe_run(&limited, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 1);
    assert_in_range(probe_result.real_ns, 2500000, 3500000 + 2 * PCT_STEP_NS);
    limited.event[0].at = 0;
    assert_int_equal(probe_run(&limited, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 0);
    assert_in_range(probe_result.real_ns, 10000000, 10000000 + 4 * PCT_STEP_NS);
}

/* The host knows of a thread that is not in the schedule. While it may act, nothing is a deadlock; when it is gone,
 * that is one. */
static void test_stranger(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN(0)) },
                                         .stranger = 20000000,
                                         .event = { { .at = 2500000, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(probe_result.real_ns, 2500000, 3500000 + 2 * PCT_STEP_NS);
    struct sim_program never = program;
    never.event[0].at = 0;
    assert_int_equal(probe_run(&never, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_DEADLOCK);
    assert_in_range(probe_result.real_ns, 20000000, 21000000);
}

/* Nor does time jump over what it may do, but it does while that sleeps: up to the end of its sleep, which then comes
 * in real time. */
static void test_stranger_and_deadlines(void **unused)
{
    (void)unused;
    struct sim_program program = { .thread = { THREAD(DOWN_FOR(0, 10000000), STORE(0)) },
                                   .stranger = 20000000,
                                   .event = { { .at = 2500000, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 1);
    assert_in_range(probe_result.real_ns, 2500000, 3500000 + 2 * PCT_STEP_NS);
    program.asleep = 15000000; /* longer than the deadline */
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 0);
    assert_in_range(probe_result.real_ns, 0, 100000);
    program.asleep = 4000000; /* it wakes before the deadline, and that is due so long behind it */
    program.stranger = program.event[0].at = 12500000;
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 1);
    assert_in_range(probe_result.real_ns, 12500000, 13500000 + 2 * PCT_STEP_NS);
}

static void post_by_handler(struct sim *s)
{
    s->sem[0]++;
    pct_sched_attention(&s->sched);
}

/* Attention is heeded at the next point of whoever runs. */
static void test_attention(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), CALL(post_by_handler), READ(0), READ(1),
                                                            STORE(2)),
                                                     THREAD(DOWN(0), WRITE(1, 1)) } };
    struct sim_options options = { .strategy = &probe_strategy };
    probe.prefer = PREFER_NEW;
    probe.budget = PCT_UNLIMITED;
    sim_run(&program, &options, &probe_result);
    assert_null(probe_result.broken);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[2], 1);
}

/* What the kernel keeps: a post by a thread of the process lets a waiter through at that step; nobody sleeps for it. */
static void test_kernel(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), SLEEP(50000000), UP_KERNEL(0),
                                                            UP_KERNEL(0), JOIN(1), JOIN(2)),
                                                     THREAD(DOWN_KERNEL(0)), THREAD(DOWN_KERNEL(0)) } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
        assert_true(probe_result.real_ns < 50000000);
        assert_int_equal(probe_result.unready, 0);
    }
    /* And if nobody posts, it is a deadlock: the world has no part in it. */
    const struct sim_program stuck = { .thread = { THREAD(CREATE(1), DOWN_KERNEL(0)), THREAD(DOWN_KERNEL(1)) } };
    assert_int_equal(probe_run(&stuck, PREFER_NEW, 1), PCT_VERDICT_DEADLOCK);
}

static const struct sim_program polling = {
    .thread = { THREAD(CREATE(1), CREATE(2), DOWN_POLLED(0), CALL(note_time), JOIN(1), JOIN(2)),
                THREAD(DOWN_POLLED(1), CALL(note_time)),
                THREAD(SLEEP(150000), SLEEP(150000), CALL(note_time), SLEEP(400000), CALL(note_time)) },
    .event = { { .at = 200000, .sem = 1, .post = true }, { .at = 500000, .sem = 0, .post = true } }
};

/* Kernel waits for the world: time passes as it really does, each thread goes on when its event has come, and
 * deadlines between them are met exactly. */
static void test_polled(void **unused)
{
    (void)unused;
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&polling, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 200000 - 10 * PCT_STEP_NS, 200000 + 10 * PCT_STEP_NS);
        assert_in_range(sim.note[1], 300000, 300000 + 10 * PCT_STEP_NS);
        assert_in_range(sim.note[2], 500000 - 20 * PCT_STEP_NS, 500000 + 20 * PCT_STEP_NS);
        assert_in_range(sim.note[3], 700000, 700000 + 20 * PCT_STEP_NS);
    }
}

/* The world is late, or early: a replay of the trace still takes the same steps, at the same virtual time. */
static void test_polled_replay(void **unused)
{
    (void)unused;
    static uint64_t records[2 * PCT_TRACE_BLOCK];
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        uint64_t times[4];
        struct sim_options options = { .records = records, .max = 2 * PCT_TRACE_BLOCK };
        assert_int_equal(probe_run_with(&polling, (enum prefer)prefer, 1, options), PCT_VERDICT_EXIT);
        struct sim_result recorded = probe_result;
        memcpy(times, sim.note, sizeof times);
        for (int when = 0; when < 3; when++) {
            struct sim_program other = polling;
            other.event[0].at = when == 0 ? 1000 : when == 1 ? 900000 : 200000;
            other.event[1].at = when == 0 ? 2000 : when == 1 ? 1900000 : 200001;
            struct sim_options replay = { .replay = records, .replay_count = recorded.recorded };
            assert_int_equal(probe_run_with(&other, PREFER_NEW, 1, replay), PCT_VERDICT_EXIT);
            assert_int_equal(probe_result.steps, recorded.steps);
            assert_int_equal(probe_result.hash, recorded.hash);
            assert_memory_equal(times, sim.note, sizeof times);
        }
    }
}

static void ask(struct sim *s)
{
    pct_sched_ask_kernel(&s->sched);
}

/* What comes while others run is seen at the end of a block of the trace, or at the next point if somebody asks. */
static void test_ask_kernel(void **unused)
{
    (void)unused;
    struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), REPEAT(100, 1), READ(0), READ(0),
                                                      REPEAT(2000, 1)),
                                               THREAD(DOWN_POLLED(0), CALL(note_time)) },
                                   .event = { { .at = 10 * PCT_STEP_NS, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], PCT_TRACE_BLOCK * PCT_STEP_NS, (PCT_TRACE_BLOCK + 3) * PCT_STEP_NS);
    program.thread[0] = THREAD(CREATE(1), READ(0), REPEAT(100, 1), CALL(ask), READ(0), REPEAT(2000, 1));
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 100 * PCT_STEP_NS, 110 * PCT_STEP_NS);
}

/* Kernel waits end by their deadline, and not before. */
static void test_polled_deadline(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(DOWN_POLLED_FOR(0, 300000), STORE(0), CALL(note_time),
                                                            DOWN_POLLED_FOR(0, 600000), STORE(1), CALL(note_time)) },
                                         .event = { { .at = 500000, .post = true } } };
    assert_int_equal(probe_run(&program, PREFER_NEW, 1), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 0);
    assert_int_equal(probe_result.var[1], 1);
    assert_in_range(sim.note[0], 300000, 300000 + 4 * PCT_STEP_NS);
    assert_in_range(sim.note[1], 500000 - 4 * PCT_STEP_NS, 500000 + 4 * PCT_STEP_NS);
}

/* Threads that left and threads that are polled for, at once: who comes back is heard by the one that polls. */
static void test_polled_and_away(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), DOWN_POLLED(0), CALL(note_time), JOIN(1)),
                                                     THREAD(AWAY(100000), CALL(note_time)) },
                                         .event = { { .at = 500000, .post = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 100000 - 10 * PCT_STEP_NS, 100000 + 10 * PCT_STEP_NS);
        assert_in_range(sim.note[1], 500000 - 10 * PCT_STEP_NS, 500000 + 10 * PCT_STEP_NS);
    }
}

/* Threads that are polled for, and one that has to wait by itself (for a signal, say): only that one is sent
 * outside. */
static void test_polled_and_sent(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), DOWN_POLLED(0), CALL(note_time), JOIN(1)),
                                                     THREAD(DOWN_SHARED(1), CALL(note_time)) },
                                         .event = { { .at = 100000, .sem = 1, .post = true },
                                                    { .at = 500000, .sem = 0, .post = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.outside, 1);
        assert_in_range(sim.note[0], 100000 - 10 * PCT_STEP_NS, 100000 + 10 * PCT_STEP_NS);
        assert_in_range(sim.note[1], 500000 - 10 * PCT_STEP_NS, 500000 + 10 * PCT_STEP_NS);
    }
}

/* A wait that a signal may end is no deadlock; but while a deadline is pending, time jumps to that. */
static void test_signal(void **unused)
{
    (void)unused;
    static uint64_t records[PCT_TRACE_BLOCK];
    struct sim_program program = { .thread = { THREAD(CREATE(1), DOWN_SIGNAL(0), CALL(note_time), JOIN(1)),
                                               THREAD(DOWN_SIGNAL(1), CALL(note_time)) },
                                   .event = { { .at = 250000, .sem = 1, .post = true, .attention = true },
                                              { .at = 600000, .sem = 0, .post = true, .attention = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        struct sim_options options = { .records = records, .max = PCT_TRACE_BLOCK };
        uint64_t times[2];
        program.event[0].at = 250000;
        assert_int_equal(probe_run_with(&program, (enum prefer)prefer, 1, options), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 240000, 260000);
        assert_in_range(sim.note[1], 590000, 620000);
        struct sim_result recorded = probe_result;
        memcpy(times, sim.note, sizeof times);
        /* A replay waits for it, and takes the recorded time. */
        program.event[0].at = 20000;
        options = (struct sim_options){ .replay = records, .replay_count = recorded.recorded };
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.hash, recorded.hash);
        assert_memory_equal(times, sim.note, sizeof times);
    }
    const struct sim_program asleep = { .thread = { THREAD(CREATE(1), DOWN_SIGNAL(0), JOIN(1)),
                                                    THREAD(SLEEP(1000000000), UP(0)) } };
    assert_int_equal(probe_run(&asleep, PREFER_NEW, 1), PCT_VERDICT_EXIT);
    assert_true(probe_result.real_ns < 1000000);
}

static void call(struct sim *s)
{
    struct sim_thread *t = &s->thread[s->sched.threads - 1];
    t->core.called = 1;
    t->deadline = 0; /* for the audit */
    pct_sched_attention(&s->sched);
}

static void answer(struct sim *s)
{
    s->note[s->note[15]++] = s->running->core.result;
    s->running->core.called = 0;
}

/* A thread that a signal handler calls is interrupted in its wait; also in the next, if it does not wait just then. */
static void test_called(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), CALL(call), READ(0), JOIN(1)),
                                                     THREAD(SLEEP(1000000000), CALL(answer), READ(0)) } };
    const struct sim_program early = { .thread = { THREAD(READ(0), CALL(call), READ(0), SLEEP(1000000000), CALL(answer),
                                                          SLEEP(5000000)) } };
    for (uint64_t budget = 1; budget < 4; budget++) {
        assert_int_equal(probe_run(&program, PREFER_NEW, budget), PCT_VERDICT_EXIT);
        assert_int_equal(sim.note[15], 1);
        assert_int_equal(sim.note[0], PCT_INTERRUPTED);
        assert_true(probe_result.virtual_ns < 1000000);
        assert_int_equal(probe_run(&early, PREFER_NEW, budget), PCT_VERDICT_EXIT);
        assert_int_equal(sim.note[0], PCT_INTERRUPTED);
        assert_in_range(probe_result.virtual_ns, 5000000, 5100000); /* once */
    }
}

static void pin(struct sim *s)
{
    s->sched.pinned = &s->running->core;
}

/* A pinned thread keeps the baton until it blocks, and is pinned no more when it runs again. */
static void test_pinned(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CALL(pin), UP(0), READ(1), STORE(2), YIELD,
                                                            READ(1), STORE(3), DOWN(1), READ(1), STORE(4), UP(0),
                                                            READ(1), STORE(5), JOIN(1)),
                                                     THREAD(DOWN(0), WRITE(1, 1), UP(1), DOWN(0), WRITE(1, 2)) },
                                         .var = { 0, 0, 9, 9, 9, 9 } };
    assert_int_equal(probe_run(&program, PREFER_NEW, 1), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[2], 0);
    assert_int_equal(probe_result.var[3], 0);
    assert_int_equal(probe_result.var[4], 1);
    assert_int_equal(probe_result.var[5], 2);
}

/* Another process shares this one's time, and can run for a while: so long no deadline comes, then time jumps. */
static void test_relative(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(SLEEP(50000000), CALL(note_time)) }, .relative = 700000 };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(probe_result.real_ns, 700000, 710000);
    assert_in_range(sim.note[0], 50000000, 50000000 + 10 * PCT_STEP_NS);
}

/* What it does in that time comes before the deadline, however long it takes: and takes no virtual time where it made
 * no step. */
static void test_relative_is_first(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEEP(100000), CALL(note_time), JOIN(1)),
                                                     THREAD(DOWN_SIGNAL(0), CALL(note_time)) },
                                         .event = { { .at = 600000, .post = true, .attention = true } },
                                         .relative = 700000 };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 0, 20 * PCT_STEP_NS);
        assert_in_range(sim.note[1], 100000, 100000 + 20 * PCT_STEP_NS);
    }
}

/* A slow machine makes no time pass where only relatives could have come: it would come to deadlines out of their
 * order. */
static void test_relative_slow(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(DOWN_POLLED(0), CALL(dawdle), DOWN_POLLED(0), CALL(note_time)) },
        .event = { { .at = 100000, .post = true }, { .at = 2200000000, .post = true } },
        .relative = UINT64_C(9000000000)
    };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 0, 20 * PCT_STEP_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_inside_first),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_no_jump),
        cmocka_unit_test(test_sleepers_wake),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_keeps_up),
        cmocka_unit_test(test_leave),
        cmocka_unit_test(test_seen_soon),
        cmocka_unit_test(test_all_away),
        cmocka_unit_test(test_leave_at_block_end),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_stranger),
        cmocka_unit_test(test_stranger_and_deadlines),
        cmocka_unit_test(test_foreign_before_deadline),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_polled),
        cmocka_unit_test(test_polled_replay),
        cmocka_unit_test(test_ask_kernel),
        cmocka_unit_test(test_polled_deadline),
        cmocka_unit_test(test_polled_and_away),
        cmocka_unit_test(test_polled_and_sent),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_called),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_relative),
        cmocka_unit_test(test_relative_is_first),
        cmocka_unit_test(test_relative_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
