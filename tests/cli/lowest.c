/* An out-of-tree strategy for the tests of the command: of the enabled threads, the one with the lowest id, one step at
 * a time. It refuses odd values of its parameter. */
#include <pct/strategy.h>
#include <stddef.h>

struct state {
    uint8_t enabled[PCT_MAX_THREADS];
};

static const struct pct_param params[] = {
    { .name = "even", .default_value = 2, .min = 0, .max = 100, .help = "an even number, to no effect" }, { 0 }
};

static uint32_t state_size(const struct pct_run *run)
{
    (void)run;
    return sizeof(struct state);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    if (run->param[0] % 2 == 0)
        return 0;
    *why = "even must be even";
    return -22;
}

static void enable(void *state, uint32_t thread)
{
    ((struct state *)state)->enabled[thread] = 1;
}

static void disable(void *state, uint32_t thread)
{
    ((struct state *)state)->enabled[thread] = 0;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    (void)point;
    uint32_t thread = 0;
    while (!((struct state *)state)->enabled[thread])
        thread++;
    return (struct pct_choice){ thread, 1 };
}

const struct pct_strategy pct_strategy = {
    .abi = PCT_STRATEGY_ABI,
    .name = "lowest",
    .summary = "the enabled thread with the lowest id",
    .params = params,
    .state_size = state_size,
    .start = start,
    .enable = enable,
    .disable = disable,
    .pick = pick,
};
