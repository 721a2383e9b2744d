/* The strategy `pct`: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A Randomized Scheduler with
 * Probabilistic Guarantees of Finding Bugs", ASPLOS 2010: figure 7, and the refinements of section 4.
 *
 * The enabled thread of the highest priority runs. Every thread begins with a random priority; at d-1 random steps
 * k_1 .. k_(d-1) the thread that has just executed step k_i gets priority d-i, below all initial ones. A bug of depth d
 * in a program of at most n threads and k steps is found with probability at least 1 / (n k^(d-1)) in every run
 * (theorem 9).
 *
 * Called by the scheduler through <pct/strategy.h>. Between two change points the answer cannot change unless a thread
 * becomes enabled, so the budget reaches to the next change point. How priorities are kept: priorities.h.
 *
 * The refinements, each with its parameter:
 *
 *     spin        "starvation free" (4.1): a thread that spins is put below all others in one of this many spins
 *     final       "final wait" (4.2): so is the thread that ends the process
 *     sequential  "identifying sequential execution": steps that a thread makes alone are not counted, and k is the
 *                 number of the others. A step is made alone if its thread is the only enabled one before and after it;
 *                 the step that enables a second thread counts, because a change in the steps before has the effect of
 *                 one there
 *     phases      "identifying join points": a phase begins when only one enabled thread is left of several. In each,
 *                 the steps are counted, change points and priorities drawn, anew: each phase is a run of its own, of
 *                 at most k steps. The theorem then holds for bugs whose constraints lie in one phase */
#include "base.h"
#include "change_points.h"
#include "priorities.h"

_Static_assert((int)PCT_MAX_CHANGES == PCT_MAX_DEPTH - 1, "d-1 change points");

enum { PARAM_DEPTH, PARAM_K, PARAM_SPIN, PARAM_FINAL, PARAM_SEQUENTIAL, PARAM_PHASES, PARAM_SHIFT };

