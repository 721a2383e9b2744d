/* The strategy `preemption-bound`: M. Musuvathi, S. Qadeer, "Iterative Context Bounding for Systematic Testing of
 * Multithreaded Programs", PLDI 2007, with its preemptions at random.
 *
 * The running thread goes on until it blocks; then each enabled thread is as likely to run as any other. `bound` times,
 * at random steps, it is preempted: each of the other enabled threads is as likely to run as any other.
 *
 * Called by the scheduler through <pct/strategy.h>. The budget reaches to the next preemption.
 *
 * What deviates: the paper explores all schedules with up to `bound` preemptions; here their steps are drawn,
 * independently and uniformly over 1 .. k. Those that coincide are one, and one that finds no other thread enabled does
 * nothing. A thread that spins, and one that ends the process, lets another one run without counting as preempted. */
#include "base.h"
#include "change_points.h"

enum { PARAM_BOUND, PARAM_K, PARAM_SHIFT };

static const struct pct_param params[] = {
    [PARAM_BOUND] = { .name = "bound", .default_value = 2, .max = PCT_MAX_CHANGES, .help = "preemptions in a run" },
    PCT_K_PARAM(PARAM_K, 1000, "the steps over which preemptions are spread: those of a run"),
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

struct state {
    uint64_t seed;
    struct pct_draws draws;
    uint32_t turn; /* who runs until it blocks, plus 1; 0: nobody */
    bool yields;   /* it lets another one run */
    struct pct_changes preemptions;
    struct pct_dense_set enabled;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    pct_dense_set_start(&s->enabled, layout, pct_layout_threads(run));
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    pct_changes_shift(&s->preemptions, &run->param[PARAM_SHIFT]);
    pct_changes_draw(&s->preemptions, s->seed, 0, (uint32_t)run->param[PARAM_BOUND], run->param[PARAM_K]);
    return 0;
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_dense_set_insert(&s->enabled, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_dense_set_remove(&s->enabled, thread);
    /* The turn is over even if the thread becomes enabled again before the next pick. */
    if (s->turn == thread + 1)
        s->turn = 0;
}

PCT_ENABLE_ALL

/* An enabled thread by chance, but for the one whose turn it is, unless there is no other. */
static uint32_t draw(const struct state *s, uint64_t place)
{
    uint32_t size = pct_dense_set_size(&s->enabled);
    bool another = s->turn && size > 1;
    uint32_t i = (uint32_t)pct_random_below(s->seed, PCT_STREAM_PICK, place, another ? size - 1 : size);
    uint32_t thread = pct_dense_set_at(&s->enabled, i);
    /* The last one stands for the one that is left out. */
    return another && thread == s->turn - 1 ? pct_dense_set_at(&s->enabled, size - 1) : thread;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    uint64_t place = pct_draws_next(&s->draws, point->step);
    bool preempted = s->yields;
    for (; pct_changes_next(&s->preemptions) <= point->step; pct_changes_take(&s->preemptions))
        preempted = true;
    if (!s->turn || preempted)
        s->turn = draw(s, place) + 1;
    s->yields = false;
    return (struct pct_choice){ .thread = s->turn - 1, .budget = pct_changes_budget(&s->preemptions, point->step) };
}

PCT_CHOOSE

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    s->yields |= s->turn == thread + 1;
}

static void final_wait(void *state, uint32_t thread)
{
    spinning(state, thread, 1);
}

const struct pct_strategy pct_strategy_preemption_bound = {
    .name = "preemption-bound",
    .summary = "threads run until they block, but for `bound` preemptions at random steps; the next one by chance",
    .source =
        "Musuvathi, Qadeer, Iterative Context Bounding for Systematic Testing of Multithreaded Programs, PLDI 2007",
    .params = params,
    PCT_BASE,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
};
