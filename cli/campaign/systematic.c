/* The systematic part of a campaign: see systematic.h. */
#include "systematic.h"
#include "campaign.h"
#include "preemptions.h"
#include <cli/base/status_line.h>
#include <strategies/strategies.h>

/* A program whose runs have more steps has too many schedules. */
enum { MOST_STEPS = 2000 };

/* Whether the run of this number is one of them, if there are any. */
static bool is_turn(const struct pct_campaign *c, uint64_t index)
{
    const struct pct_systematic *y = &c->systematic;
    return index >= y->from && (index - y->from) % PCT_SYSTEMATIC_EACH == 0 && !pct_other_points_has(c, index) &&
           !pct_directed_takes(c, index);
}

bool pct_systematic_has(const struct pct_campaign *c, uint64_t index)
{
    const struct pct_systematic *y = &c->systematic;
    return y->schedules && index < y->to && is_turn(c, index);
}

bool pct_systematic_can_repeat(const struct pct_campaign *c)
{
    const struct pct_config *config = &c->config;
    return !c->offset && !config->spurious && !config->real_time && !config->sample && !config->watch[0] &&
           config->memory_points != PCT_POINTS_LEARNED;
}

/* Not all that happened was the schedule's. */
static bool is_blind(const struct pct_result *result)
{
    const struct pct_trace *trace = &result->trace;
    bool blind = result->unrecorded || trace->count > MOST_STEPS || !trace->complete || trace->first;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        blind = blind || (trace->header.uncontrolled[i] && !pct_name_is_blind(i));
    return blind;
}

/* There are orders of these steps that no list of switches was made for: deadlines that come early, and whom a futex
 * wakes. */
static bool is_open(const struct pct_trace *trace)
{
    bool open = trace->header.deadlines || trace->header.fixed_deadlines;
    for (uint64_t i = 0; i < trace->count && !open; i++)
        open = PCT_RECORD_OP(trace->records[i]) == PCT_OP_FUTEX_WAKE;
    return open;
}

static void say(const struct pct_campaign *c)
{
    const struct pct_systematic *y = &c->systematic;
    struct pct_preemptions_state state = pct_preemptions_look(y->schedules);
    if (y->quiet || !y->below || y->to <= c->resumed)
        return;
    pct_status_line_clear(!c->progress);
    char preemptions[32] = "out a preemption", rest[64] = "";
    if (state.below > 1)
        snprintf(preemptions, sizeof preemptions, " at most %u preemption%s", state.below - 1,
                 state.below == 2 ? "" : "s");
    if (state.begun)
        snprintf(rest, sizeof rest, ", and %llu of those with %u", (unsigned long long)state.begun, state.below);
    pct_cli_say("%llu of runs %llu to %llu were all schedules with%s at points where threads conflict%s",
                (unsigned long long)y->runs, (unsigned long long)y->from + 1, (unsigned long long)y->to, preemptions,
                rest);
}

/* Whether there is room for what is to come. Asked only where the answer does not depend on how many runs are under
 * way: of those with one preemption more, before the first of them. */
static bool has_room(const struct pct_systematic *y, const struct pct_preemptions_state *state)
{
    if (state->asked >= y->most || (state->taken && state->orders > y->most))
        return false;
    return state->begun || state->likely <= y->most - state->asked;
}

int pct_systematic_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec)
{
    struct pct_systematic *y = &c->systematic;
    if (!y->on || !is_turn(c, index))
        return PCT_RUNS_ON;
    struct pct_preemptions_state state = pct_preemptions_look(y->schedules);
    const char *list = has_room(y, &state) ? pct_preemptions_next(y->schedules) : NULL;
    if (list) {
        pct_campaign_make_listed(c, spec, &pct_strategy_schedule, list);
        return PCT_RUNS_ON;
    }
    if (state.asked > state.taken)
        return PCT_RUNS_WAIT;
    y->on = false;
    y->to = index;
    y->below = y->blind || y->open || state.loops ? 0 : state.below;
    say(c);
    return PCT_RUNS_ON;
}

int pct_systematic_take(struct pct_campaign *c, uint64_t index, const struct pct_result *result)
{
    (void)index;
    struct pct_systematic *y = &c->systematic;
    bool blind = is_blind(result);
    y->runs++;
    y->blind = y->blind || blind;
    y->open = y->open || is_open(&result->trace);
    int failed = pct_preemptions_take(y->schedules, blind ? NULL : &result->trace);
    return failed ? pct_cli_no_memory("") : 0;
}

/* This one of them again, which was made before the campaign was resumed. */
static int repeat(struct pct_campaign *c, uint64_t index)
{
    struct pct_run_spec spec = { 0 };
    pct_campaign_make_spec(c, index, &spec);
    if (pct_systematic_next(c, index, &spec) || !c->systematic.on)
        return 0;
    return pct_campaign_repeat(c, index, &spec, pct_systematic_take);
}

int pct_systematic_decide(struct pct_campaign *c, uint64_t next)
{
    struct pct_systematic *y = &c->systematic;
    int status = 0;
    if (y->decided || next < PCT_SYSTEMATIC_FROM)
        return 0;
    y->decided = true;
    if (!y->most || !pct_systematic_can_repeat(c))
        return 0;
    y->schedules = pct_preemptions_new(PCT_PREEMPTIONS_MOST);
    if (!y->schedules)
        return pct_cli_no_memory("");
    y->on = true;
    y->from = PCT_SYSTEMATIC_FROM;
    y->to = UINT64_MAX;
    for (uint64_t index = y->from; index < next && y->on && !status; index++)
        if (is_turn(c, index))
            status = repeat(c, index);
    return status;
}

void pct_systematic_free(struct pct_systematic *systematic)
{
    pct_preemptions_free(systematic->schedules);
    systematic->schedules = NULL;
}
