/* A strategy with a mistake, for tests/programs/verdicts: it always chooses thread 1, enabled or not. */
#include <pct/strategy.h>

static uint32_t state_size(const struct pct_run *run)
{
    (void)run;
    return 0;
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    (void)run;
    (void)why;
    return 0;
}

static void ignore(void *state, uint32_t thread)
{
    (void)state;
    (void)thread;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    (void)state;
    (void)point;
    return (struct pct_choice){ 1, 1 };
}

const struct pct_strategy pct_strategy = {
    .abi = PCT_STRATEGY_ABI,
    .name = "wrong",
    .summary = "always thread 1, enabled or not",
    .state_size = state_size,
    .start = start,
    .enable = ignore,
    .disable = ignore,
    .pick = pick,
};
