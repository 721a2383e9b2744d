/* Options of `pct run` and `pct campaign`: see runs_options.h. */
#include "runs_options.h"
#include "each_test.h"
#include "explore_first.h"
#include <cli/base/cli.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <string.h>

/* --budget, unless it or a number of runs is given. */
#define BUDGET_SECONDS 3600

enum { KEY_CONFIDENCE = 5200, KEY_BUDGET, KEY_EXPLORE, KEY_EACH_TEST, KEY_ENGINE };

static const struct argp_option options[] = {
    { "confidence", KEY_CONFIDENCE, "C", 0,
      "instead of a number of runs: as many as find a bug of the depth of --depth with probability C, such as 0.99; "
      "the strategy is then pct",
      1 },
    { "budget", KEY_BUDGET, "SECONDS", 0,
      "do not begin with --confidence, or end it, if that would take longer than this (default: 3600, or the runs that "
      "-n allows)",
      1 },
    { "explore", KEY_EXPLORE, "SECONDS", OPTION_ARG_OPTIONAL,
      "first pct explore, for at most so long (default: 10): if that comes to its end, no schedule is drawn; 0: never "
      "(without this option: behind the first 16 runs, with a tenth as many as there are to be)",
      1 },
    { PCT_ENGINE_OPTION, KEY_ENGINE, "NAME", 0, PCT_ENGINE_HELP, 8 },
    { PCT_EACH_TEST_OPTION, KEY_EACH_TEST, "KIND", OPTION_ARG_OPTIONAL, PCT_EACH_TEST_HELP, 8 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_runs_options *w = state->input;
    const struct pct_setting settings[] = {
        { KEY_BUDGET, .seconds = &w->campaign->budget },
        { KEY_EACH_TEST, .text = &w->framework, .on = &w->each_test },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case KEY_ENGINE:
        pct_options_engine(state, &w->campaign->launch, argument);
        return 0;
    case KEY_CONFIDENCE:
        w->campaign->confidence = pct_options_confidence(state, argument);
        return 0;
    case KEY_EXPLORE:
        w->explore_said = true;
        w->explore = !argument                ? PCT_EXPLORE_FIRST_SECONDS
                     : !strcmp(argument, "0") ? 0
                                              : pct_options_seconds(state, "--explore", argument);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp pct_runs_options_argp = { .options = options, .parser = parse };

int pct_runs_options_confidence(struct pct_campaign *c, bool counted, uint64_t runs, uint64_t *most)
{
    char reason[256];
    *most = 0;
    if (!(c->confidence > 0))
        return c->budget > 0 ? pct_cli_usage("--budget is for --confidence; -n says how many runs otherwise") : 0;
    const char *doubt = pct_guarantee_report_doubt(c, reason, sizeof reason);
    if (doubt)
        return pct_cli_usage("--confidence: %s", doubt);
    if (!counted && !(c->budget > 0))
        c->budget = BUDGET_SECONDS;
    *most = counted ? runs : INT64_MAX / 2;
    return 0;
}
