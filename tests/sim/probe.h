/* A strategy for the tests of the scheduler's own rules: it always prefers the same threads, hands out the budget that
 * the test set, and keeps a log of all calls. Also the frame of these tests. */
#ifndef PCT_TESTS_PROBE_H
#define PCT_TESTS_PROBE_H

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "simhost.h"
#include <string.h>

enum prefer {
    PREFER_NEW,  /* the youngest enabled thread: each new one runs until it blocks */
    PREFER_OLD,  /* the oldest */
    PREFER_STAY, /* who runs, as long as it can; then the youngest */
    PREFER_NONE  /* thread 31, which does not exist */
};

enum { PROBE_LOG = 64 };

/* Set the first part, the rest is written by the run. */
static struct {
    enum prefer prefer;
    uint64_t budget;
    uint32_t choice; /* of choose() */

    uint32_t enabled;
    uint32_t picks, chooses, spins, final_waits, creates;
    struct pct_point pick[PROBE_LOG];
    uint32_t picked[PROBE_LOG];
    uint32_t waiters[PROBE_LOG]; /* of choose() */
    struct {
        uint32_t thread;
        uint64_t spins;
    } spin[PROBE_LOG];
    uint32_t final_waiter;
    uint32_t enables;
    uint32_t enable[PROBE_LOG];
} probe;

static inline uint32_t probe_state_size(const struct pct_run *run)
{
    (void)run;
    return 64;
}

static inline int probe_start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    (void)run;
    (void)why;
    memset(&probe.enabled, 0, sizeof probe - offsetof(__typeof__(probe), enabled));
    return 0;
}

static inline void probe_created(void *state, uint32_t thread)
{
    (void)state;
    sim_check(thread == probe.creates++, "threads are not created in order");
}

static inline void probe_enable(void *state, uint32_t thread)
{
    (void)state;
    sim_check(thread < probe.creates, "a thread is enabled before it is created");
    sim_check(!(probe.enabled >> thread & 1), "a thread is enabled twice");
    probe.enabled |= UINT32_C(1) << thread;
    if (probe.enables < PROBE_LOG)
        probe.enable[probe.enables] = thread;
    probe.enables++;
}

static inline void probe_disable(void *state, uint32_t thread)
{
    (void)state;
    sim_check(probe.enabled >> thread & 1, "a thread is disabled twice");
    probe.enabled &= ~(UINT32_C(1) << thread);
}

static inline struct pct_choice probe_pick(void *state, const struct pct_point *point)
{
    (void)state;
    sim_check(probe.enabled, "pick() is called without an enabled thread");
    sim_check(point->enabled == (uint32_t)__builtin_popcount(probe.enabled), "pct_point.enabled is wrong");
    uint32_t thread = 31u - (uint32_t)__builtin_clz(probe.enabled);
    if (probe.prefer == PREFER_OLD)
        thread = (uint32_t)__builtin_ctz(probe.enabled);
    else if (probe.prefer == PREFER_STAY && point->current != PCT_NO_THREAD && probe.enabled >> point->current & 1)
        thread = point->current;
    else if (probe.prefer == PREFER_NONE)
        thread = 31;
    if (probe.picks < PROBE_LOG) {
        probe.pick[probe.picks] = *point;
        probe.picked[probe.picks] = thread;
    }
    probe.picks++;
    return (struct pct_choice){ .thread = thread, .budget = probe.budget };
}

static inline uint32_t probe_choose(void *state, uint32_t waiters, uint64_t step)
{
    (void)state;
    sim_check(step == pct_steps(&sim.sched), "choose() is given another step");
    if (probe.chooses < PROBE_LOG)
        probe.waiters[probe.chooses] = waiters;
    probe.chooses++;
    return probe.choice;
}

static inline void probe_spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)state;
    if (probe.spins < PROBE_LOG) {
        probe.spin[probe.spins].thread = thread;
        probe.spin[probe.spins].spins = spins;
    }
    probe.spins++;
}

static inline void probe_final_wait(void *state, uint32_t thread)
{
    (void)state;
    probe.final_waits++;
    probe.final_waiter = thread;
}

static const struct pct_strategy probe_strategy = { .abi = PCT_STRATEGY_ABI,
                                                    .name = "probe",
                                                    .state_size = probe_state_size,
                                                    .start = probe_start,
                                                    .created = probe_created,
                                                    .enable = probe_enable,
                                                    .disable = probe_disable,
                                                    .pick = probe_pick,
                                                    .choose = probe_choose,
                                                    .spinning = probe_spinning,
                                                    .final_wait = probe_final_wait };

static struct sim_result probe_result;

/* Run a program under the probe, audited, with these preferences; everything must be in order. The result stands in
 * probe_result. */
static inline enum pct_verdict probe_run_with(const struct sim_program *program, enum prefer prefer, uint64_t budget,
                                              struct sim_options options)
{
    probe.prefer = prefer;
    probe.budget = budget;
    if (!options.strategy)
        options.strategy = &probe_strategy;
    options.audit = true;
    sim_run(program, &options, &probe_result);
    if (probe_result.broken)
        fail_msg("%s", probe_result.broken);
    assert_int_equal(probe_result.unready, 0);
    return probe_result.verdict;
}

static inline enum pct_verdict probe_run(const struct sim_program *program, enum prefer prefer, uint64_t budget)
{
    return probe_run_with(program, prefer, budget, (struct sim_options){ 0 });
}

/* Pick number i was asked for this. */
static inline void assert_pick(uint32_t i, uint64_t step, uint64_t ran, uint32_t current, enum pct_why why)
{
    assert_true(i < probe.picks);
    assert_int_equal(probe.pick[i].step, step);
    assert_int_equal(probe.pick[i].ran, ran);
    assert_int_equal(probe.pick[i].current, current);
    assert_int_equal(probe.pick[i].why, why);
}

/* For CALL: the steps made so far, in the program's first note. */
static inline void note_step(struct sim *s)
{
    s->note[0] = pct_steps(&s->sched);
}

#endif
