/* The strategy `round-robin`: threads take turns in the order of their ids, `quantum` steps each.
 *
 * Without chance: the seed changes nothing, one run is all there is. A baseline to compare with, and a plain schedule
 * to read when the question is what a program does at all.
 *
 * A turn ends when its steps are used up, when the thread blocks or finishes, and when it makes no progress (it yields
 * or fails a try), as under SCHED_RR. That another thread becomes enabled neither cuts a turn nor begins a new one.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "turns.h"

enum { PARAM_QUANTUM };

/* The default: long enough for a thread to get through a critical section or two, so that not every lock is contended;
 * short enough that all threads have their turns many times in a run of a few hundred steps. A prime, or the turns of a
 * thread that loops over a lock and an unlock would all end inside the critical section, and who waits for the lock
 * would starve. */
static const struct pct_param params[] = { [PARAM_QUANTUM] = { .name = "quantum",
                                                               .default_value = 11,
                                                               .min = 1,
                                                               .max = UINT64_C(1000000000000),
                                                               .help = "the steps of a turn" },
                                           { 0 } };

struct state {
    uint64_t quantum;
    uint64_t left; /* steps that are left of the turn */
    struct pct_turns turns;
};

PCT_STATE

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = state;
    s->quantum = run->param[PARAM_QUANTUM];
    return 0;
}

PCT_TURNS

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    struct pct_turns *turns = &s->turns;
    bool on = turns->turn && !turns->over && point->current == turns->turn - 1;
    s->left = on && s->left > point->ran ? s->left - point->ran : 0;
    if (!s->left) {
        pct_turns_next(turns);
        s->left = pct_lockstep_turn(turns->spins, point->step, s->quantum);
    }
    return (struct pct_choice){ .thread = turns->turn - 1, .budget = s->left };
}

const struct pct_strategy pct_strategy_round_robin = {
    .name = "round-robin",
    .summary = "threads take turns of `quantum` steps; without chance",
    .params = params,
    PCT_BASE,
    .spinning = spinning,
};
