/* How much slack deadlines have: see config.h. */
#include "config.h"
#include "text.h"
#include <errno.h>
#include <pct/random.h>

static const struct unit {
    const char *name;
    uint64_t ns;
} units[] = { { "s", UINT64_C(1000000000) }, { "ms", UINT64_C(1000000) }, { "us", UINT64_C(1000) }, { "ns", 1 } };
enum { UNITS = sizeof units / sizeof *units };

int pct_config_parse_slack(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= PCT_SLACK_MOST; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    for (unsigned i = 0; i < UNITS && at > text; i++)
        if (pct_text_same(at, units[i].name) && value <= PCT_SLACK_MOST / units[i].ns) {
            config->slack = value * units[i].ns;
            return 0;
        }
    if (at > text && !*at && !value) {
        config->slack = 0;
        return 0;
    }
    struct pct_text message;
    pct_text_refuse(&message, error, size, what, text,
                    " is no time; it must be 0, or a number with ns, us, ms or s behind it, at most 1000s");
    return -EINVAL;
}

void pct_config_add_slack(struct pct_text *text, uint64_t slack)
{
    unsigned i = 0;
    while (slack % units[i].ns)
        i++;
    pct_text_add_u64(text, slack / units[i].ns);
    if (slack)
        pct_text_add(text, units[i].name);
}

void pct_config_settle_slack(struct pct_config *config, const struct pct_strategy *strategy)
{
    if (config->slack == PCT_SLACK_UNSAID)
        config->slack = strategy->list ? 0 : PCT_SLACK_DEFAULT;
    if (config->real_time || pct_text_same(config->strategy, "none"))
        config->slack = 0;
}

uint64_t pct_config_draw_slack(const struct pct_config *config, const struct pct_strategy *strategy)
{
    bool none = !pct_random_below(config->run.seed, PCT_STREAM_SLACK, UINT64_MAX, PCT_SLACK_INVERSE);
    return none && !strategy->list && !config->still ? 0 : config->slack;
}
