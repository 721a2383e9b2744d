/* An out-of-tree strategy, to copy from: the thread that became enabled last runs first.
 *
 *     cc -std=gnu17 -O2 -fPIC -shared -I include examples/strategy/lifo.c -o lifo.so
 *     PCT_STRATEGY=./lifo.so,patience=10 LD_PRELOAD=./libpct.so ./app
 *
 * It starves old threads, which brings out bugs that need somebody to be very late. Once in `inverse` steps, on average
 * and by the seed, the running thread goes to the bottom, so that different seeds are different schedules.
 *
 * docs/STRATEGIES.md walks through this file. What a strategy must keep to: all memory is in its state; no allocation,
 * no stdio, no locks, nothing of libc at all; every decision follows from the parameters, the seed and the calls. */
#include <pct/random.h>
#include <pct/strategy.h>

/* Parameters: the user writes `patience=10`, the value arrives in run->param[PARAM_PATIENCE]. */
enum { PARAM_PATIENCE, PARAM_INVERSE };

static const struct pct_param params[] = {
    [PARAM_PATIENCE] = { .name = "patience",
                         .default_value = 4,
                         .min = 1,
                         .max = 1000000,
                         .help = "spins in a row after which a thread goes to the bottom" },
    [PARAM_INVERSE] = { .name = "inverse",
                        .default_value = 100,
                        .min = 1,
                        .max = 1000000,
                        .help = "the running thread goes to the bottom once in this many steps" },
    { 0 } /* the end */
};

/* Ids in the links are one too large, so that 0 means none and zeroed memory is an empty stack. */
struct state {
    uint64_t seed, patience, inverse;
    uint64_t drawn; /* steps up to which the change of the running thread was drawn */
    uint32_t top, bottom;
    uint32_t above[PCT_MAX_THREADS], below[PCT_MAX_THREADS]; /* among the enabled threads */
};

static uint32_t state_size(const struct pct_run *run)
{
    (void)run;
    return sizeof(struct state);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    /* Each value is within its own range already. Parameters that make no sense together are refused here: set *why to
     * a message for the user and return a negative errno. */
    (void)why;
    struct state *s = state;
    s->seed = run->seed;
    s->patience = run->param[PARAM_PATIENCE];
    s->inverse = run->param[PARAM_INVERSE];
    return 0;
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->above[thread] = 0;
    s->below[thread] = s->top;
    if (s->top)
        s->above[s->top - 1] = thread + 1;
    else
        s->bottom = thread + 1;
    s->top = thread + 1;
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    uint32_t above = s->above[thread], below = s->below[thread];
    if (above)
        s->below[above - 1] = below;
    else
        s->top = below;
    if (below)
        s->above[below - 1] = above;
    else
        s->bottom = above;
}

static void to_bottom(struct state *s, uint32_t thread)
{
    if (s->bottom == thread + 1)
        return;
    disable(s, thread);
    s->above[thread] = s->bottom;
    s->below[thread] = 0;
    s->below[s->bottom - 1] = thread + 1;
    s->bottom = thread + 1;
}

/* Asked at the budget's end, when the running thread blocks, and when any other becomes enabled. A budget of 1 asks at
 * each step; a strategy that knows its next change beforehand says how far it is, and the steps up to there cost
 * nothing. */
static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    int running = point->why == PCT_WHY_BUDGET || point->why == PCT_WHY_ENABLED; /* current is enabled */
    if (running && point->step > s->drawn) {
        /* The random numbers of others begin at PCT_STREAM_USER; one for each step, so that none depends on another. */
        if (pct_random_below(s->seed, PCT_STREAM_USER, point->step, s->inverse) == 0)
            to_bottom(s, point->current);
        s->drawn = point->step;
    }
    return (struct pct_choice){ .thread = s->top - 1, .budget = 1 };
}

/* Without this, two threads that wait for a third in a loop of sched_yield() would keep it from running. */
static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    struct state *s = state;
    if (spins % s->patience == 0)
        to_bottom(s, thread);
}

/* The process ends when this thread runs on: let the others show their bugs first. */
static void final_wait(void *state, uint32_t thread)
{
    to_bottom(state, thread);
}

/* The one symbol that pct looks for. Functions that are left out: created() (nothing to prepare) and choose() (a signal
 * wakes the first waiter). */
__attribute__((visibility("default"))) const struct pct_strategy pct_strategy = {
    .abi = PCT_STRATEGY_ABI,
    .name = "lifo",
    .summary = "the thread that became enabled last runs first",
    .params = params,
    .state_size = state_size,
    .start = start,
    .enable = enable,
    .disable = disable,
    .pick = pick,
    .spinning = spinning,
    .final_wait = final_wait,
};
