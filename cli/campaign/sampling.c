/* The sample of places in the code: see sampling.h. */
#include "sampling.h"
#include <cli/base/cli.h>

uint64_t pct_sampling_count(const struct pct_trace *trace)
{
    uint64_t plain = 0;
    for (uint64_t i = 0; trace->count > PCT_SAMPLING_TOO_MANY && i < trace->count; i++) {
        unsigned op = PCT_RECORD_OP(trace->records[i]);
        plain += op == PCT_OP_LOAD || op == PCT_OP_STORE;
    }
    return plain > PCT_SAMPLING_TOO_MANY ? plain : 0;
}

unsigned pct_sampling_percent(uint64_t plain)
{
    if (plain <= PCT_SAMPLING_TOO_MANY)
        return 0;
    uint64_t percent = 100 * PCT_SAMPLING_WANTED / plain;
    return percent ? (unsigned)percent : 1;
}

bool pct_sampling_switch_on(struct pct_campaign *c, uint64_t plain)
{
    unsigned percent = pct_sampling_percent(plain);
    if (!c->may_sample || c->config.sample || !percent)
        return false;
    c->config.sample = (uint8_t)percent;
    pct_cli_say("%llu of the points of a run are plain accesses to memory: from now on, each run has those of %u %% of "
                "the places in the "
                "code, drawn anew for every %d runs (--memory-sample=off takes all; --focus says which)",
                (unsigned long long)plain, percent, PCT_SAMPLING_GROUP);
    return true;
}

bool pct_sampling_groups(const struct pct_campaign *c)
{
    return c->config.sample && c->learns && !c->kept && c->runs > 1;
}

bool pct_sampling_measures(const struct pct_campaign *c, uint64_t index)
{
    return pct_sampling_groups(c) && index >= c->sample_from && (index - c->sample_from) % PCT_SAMPLING_GROUP == 0;
}

void pct_sampling_configure(const struct pct_campaign *c, uint64_t index, struct pct_config *config)
{
    if (!pct_sampling_groups(c)) /* whoever learns k has one */
        return;
    const struct pct_param *param = &c->strategy->params[c->k];
    config->sample_fixed = true;
    config->sample_seed = pct_campaign_seed(c, index - (index - c->sample_from) % PCT_SAMPLING_GROUP);
    if (pct_sampling_measures(c, index))
        return;
    /* The same sample may be longer under another schedule. */
    uint64_t k = c->sample_points + c->sample_points / 8, least = c->depth < 0 ? 1 : config->run.param[c->depth];
    k = k < least ? least : k;
    config->run.param[c->k] = k < param->min ? param->min : k > param->max ? param->max : k;
}
