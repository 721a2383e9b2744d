/* The strategy `delay-bound`: M. Emmi, S. Qadeer, Z. Rakamaric, "Delay-Bounded Scheduling", POPL 2011, with its delays
 * at random, as P. Thomson, A. F. Donaldson, A. Betts, "Concurrency Testing Using Controlled Schedulers", TOPC 2016,
 * describe it.
 *
 * A deterministic scheduler: the running thread goes on until it blocks, then the next in the ring of ids. It is
 * delayed `bound` times, at random steps: then it goes on to the next thread although the running one could run. In a
 * run of k steps there are at most k^bound such schedules, whatever the number of threads.
 *
 * Called by the scheduler through <pct/strategy.h>. The budget reaches to the next delay.
 *
 * What deviates: the papers explore all schedules with up to `bound` delays; here their steps are drawn, independently
 * and uniformly over 1 .. k, so that several may fall on one step and pass over several threads. A thread that spins,
 * and one that ends the process, goes to the end of the ring without counting as delayed. */
#include "change_points.h"
#include "turns.h"

enum { PARAM_BOUND, PARAM_K, PARAM_SHIFT };

static const struct pct_param params[] = {
    [PARAM_BOUND] = { .name = "bound", .default_value = 2, .max = PCT_MAX_CHANGES, .help = "delays in a run" },
    PCT_K_PARAM(PARAM_K, 1000, "the steps over which delays are spread: those of a run"),
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

struct state {
    uint64_t seed;
    struct pct_turns turns;
    struct pct_changes delays;
};

PCT_STATE

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = state;
    s->seed = run->seed;
    pct_changes_shift(&s->delays, &run->param[PARAM_SHIFT]);
    pct_changes_draw(&s->delays, s->seed, 0, (uint32_t)run->param[PARAM_BOUND], run->param[PARAM_K]);
    return 0;
}

PCT_TURNS

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (!s->turns.turn || s->turns.over)
        pct_turns_next(&s->turns);
    while (pct_changes_next(&s->delays) <= point->step) {
        pct_changes_take(&s->delays);
        pct_turns_next(&s->turns);
    }
    return (struct pct_choice){ .thread = s->turns.turn - 1, .budget = pct_changes_budget(&s->delays, point->step) };
}

PCT_CHOOSE

static void final_wait(void *state, uint32_t thread)
{
    pct_turns_end(&((struct state *)state)->turns, thread);
}

const struct pct_strategy pct_strategy_delay_bound = {
    .name = "delay-bound",
    .summary = "threads run until they block, in turn, but for `bound` delays at random steps",
    .source = "Emmi, Qadeer, Rakamaric, Delay-Bounded Scheduling, POPL 2011",
    .params = params,
    PCT_BASE,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
};
