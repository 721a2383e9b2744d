/* Cycles of locks in a campaign: see cycles.h. */
#include "cycles.h"
#include "campaign.h"
#include <cli/trace/accesses.h>
#include <cli/trace/lock_cycles.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

/* From PCT_CYCLES_LEARN on, one run in EACH, and never one that the systematic part of a campaign may have. Behind END
 * there are none. */
enum { EACH = 3, END = 128 };
_Static_assert((int)EACH == PCT_SYSTEMATIC_EACH && (int)PCT_CYCLES_LEARN == PCT_SYSTEMATIC_FROM, "they take turns");

static bool is_milestone(uint64_t next)
{
    return next && next < PCT_CYCLES_LEARN && !(next & (next - 1));
}

/* Whether the run of this number is one of them, if there are any: behind each milestone, as many as half of the runs
 * before it. */
static bool is_turn(const struct pct_campaign *c, uint64_t index)
{
    if (index >= PCT_CYCLES_LEARN)
        return index < END && (index - PCT_CYCLES_LEARN) % EACH == 1 && !pct_other_points_has(c, index);
    uint64_t from = 1;
    while (2 * from <= index)
        from *= 2;
    return index && index - from < (from < 2 ? 1 : from / 2);
}

/* What a list does not decide would differ from run to run. */
static bool applies(const struct pct_campaign *c)
{
    return c->cycles.may && pct_systematic_can_repeat(c);
}

/* Behind PCT_CYCLES_LEARN this is done run by run: which ones have other scheduling points is not known before. */
static void plan(struct pct_campaign *c, uint64_t from, uint64_t end)
{
    struct pct_cycles *y = &c->cycles;
    for (uint64_t index = from; index < end && y->planned < y->known; index++)
        if (is_turn(c, index) && (!y->planned || index > y->run[y->planned - 1]))
            y->run[y->planned++] = index;
}

/* Which list this run has, plus 1; 0: none. */
static size_t find(const struct pct_cycles *y, uint64_t index)
{
    size_t i = y->planned;
    while (i && y->run[i - 1] != index)
        i--;
    return i;
}

bool pct_cycles_has(const struct pct_campaign *c, uint64_t index)
{
    return find(&c->cycles, index);
}

void pct_cycles_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec)
{
    if (index >= PCT_CYCLES_LEARN)
        plan(c, index, index + 1);
    size_t which = find(&c->cycles, index);
    if (which && !applies(c))
        c->cycles.run[which - 1] = UINT64_MAX;
    else if (which)
        pct_campaign_make_listed(c, spec, &pct_strategy_order, c->cycles.list[which - 1]);
}

/* Only such a run of the first ones is looked at: it is its seed's alone, and can be made again. */
static bool is_drawn(const struct pct_campaign *c, uint64_t index)
{
    return !pct_cycles_has(c, index) && !pct_directed_has(c, index);
}

/* Take over those that are new. */
static void keep(struct pct_cycles *y, struct pct_lock_cycles *cycles)
{
    for (size_t i = 0; i < cycles->count; i++) {
        bool known = y->known == PCT_CYCLES_MOST;
        for (size_t k = 0; k < y->known && !known; k++)
            known = !strcmp(y->list[k], cycles->list[i]);
        if (known)
            continue;
        y->list[y->known++] = cycles->list[i];
        cycles->list[i] = NULL;
    }
}

int pct_cycles_take(struct pct_campaign *c, uint64_t index, const struct pct_result *result)
{
    const struct pct_trace *trace = &result->trace;
    struct pct_lock_cycles cycles;
    struct pct_access *accesses;
    size_t count;
    if (index >= PCT_CYCLES_LEARN || !applies(c) || !is_drawn(c, index) || result->unrecorded || !trace->complete ||
        trace->first || !pct_lock_cycles_may_be(trace))
        return 0;
    int failed = pct_accesses_read(NULL, trace, &accesses, &count);
    if (!failed)
        failed = pct_lock_cycles_find(&cycles, trace, accesses, count);
    free(accesses);
    if (failed)
        return pct_cli_no_memory("");
    keep(&c->cycles, &cycles);
    pct_lock_cycles_free(&cycles);
    return 0;
}

/* This run again, which was made before the campaign was resumed. */
static int repeat(struct pct_campaign *c, uint64_t index)
{
    struct pct_run_spec spec = { 0 };
    pct_campaign_make_spec(c, index, &spec);
    return pct_campaign_repeat(c, index, &spec, pct_cycles_take);
}

int pct_cycles_decide(struct pct_campaign *c, uint64_t next)
{
    struct pct_cycles *y = &c->cycles;
    int status = 0;
    for (uint64_t index = 0;
         !y->decided && index < next && index < PCT_CYCLES_LEARN && next < END && applies(c) && !status; index++) {
        if (is_milestone(index))
            plan(c, index, 2 * index);
        if (is_drawn(c, index))
            status = repeat(c, index);
    }
    if (!y->decided)
        plan(c, PCT_CYCLES_LEARN, next);
    y->decided = true;
    if (!status && is_milestone(next) && applies(c))
        plan(c, next, 2 * next);
    return status;
}

void pct_cycles_free(struct pct_cycles *cycles)
{
    for (size_t i = 0; i < cycles->known; i++)
        free(cycles->list[i]);
    cycles->known = cycles->planned = 0;
}
