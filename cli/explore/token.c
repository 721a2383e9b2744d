/* The schedule of an explored run as a token: see explorer.h. */
#include "explorer.h"
#include <cli/trace/switches.h>
#include <stdlib.h>
#include <string.h>

bool pct_explorer_token(const struct pct_trace *trace, char *token, size_t size)
{
    char error[256];
    struct pct_config config = { 0 }, schedule;
    struct pct_switches switches;
    if (pct_config_parse_token(&config, trace->header.token, pct_cli_find_strategy, error, sizeof error) ||
        pct_switches_from_trace(&switches, trace))
        return false;
    char *list = pct_switches_format(&switches, NULL);
    pct_switches_free(&switches);
    schedule = config;
    strcpy(schedule.strategy, "schedule");
    schedule.given = 0;
    schedule.has_hash = false;
    const struct pct_strategy *strategy = pct_cli_find_strategy(schedule.strategy, error, sizeof error);
    bool fits = list && strategy && strlen(list) < sizeof schedule.list;
    if (fits)
        strcpy(schedule.list, list);
    fits = fits && pct_config_fits(&schedule, strategy);
    if (fits)
        pct_config_format_token(token, size, &schedule, strategy);
    free(list);
    return fits;
}
