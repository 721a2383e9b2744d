/* The strategy `urw`: the uniform random walk of H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury, "Selectively Uniform
 * Concurrency Testing", ASPLOS 2025.
 *
 * At every step each enabled thread runs with a probability in proportion to the number of events that it has left. Of
 * a program whose threads never block, and whose numbers of events are known, every interleaving is then equally
 * likely; a plain random walk prefers those in which long threads come late.
 *
 * Called by the scheduler through <pct/strategy.h>. Fair with probability 1. Where the numbers come from: weights.h;
 * that they are estimates, and that threads block, is where the uniformity ends. */
#include "all.h"
#include "weights.h"

enum { PARAM_N };

static const struct pct_param params[] = { PCT_COUNT_PARAMS(PARAM_N, "events of a thread, estimated"), { 0 } };

struct state {
    uint64_t seed;
    uint64_t step;     /* of the last pick */
    uint32_t redraw;   /* picks at that step before the last one */
    uint32_t previous; /* the thread that the last pick chose, plus 1 */
    struct pct_weights weights;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    pct_weights_lay_out(&s->weights, layout, pct_layout_threads(run));
}

static uint32_t state_size(const struct pct_run *run)
{
    return PCT_LAYOUT_SIZE(struct state, lay_out, run);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = state;
    struct pct_layout layout = { .base = state, .used = sizeof *s };
    lay_out(s, &layout, run);
    s->seed = run->seed;
    pct_weights_start(&s->weights, run->param + PARAM_N, 1);
    return 0;
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_create(&s->weights, thread);
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_insert(&s->weights, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_remove(&s->weights, thread);
}

static void enable_all(void *state, const uint16_t *threads, uint32_t count)
{
    struct state *s = state;
    pct_weights_expect(&s->weights, count);
    for (uint32_t i = 0; i < count; i++)
        enable(s, threads[i]);
}

static void disable_all(void *state, const uint16_t *threads, uint32_t count)
{
    struct state *s = state;
    pct_weights_expect(&s->weights, count);
    for (uint32_t i = 0; i < count; i++)
        disable(s, threads[i]);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->previous && point->step > s->step)
        pct_weights_made(&s->weights, s->previous - 1);
    s->redraw = point->step == s->step ? s->redraw + 1 : 0;
    s->step = point->step;
    uint64_t place = point->step << 16 | (s->redraw & 0xffff);
    uint32_t thread = pct_weights_draw(&s->weights, s->seed, PCT_STREAM_PICK, place);
    s->previous = thread + 1;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

static uint32_t choose(void *state, uint32_t waiters, uint64_t step)
{
    const struct state *s = state;
    return pct_random_waiter(s->seed, waiters, step);
}

const struct pct_strategy pct_strategy_urw = {
    .abi = PCT_STRATEGY_ABI,
    .name = "urw",
    .summary = "a random walk in proportion to the events that threads have left: uniform over interleavings",
    .source = "Zhao, Wolff, Mathur, Roychoudhury, Selectively Uniform Concurrency Testing, ASPLOS 2025 (URW)",
    .params = params,
    .state_size = state_size,
    .start = start,
    .created = created,
    .enable = enable,
    .disable = disable,
    PCT_ENABLE_ALL,
    .pick = pick,
    .choose = choose,
};
