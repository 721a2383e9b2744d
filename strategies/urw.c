/* The strategy `urw`: the uniform random walk of H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury, "Selectively Uniform
 * Concurrency Testing", ASPLOS 2025.
 *
 * At every step each enabled thread runs with a probability in proportion to the number of events that it has left. Of
 * a program whose threads never block, and whose numbers of events are known, every interleaving is then equally
 * likely; a plain random walk prefers those in which long threads come late.
 *
 * Called by the scheduler through <pct/strategy.h>. Fair with probability 1. Where the numbers come from: weights.h;
 * that they are estimates, and that threads block, is where the uniformity ends. */
#include "base.h"
#include "weights.h"

enum { PARAM_N };

static const struct pct_param params[] = { PCT_COUNT_PARAMS(PARAM_N, "events of a thread, estimated"), { 0 } };

struct state {
    uint64_t seed;
    struct pct_draws draws;
    uint32_t previous; /* the thread that the last pick chose, plus 1 */
    struct pct_weights weights;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    pct_weights_lay_out(&s->weights, layout, pct_layout_threads(run));
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
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

PCT_ENABLE_ALL_WEIGHTS

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->previous && point->step > s->draws.step)
        pct_weights_made(&s->weights, s->previous - 1);
    uint64_t place = pct_draws_next(&s->draws, point->step);
    uint32_t thread = pct_weights_draw(&s->weights, s->seed, PCT_STREAM_PICK, place);
    s->previous = thread + 1;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

PCT_CHOOSE

const struct pct_strategy pct_strategy_urw = {
    .name = "urw",
    .summary = "a random walk in proportion to the events that threads have left: uniform over interleavings",
    .source = "Zhao, Wolff, Mathur, Roychoudhury, Selectively Uniform Concurrency Testing, ASPLOS 2025 (URW)",
    .params = params,
    PCT_BASE,
    .created = created,
    .choose = choose,
};
