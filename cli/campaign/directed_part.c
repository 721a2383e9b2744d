/* The directed part of a campaign: see directed.h. */
#include "campaign.h"
#include "directed.h"
#include "directed_state.h"
#include "store.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <errno.h>
#include <strategies/strategies.h>

/* One run in EACH may be directed, whatever other part would have it; from run OFTEN_FROM to OFTEN_END, one in OFTEN:
 * first tries find most of what directed runs find, and what the first runs have not found is rare. Where all patterns
 * were tried once, it stays at those that are one in EACH, too. The first FIRST of the others are looked at, then one
 * in LATER: that is as much as finding what they predict may take of a campaign's time, and a run of more than
 * MOST_STEPS takes more. Where the second half of the runs, and these are CALM_FROM at least, has predicted nothing
 * new, it is one in CALM_LATER of all that force nothing: to look at a short run takes twice the time that it took. */
enum { EACH = 5, FIRST_PLACE = 3, FIRST = 16, LATER = 8, MOST_STEPS = 1 << 14, CALM_FROM = 512, CALM_LATER = 32 };
enum { OFTEN = 2, OFTEN_FROM = 8, OFTEN_END = 64 };

/* A run of the part: the strategy maple, with all else as the campaign's runs have it. */
static void configure(const struct pct_campaign *c, uint64_t seed, struct pct_config *config)
{
    const struct pct_strategy *maple = &pct_strategy_maple;
    *config = c->config;
    config->run = (struct pct_run){ .seed = seed };
    config->given = 0;
    config->list[0] = '\0';
    snprintf(config->strategy, sizeof config->strategy, "%s", maple->name);
    for (unsigned i = 0; i < PCT_MAX_PARAMS && maple->params[i].name; i++)
        config->run.param[i] = maple->params[i].default_value;
    config->slack = pct_config_draw_slack(config, maple);
}

bool pct_directed_may_be_part(const struct pct_campaign *c)
{
    const struct pct_config *config = &c->config;
    const bool long_token = config->modules[0] || config->functions[0];
    return c->systematic.may && (c->kept || c->runs > 1) && !c->launch.sites && !long_token &&
           pct_systematic_can_repeat(c);
}

void pct_directed_settle(struct pct_campaign *c)
{
    const bool tells = c->config.memory >= PCT_PATCH_GLOBALS || pct_elf_tells(c->launch.program);
    if (pct_directed_is_part(c) && (!tells || !pct_systematic_can_repeat(c)))
        pct_directed_free(c);
}

static bool is_of_pct(uint64_t seed)
{
    return pct_strategy_member(&pct_strategy_mixture, seed) == &pct_strategy_pct;
}

static bool is_place(uint64_t index)
{
    return index % EACH == FIRST_PLACE;
}

static bool is_place_often(uint64_t index)
{
    return index >= OFTEN_FROM && index < OFTEN_END ? index % OFTEN == 0 : is_place(index);
}

/* Whether the run of this number and seed may be directed, behind one of that seed. Those of pct, which have a
 * guarantee, stay what they are: then the next one may. */
static bool is_turn_at(bool (*is_place_at)(uint64_t index), uint64_t index, uint64_t seed, uint64_t before)
{
    return is_place_at(index) ? !is_of_pct(seed) : index && is_place_at(index - 1) && is_of_pct(before);
}

static bool is_turn(uint64_t index, uint64_t seed, uint64_t before)
{
    return is_turn_at(is_place_often, index, seed, before);
}

bool pct_directed_takes(const struct pct_campaign *c, uint64_t index)
{
    return pct_directed_is_part(c) &&
           is_turn(index, pct_campaign_seed(c, index), index ? pct_campaign_seed(c, index - 1) : 0);
}

/* Whether it has ended, as far as is known of this many runs: they were too long, or the first ones have shown nothing
 * to be tried. */
static bool is_over(const struct pct_directed *d, uint64_t index, uint64_t known)
{
    return (d->too_long && d->too_long <= known) || (index >= FIRST && !d->upto[FIRST]);
}

/* Whether this run, if it forces nothing, need not be looked at. */
static bool is_calm(const struct pct_directed *d, uint64_t index, uint64_t known)
{
    return known >= CALM_FROM && d->upto[known] == d->upto[known / 2] && index % CALM_LATER != LATER / 2;
}

/* What the run of this number is. own: it is no run of another part. Returns likewise of pct_directed_part_next(). */
static int decide(struct pct_directed *d, uint64_t index, bool own, struct pct_config *config)
{
    const uint64_t seed = config->run.seed, before = index ? d->run[index - 1].seed : 0;
    const bool turn = own && is_turn(index, seed, before);
    const bool looked = own && (turn || index < FIRST || index % LATER == LATER / 2);
    const uint64_t known = pct_directed_known_by(d, index);
    if (looked && d->taken < known)
        return PCT_RUNS_WAIT;
    const bool over = !looked || is_over(d, index, known);
    const bool fresh = turn && !is_turn_at(is_place, index, seed, before);
    const bool done = over || !turn ? pct_directed_draw(d, index, config->run.seed, !over)
                                    : pct_directed_choose(d, index, fresh, config);
    if (!done)
        return pct_cli_no_memory("");
    if (!over && pct_directed_is_profile_run(d, index) && is_calm(d, index, known))
        d->run[index].looked = false;
    return PCT_RUNS_ON;
}

int pct_directed_part_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec)
{
    static struct pct_config config; /* large */
    configure(c, spec->config.run.seed, &config);
    const bool own = !pct_other_points_has(c, index) && !pct_systematic_has(c, index) && !pct_cycles_has(c, index);
    const int status = decide(c->directed, index, own, &config);
    if (status)
        return status;
    if (c->directed->run[index].looked)
        spec->sites = "calls";
    if (!pct_directed_has(c, index))
        return PCT_RUNS_ON;
    spec->config = config;
    spec->strategy = &pct_strategy_maple;
    return PCT_RUNS_ON;
}

bool pct_directed_is_part(const struct pct_campaign *c)
{
    return c->directed && c->directed->part;
}

bool pct_directed_has(const struct pct_campaign *c, uint64_t index)
{
    return pct_directed_is_part(c) && index < c->directed->decided && !pct_directed_is_profile_run(c->directed, index);
}

bool pct_directed_part_looks(struct pct_directed *d, uint64_t run, uint64_t steps)
{
    const bool too_long = steps > MOST_STEPS;
    if (too_long && !d->too_long)
        d->too_long = run;
    return !too_long;
}

struct replay {
    struct pct_directed *d;
    uint64_t index;
    struct pct_config config;
};

static int replay(void *data, const struct pct_store_run *run)
{
    struct replay *r = data;
    const uint64_t index = r->index++;
    r->config.run.seed = run->seed;
    if (decide(r->d, index, !run->other && !run->systematic && !run->forced, &r->config))
        return -ENOMEM;
    if (run->directed == pct_directed_is_profile_run(r->d, index))
        return -EINVAL;
    if (r->d->run[index].looked)
        pct_directed_part_looks(r->d, index + 1, run->steps);
    pct_directed_count_try(r->d, index);
    return 0;
}

int pct_directed_part_replay(struct pct_directed *d, struct pct_store *store)
{
    static struct replay r; /* large */
    r = (struct replay){ .d = d };
    return pct_store_each_run(store, replay, &r);
}
