/* Thousands of random programs of all operations under all strategies, on the simulated host. At every step of every
 * run the audit compares what the scheduler believes of each thread with what the program says (simops.c); nobody may
 * be given the baton to fail; a deadlock must be one; the run must repeat exactly, also without the scheduler's short
 * cuts; and its trace must replay to the same trace. */
#include "probe.h"
#include "../sample.h"
#include <pct/random.h>
#include <strategies/strategies.h>

enum { PROGRAMS = 8000, OPS = 200, AREA = 1 << 16, MOST_THREADS = 5, STEP_BOUND = 20000 };

static uint64_t area[AREA];

static uint64_t random_place, random_seed;
static uint32_t draw(uint32_t bound)
{
    return (uint32_t)pct_random_below(random_seed, PCT_STREAM_USER, random_place++, bound);
}

/* --- Writing a program -------------------------------------------------------------------------------------------- */

static struct sim_op text[MOST_THREADS][OPS];
static uint32_t length;
static struct sim_op *list;

static void add(struct sim_op op)
{
    assert_true(length < OPS);
    list[length++] = op;
}
#define ADD_OP(...) add((struct sim_op)__VA_ARGS__)

/* One thing to do, while this mutex is held, or none (SIM_THINGS). Few things, so that threads meet. */
static void add_action(uint8_t held, bool outside)
{
    uint8_t m = (uint8_t)draw(3), c = (uint8_t)draw(2), s = (uint8_t)draw(2);
    int64_t ns = draw(2) ? 1 + draw(20000) : 1000 * (1 + draw(40));
    switch (draw(outside ? 19 : 17)) {
    case 0:
        ADD_OP(READ(s));
        break;
    case 1:
        ADD_OP(WRITE(s, 1));
        break;
    case 2:
    case 3:
        if (held < SIM_THINGS) {
            add(draw(3) ? (struct sim_op)WAIT_FOR(c, held, ns) : (struct sim_op)WAIT(c, held));
            break;
        } /* fall through */
    case 4:
        ADD_OP(SIGNAL(c));
        break;
    case 5:
        ADD_OP(BROADCAST(c));
        break;
    case 6:
        ADD_OP(UP(s));
        break;
    case 7:
        ADD_OP(DOWN_FOR(s, ns));
        break;
    case 8:
        add(draw(3) ? (struct sim_op)DOWN_FOR(s, draw(3)) : (struct sim_op)DOWN(s));
        break;
    case 9:
        ADD_OP(TRYDOWN(s));
        break;
    case 10:
        ADD_OP(SLEEP(draw(4) ? ns : 0));
        break;
    case 11:
        ADD_OP(YIELD);
        break;
    case 12:
        ADD_OP(CLOCK);
        break;
    case 13:
        if (m != held) {
            ADD_OP(TRYLOCK(m));
            ADD_OP(UNLESS(1, 1));
            ADD_OP(UNLOCK(m));
        }
        break;
    case 14:
        if (m != held) {
            ADD_OP(LOCK_FOR(m, ns));
            ADD_OP(UNLESS(1, 2));
            ADD_OP(READ(s));
            ADD_OP(UNLOCK(m));
        }
        break;
    case 15:
        if (m != held) {
            ADD_OP(LOCK(m));
            ADD_OP(READ(s));
            ADD_OP(UNLOCK(m));
        }
        break;
    case 16:
        if (!draw(4))
            ADD_OP(BARRIER(0));
        break;
    case 17:
        ADD_OP(AWAY(ns));
        break;
    case 18:
        ADD_OP(DOWN_SHARED_FOR(2, ns));
        break;
    }
}

static void add_actions(bool outside)
{
    for (uint32_t i = 1 + draw(5); i; i--) {
        if (draw(3)) {
            add_action(SIM_THINGS, outside);
            continue;
        }
        uint8_t m = (uint8_t)draw(3);
        ADD_OP(LOCK(m));
        for (uint32_t j = draw(4); j; j--)
            add_action(m, outside);
        ADD_OP(UNLOCK(m));
    }
}

static struct sim_program make_program(uint64_t number, bool outside)
{
    struct sim_program program = { .barrier = { 2 } };
    random_seed = number;
    random_place = 0;
    uint32_t threads = 2 + draw(MOST_THREADS - 1), created = 1;
    for (uint32_t t = 0; t < threads; t++) {
        list = text[t];
        length = 0;
        add_actions(outside);
        program.thread[t] = list;
        while (!t && created < threads) {
            ADD_OP(CREATE((uint8_t)created));
            created++;
            add_actions(outside);
        }
        for (uint32_t i = 1; !t && i < threads; i++)
            if (draw(2))
                ADD_OP(JOIN((uint8_t)i));
        if (!t && !draw(3))
            ADD_OP(EXIT);
        ADD_OP({ .kind = SIM_END });
    }
    for (uint32_t i = 0; outside && i < 3; i++)
        program.event[i] =
            (struct sim_event){ .at = (i + 1) * UINT64_C(9000), .sem = 2, .post = true, .attention = i == 1 };
    return program;
}

/* --- Running it --------------------------------------------------------------------------------------------------- */

/* The thread that holds the mutex for which this one waits without a deadline, plus 1. */
static uint32_t holder_before(const struct sim_thread *t)
{
    if (pct_state(&t->core) != PCT_STATE_BLOCKED)
        return 0;
    if (t->need == SIM_NEED_MUTEX && t->deadline == PCT_NEVER)
        return sim.mutex[t->what];
    return t->need == SIM_NEED_WAKE && t->then_mutex && t->core.in_then ? sim.mutex[t->mutex] : 0;
}

