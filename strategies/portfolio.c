/* The strategy `portfolio`: another strategy for each seed, in turn.
 *
 * No strategy is the best for every bug: one that needs few changes at the right places is found soonest by pct, one that
 * any of many interleavings shows by a random walk. In a campaign over consecutive seeds each member has its share of the
 * runs, and none costs more than the number of members times its own runs to the first failure.
 *
 * Called by the scheduler through <pct/strategy.h>. The run is that of the member, with the same seed; parameters go to the
 * member's of the same name, and those that this one has not are at their presets. */
#include "changes.h"
#include "depths.h"
#include "strategies.h"
#include "weights.h"
#include <pct/sets.h>

/* clang-format off */
static const struct pct_strategy *const members[] = {
    &pct_strategy_pct, &pct_strategy_pos, &pct_strategy_surw, &pct_strategy_tapct, &pct_strategy_urw,
    &pct_strategy_preemption_bound,
};
/* clang-format on */
enum { MEMBERS = sizeof members / sizeof *members };

enum { PARAM_DEPTH, PARAM_K, PARAM_BOUND, PARAM_N, PARAM_SHIFT = PARAM_N + 1 + PCT_NAMED_COUNTS };

static const struct pct_param params[] = {
    [PARAM_DEPTH] = { .name = "depth",
                      .max = PCT_MAX_DEPTH,
                      .zero = "auto",
                      .help = "that of pct and tapct; auto: drawn for each run" },
    [PARAM_K] = { .name = "k",
                  .preset = 1000,
                  .min = 1,
                  .max = UINT64_C(1000000000000),
                  .help = "that of pct, tapct and preemption-bound: the steps of a run" },
    [PARAM_BOUND] = { .name = "bound", .preset = 2, .max = 63, .help = "that of preemption-bound", .quiet = true },
    PCT_COUNT_PARAMS(PARAM_N, "that of urw and surw: events of a thread"),
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

/* The member's state follows. */
struct state {
    const struct pct_strategy *member;
    _Alignas(64) char inner[];
};

static bool same(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return *a == *b;
}

const struct pct_strategy *pct_portfolio_member(uint64_t seed)
{
    return members[seed % MEMBERS];
}

static struct pct_run run_of(const struct pct_strategy *member, const struct pct_run *run)
{
    struct pct_run result = { .seed = run->seed, .threads = run->threads };
    for (uint32_t i = 0; member->params && member->params[i].name; i++) {
        result.param[i] = member->params[i].preset;
        for (uint32_t j = 0; params[j].name; j++)
            if (same(member->params[i].name, params[j].name))
                result.param[i] = run->param[j];
    }
    return result;
}

static uint32_t state_size(const struct pct_run *run)
{
    const struct pct_strategy *member = pct_portfolio_member(run->seed);
    struct pct_run inner = run_of(member, run);
    return (uint32_t)sizeof(struct state) + member->state_size(&inner);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    struct state *s = state;
    s->member = pct_portfolio_member(run->seed);
    struct pct_run inner = run_of(s->member, run);
    return s->member->start(s->inner, &inner, why);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    if (s->member->created)
        s->member->created(s->inner, thread);
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    if (s->member->announce)
        s->member->announce(s->inner, thread, next);
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->member->enable(s->inner, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->member->disable(s->inner, thread);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    return s->member->pick(s->inner, point);
}

static uint32_t choose(void *state, uint32_t waiters, uint64_t step)
{
    struct state *s = state;
    return s->member->choose(s->inner, waiters, step);
}

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    struct state *s = state;
    if (s->member->spinning)
        s->member->spinning(s->inner, thread, spins);
}

static void final_wait(void *state, uint32_t thread)
{
    struct state *s = state;
    if (s->member->final_wait)
        s->member->final_wait(s->inner, thread);
}

const struct pct_strategy pct_strategy_portfolio = {
    .abi = PCT_STRATEGY_ABI,
    .name = "portfolio",
    .summary = "for each seed another strategy, in turn: pct, pos, surw, tapct, urw, preemption-bound",
    .params = params,
    .state_size = state_size,
    .start = start,
    .created = created,
    .announce = announce,
    .enable = enable,
    .disable = disable,
    .pick = pick,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
};