static const struct pct_param params[] = {
    PCT_DEPTH_PARAM(PARAM_DEPTH),
    PCT_K_PARAM(PARAM_K, 1000, "the steps over which change points are spread: those of a run"),
    [PARAM_SPIN] = { .name = "spin",
                     .default_value = PCT_SPIN_INVERSE,
                     .max = UINT64_C(1000000000),
                     .zero = "never",
                     .help = "one spin in this many puts a thread below all others",
                     .quiet = true },
    [PARAM_FINAL] = { .name = "final",
                      .default_value = 1,
                      .max = 1,
                      .help = "1: the thread that ends the process is put below all others",
                      .quiet = true },
    [PARAM_SEQUENTIAL] = { .name = "sequential",
                           .max = 1,
                           .help = "1: steps that a thread makes alone do not count, also not in k",
                           .quiet = true },
    [PARAM_PHASES] = { .name = "phases",
                       .max = 1,
                       .help = "1: begin anew whenever one enabled thread is left; k is the steps of a phase",
                       .quiet = true },
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

struct thread_phase {
    uint32_t drawn; /* the phase that its priority is of */
    bool ends;      /* waits for its end below all others, in every phase */
};

struct state {
    uint64_t seed, k, spin;
    uint32_t depth;
    bool final, sequential, phases;
    bool alone;        /* one thread was enabled at the last pick */
    uint64_t step;     /* of the last pick */
    uint64_t counted;  /* steps of this phase that count */
    uint64_t largest;  /* of an earlier phase */
    uint32_t phase;    /* from 0 */
    uint32_t previous; /* the thread that the last pick chose, plus 1 */
    struct pct_changes changes;
    struct pct_priorities priorities;
    struct thread_phase *phase_of; /* by thread */
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_priorities_lay_out(&s->priorities, layout, threads);
    s->phase_of = pct_layout_take(layout, threads, sizeof *s->phase_of);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    struct state *s = begin(state, run);
    s->k = run->param[PARAM_K];
    s->spin = run->param[PARAM_SPIN];
    s->final = run->param[PARAM_FINAL];
    s->sequential = run->param[PARAM_SEQUENTIAL];
    s->phases = run->param[PARAM_PHASES];
    s->alone = true;
    s->depth = pct_depth_of_run(run->param[PARAM_DEPTH], run->seed);
    if (run->param[PARAM_DEPTH] > s->k + 1)
        *why = "depth is greater than k + 1, so that some of the depth-1 priority change points must coincide: bugs of "
               "that depth need more than k steps; give a smaller depth, or the k of this program";
    pct_changes_shift(&s->changes, &run->param[PARAM_SHIFT]);
    pct_changes_draw(&s->changes, s->seed, 0, s->depth - 1, s->k);
    return 0;
}

static void draw_priority(struct state *s, uint32_t thread)
{
    pct_priorities_set(&s->priorities, thread, PCT_RANK_INITIAL + pct_priorities_permute(s->seed, s->phase, thread));
    s->phase_of[thread].drawn = s->phase;
}

/* A priority that is of an earlier phase means nothing any more. */
static void renew_priority(struct state *s, uint32_t thread)
{
    if (s->phase_of[thread].drawn != s->phase && !s->phase_of[thread].ends)
        draw_priority(s, thread);
}

static void created(void *state, uint32_t thread)
{
    draw_priority(state, thread);
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    renew_priority(s, thread);
    pct_priorities_enable(&s->priorities, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_priorities_disable(&s->priorities, thread);
}

PCT_ENABLE_ALL

/* Of `ran` steps since the last pick, those that count. While threads were alone, only the last step can have changed
 * that: otherwise there would have been a pick. */
static uint64_t count(const struct state *s, uint64_t ran, bool still_alone)
{
    if (!s->sequential || !s->alone)
        return ran;
    return ran && !still_alone;
}

/* Figure 7, lines 12 to 16: "if length(S) = k_i then p[t] = d - i". If several k_i are equal, the last i wins. */
static void pass_change_points(struct state *s, const struct pct_point *point)
{
    /* Who executed the step: with no thread at the baton (all were waiting outside), the one chosen before. */
    uint32_t thread = point->current != PCT_NO_THREAD ? point->current : s->previous - 1;
    while (pct_changes_next(&s->changes) <= s->counted) {
        uint32_t i = pct_changes_take(&s->changes);
        bool stays =
            s->phases && thread < PCT_MAX_THREADS && s->phase_of[thread].ends; /* no phase would lower it again */
        if (thread < PCT_MAX_THREADS && !stays)
            pct_priorities_set(&s->priorities, thread, PCT_RANK_CHANGE + s->depth - i);
    }
}

static void begin_phase(struct state *s)
{
    s->largest = s->counted > s->largest ? s->counted : s->largest;
    s->counted = 0;
    s->phase++;
    pct_changes_draw(&s->changes, s->seed, s->phase, s->depth - 1, s->k);
    renew_priority(s, pct_priorities_highest(&s->priorities)); /* the only one that is enabled */
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    bool alone = point->enabled == 1, here = point->why == PCT_WHY_BUDGET || point->why == PCT_WHY_ENABLED;
    s->counted += count(s, point->step - s->step, alone && here);
    s->step = point->step;
    if (pct_changes_next(&s->changes) <= s->counted)
        pass_change_points(s, point);
    if (s->phases && alone && !s->alone)
        begin_phase(s);
    s->alone = alone;
    if (s->priorities.put_last)
        s->phase_of[s->priorities.put_last - 1].drawn = s->phase;
    pct_priorities_settle(&s->priorities);
    uint32_t thread = pct_priorities_highest(&s->priorities);
    s->previous = thread + 1;
    uint64_t next = pct_changes_next(&s->changes);
    uint64_t budget = next == PCT_UNLIMITED || (s->sequential && alone) ? PCT_UNLIMITED : next - s->counted;
    return (struct pct_choice){ .thread = thread, .budget = budget };
}

PCT_CHOOSE

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    pct_priorities_spin(&s->priorities, s->seed, thread, s->spin);
}

static void final_wait(void *state, uint32_t thread)
{
    struct state *s = state;
    if (!s->final)
        return;
    s->phase_of[thread].ends = true;
    pct_priorities_put_last_later(&s->priorities, thread);
}

static uint64_t points(const void *state, uint64_t ran)
{
    const struct state *s = state;
    uint64_t counted = s->counted + count(s, ran, true);
    return counted > s->largest ? counted : s->largest;
}

const struct pct_strategy pct_strategy_pct = {
    .name = "pct",
    .summary =
        "random priorities, changed at depth-1 random steps; finds every bug of that depth with a known probability",
    .source = "Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010, "
              "sections 3 and 4",
    .params = params,
    PCT_BASE,
    .created = created,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
    .points = points,
};