/* Whether the way from this thread to the one that it waits for, and so on, comes back to it. */
static bool in_cycle(uint32_t id)
{
    uint32_t at = holder_before(&sim.thread[id]);
    for (uint32_t i = 0; at && at - 1 != id && i < sim.sched.threads; i++)
        at = holder_before(&sim.thread[at - 1]);
    return at == id + 1;
}

/* Some threads wait for each other, and no other can run now. */
static void check_cycle(uint64_t number)
{
    uint32_t members = 0;
    for (uint32_t id = 0; id < sim.sched.threads; id++) {
        members += in_cycle(id);
        if (pct_state(&sim.thread[id].core) == PCT_STATE_ENABLED && !sim.thread[id].core.early)
            fail_msg("program %lu: thread %u could run", (unsigned long)number, id);
    }
    if (members < 2)
        fail_msg("program %lu: there is no cycle", (unsigned long)number);
}

static void check_deadlock(uint64_t number)
{
    if (!strcmp(probe_result.message, PCT_MESSAGE_CYCLE)) {
        check_cycle(number);
        return;
    }
    for (uint32_t id = 0; id < sim.sched.threads; id++) {
        const struct sim_thread *t = &sim.thread[id];
        if (t->core.state == PCT_STATE_FINISHED)
            continue;
        if (pct_state(&t->core) != PCT_STATE_BLOCKED || sim_could_proceed(t) ||
            (t->deadline != PCT_NEVER && !t->then_mutex))
            fail_msg("program %lu: thread %u is not deadlocked", (unsigned long)number, id);
    }
}

static void same(uint64_t number, const struct pct_strategy *strategy, const struct sim_result *a, const char *what)
{
    if (probe_result.verdict != a->verdict || probe_result.hash != a->hash ||
        probe_result.virtual_ns != a->virtual_ns || probe_result.switches != a->switches)
        fail_msg("program %lu, %s: %s is another run: verdict %d was %d, steps %lu was %lu: %s", (unsigned long)number,
                 strategy->name, what, (int)probe_result.verdict, (int)a->verdict, (unsigned long)probe_result.steps,
                 (unsigned long)a->steps, probe_result.message);
}

static void run_all(bool outside, uint64_t count[8])
{
    static const struct pct_strategy *strategies[32];
    static const uint64_t slacks[4] = { 0, 5000, 30000, 20000000 };
    uint32_t used = 0;
    while (pct_strategies[used]) {
        strategies[used] = pct_strategies[used];
        used++;
    }
    strategies[used++] = &probe_strategy;
    for (uint64_t number = 0; number < sampled(PROGRAMS); number++) {
        struct sim_program program = make_program(number + outside * UINT64_C(1000000), outside);
        for (uint32_t i = 0; i < used; i++) {
            struct sim_options options = sim_defaults(strategies[i]);
            options.run.seed = number;
            options.max_steps = STEP_BOUND;
            sim_set(&options, "k", 50);
            probe.choice = draw(3);
            enum prefer prefer = (enum prefer)draw(3);
            uint64_t budget = draw(2) ? PCT_UNLIMITED : 1 + draw(6);
            options.slack = slacks[draw(4)];
            options.slack_coins = draw(2);
            options.records = area;
            options.max = AREA;
            enum pct_verdict verdict = probe_run_with(&program, prefer, budget, options);
            struct sim_result first = probe_result;
            count[verdict]++;
            if (verdict == PCT_VERDICT_DEADLOCK)
                check_deadlock(number);
            else if (verdict != PCT_VERDICT_EXIT)
                fail_msg("program %lu, %s: verdict %d: %s", (unsigned long)number, strategies[i]->name, (int)verdict,
                         first.message);
            assert_true(first.steps < STEP_BOUND);
            options.records = NULL;
            options.max = 0;
            options.slow = true;
            probe_run_with(&program, prefer, budget, options);
            same(number, strategies[i], &first, "without short cuts it");
            if (outside)
                continue; /* what came from outside, and when, is no part of a trace */
            struct sim_options replay = { .replay = area, .replay_count = first.recorded };
            probe_run_with(&program, prefer, budget, replay);
            same(number, strategies[i], &first, "the replay");
        }
    }
    probe.choice = 0;
}

static void test_inside(void **unused)
{
    (void)unused;
    uint64_t count[8] = { 0 };
    run_all(false, count);
    print_message("# %lu runs ended, %lu deadlocked\n", (unsigned long)count[PCT_VERDICT_EXIT],
                  (unsigned long)count[PCT_VERDICT_DEADLOCK]);
    /* The programs are not all of one kind. */
    assert_true(count[PCT_VERDICT_EXIT] > sampled(PROGRAMS) / 2);
    assert_true(count[PCT_VERDICT_DEADLOCK] > sampled(PROGRAMS) / 2);
}

/* With threads that leave the scheduler, and semaphores that the world posts. */
static void test_outside(void **unused)
{
    (void)unused;
    uint64_t count[8] = { 0 };
    run_all(true, count);
    print_message("# %lu runs ended, %lu deadlocked\n", (unsigned long)count[PCT_VERDICT_EXIT],
                  (unsigned long)count[PCT_VERDICT_DEADLOCK]);
    assert_true(count[PCT_VERDICT_EXIT] > sampled(PROGRAMS) / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
