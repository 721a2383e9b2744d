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
#include "base.h"
#include "change_points.h"
#include "lockstep.h"

enum { PARAM_BOUND, PARAM_K, PARAM_SHIFT };

static const struct pct_param params[] = {
    [PARAM_BOUND] = { .name = "bound", .default_value = 2, .max = PCT_MAX_CHANGES, .help = "delays in a run" },
    PCT_K_PARAM(PARAM_K, 1000, "the steps over which delays are spread: those of a run"),
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

struct state {
    uint64_t seed;
    uint32_t turn; /* whose turn it is, plus 1; 0: nobody's yet */
    bool over;     /* the turn is over */
    uint64_t spins;
    struct pct_changes delays;
    struct pct_rank_set enabled; /* thread ids */
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

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_rank_set_insert(&s->enabled, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_rank_set_remove(&s->enabled, thread);
    /* The turn is over even if the thread becomes enabled again before the next pick. */
    if (s->turn == thread + 1)
        s->over = true;
}

PCT_ENABLE_ALL

static void advance(struct state *s)
{
    uint32_t next = s->turn ? pct_rank_set_after(&s->enabled, s->turn - 1) : pct_rank_set_lowest(&s->enabled);
    s->turn = next + 1;
    s->over = false;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (!s->turn || s->over)
        advance(s);
    while (pct_changes_next(&s->delays) <= point->step) {
        pct_changes_take(&s->delays);
        advance(s);
    }
    return (struct pct_choice){ .thread = s->turn - 1, .budget = pct_changes_budget(&s->delays, point->step) };
}

PCT_CHOOSE

static void hand_on(struct state *s, uint32_t thread)
{
    if (s->turn == thread + 1)
        s->over = true;
}

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    if (!pct_lockstep_keeps(&s->spins))
        hand_on(s, thread);
}

static void final_wait(void *state, uint32_t thread)
{
    hand_on(state, thread);
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
