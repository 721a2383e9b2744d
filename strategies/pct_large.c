/* The strategy `pct-large`: PCTLarge of J. Yu, S. Narayanasamy, C. Pereira, G. Pokam, "Maple: A Coverage-Driven Testing
 * Tool for Multithreaded Programs", OOPSLA 2012, section 6.2: pct with priorities that are not strict. There they are
 * nice values; threads of a higher priority get more time, and those of a lower one get some, too.
 *
 * Threads take turns of 1 to 2 * `quantum` - 1 steps, drawn for each. Whose turn is next is drawn among the enabled
 * threads, by weights: 40 levels, as there are nice values, each of a quarter more weight than the one below it. Every
 * thread begins on a random level but the lowest; at d-1 random steps the thread that has just executed one goes to the
 * lowest, which is what figure 7 of PCT does. So there are many more switches than there, and no guarantee.
 *
 * What deviates: the kernel gives shares of time in turn, here they are shares of chance, or the seed would decide
 * little. All threads that were put lowest are equal there, as nice has nothing below 19. A turn ends when the thread
 * blocks, too; one that spins goes down by a level and its turn ends, and one that ends the process goes to the lowest.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "base.h"
#include "change_points.h"
#include "depth_param.h"
#include "weights.h"

enum { PARAM_DEPTH, PARAM_K, PARAM_QUANTUM, PARAM_SHIFT };
enum { LEVELS = 40, LOWEST_WEIGHT = 16 };

static const struct pct_param params[] = { PCT_DEPTH_PARAM(PARAM_DEPTH),
                                           PCT_K_PARAM(PARAM_K, 1000,
                                                       "the steps over which change points are spread: those of a run"),
                                           [PARAM_QUANTUM] = { .name = "quantum",
                                                               .default_value = 1,
                                                               .min = 1,
                                                               .max = UINT64_C(1000000000000),
                                                               .help = "the steps of a turn, on average" },
                                           PCT_SHIFT_PARAMS(PARAM_SHIFT),
                                           { 0 } };

struct state {
    uint64_t seed, quantum;
    uint64_t left;     /* steps that are left of the turn */
    uint32_t turn;     /* whose turn it is, plus 1; 0: nobody's */
    uint32_t previous; /* the thread that the last pick chose, plus 1 */
    struct pct_draws draws;
    struct pct_changes changes;
    struct pct_weights weights; /* of the enabled threads */
    uint8_t *level;             /* by thread */
    uint64_t weight_of[LEVELS];
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_weights_lay_out(&s->weights, layout, threads);
    s->level = pct_layout_take(layout, threads, sizeof *s->level);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    static const uint64_t no_counts[1 + PCT_NAMED_COUNTS];
    (void)why;
    struct state *s = begin(state, run);
    s->quantum = run->param[PARAM_QUANTUM];
    pct_weights_start(&s->weights, no_counts, 1);
    s->weight_of[0] = LOWEST_WEIGHT;
    for (unsigned i = 1; i < LEVELS; i++)
        s->weight_of[i] = s->weight_of[i - 1] + s->weight_of[i - 1] / 4;
    pct_changes_shift(&s->changes, &run->param[PARAM_SHIFT]);
    pct_changes_draw(&s->changes, s->seed, 0, pct_depth_of_run(run->param[PARAM_DEPTH], run->seed) - 1,
                     run->param[PARAM_K]);
    return 0;
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_create(&s->weights, thread);
    s->level[thread] = (uint8_t)(1 + pct_random_below(s->seed, PCT_STREAM_PRIORITY, thread, LEVELS - 1));
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_set(&s->weights, thread, s->weight_of[s->level[thread]]);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_set(&s->weights, thread, 0);
    /* The turn is over even if the thread becomes enabled again before the next pick. */
    if (s->turn == thread + 1)
        s->turn = 0;
}

PCT_ENABLE_ALL_WEIGHTS

static void put_on(struct state *s, uint32_t thread, uint32_t level)
{
    s->level[thread] = (uint8_t)level;
    if (s->weights.of[thread].member)
        enable(s, thread);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    uint64_t place = pct_draws_next(&s->draws, point->step);
    /* Who executed the step: with no thread at the baton (all were waiting outside), the one chosen before. */
    uint32_t ran = point->current != PCT_NO_THREAD ? point->current : s->previous - 1;
    for (; pct_changes_next(&s->changes) <= point->step; pct_changes_take(&s->changes))
        if (ran < PCT_MAX_THREADS)
            put_on(s, ran, 0);
    s->left = s->left > point->ran ? s->left - point->ran : 0;
    if (!s->turn || !s->left) {
        s->turn = pct_weights_draw(&s->weights, s->seed, PCT_STREAM_PICK, place) + 1;
        s->left = pct_random_below(s->seed, PCT_STREAM_DELAY, place, 2 * s->quantum - 1) + 1;
    }
    s->previous = s->turn;
    uint64_t budget = pct_changes_budget(&s->changes, point->step);
    return (struct pct_choice){ .thread = s->turn - 1, .budget = budget < s->left ? budget : s->left };
}

PCT_CHOOSE

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    struct state *s = state;
    (void)spins;
    if (s->level[thread])
        put_on(s, thread, s->level[thread] - 1u);
    s->turn = 0;
}

static void final_wait(void *state, uint32_t thread)
{
    struct state *s = state;
    put_on(s, thread, 0);
    s->turn = 0;
}

const struct pct_strategy pct_strategy_pct_large = {
    .name = "pct-large",
    .summary =
        "pct with priorities that are not strict: turns go to threads by weights, lowered at depth-1 random steps",
    .source = "Yu et al., Maple: A Coverage-Driven Testing Tool for Multithreaded Programs, OOPSLA 2012, section 6.2",
    .params = params,
    PCT_BASE,
    .created = created,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
};
