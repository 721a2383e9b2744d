/* `pct strategies`: lists them, or describes one. */
#include <strategies/strategies.h>
#include <cli/base/cli.h>
#include "parse.h"
#include <argp.h>

static void print(const struct pct_strategy *strategy)
{
    printf("%s\n    %s\n", strategy->name, strategy->summary ? strategy->summary : "");
    if (strategy->source)
        printf("    source: %s\n", strategy->source);
    for (int i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++) {
        const struct pct_param *param = &strategy->params[i];
        printf("    %s=N  (default ", param->name);
        if (param->zero && !param->default_value)
            printf("%s, ", param->zero);
        else
            printf("%llu, ", (unsigned long long)param->default_value);
        uint64_t min = param->zero && !param->min ? 1 : param->min;
        if (param->max == UINT64_MAX)
            printf("at least %llu", (unsigned long long)min);
        else
            printf("%llu to %llu", (unsigned long long)min, (unsigned long long)param->max);
        if (param->zero)
            printf(", or %s", param->zero);
        printf("%s)  %s\n", param->quiet ? "; optional" : "", param->help ? param->help : "");
    }
    if (strategy->list)
        printf("    %s=LIST  (default none)  %s\n", strategy->list, strategy->list_help ? strategy->list_help : "");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const char **name = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (*name)
        argp_error(state, "one name at most");
    *name = argument;
    return 0;
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "[NAME|./FILE.so]",
    .doc = "List the strategies with their parameters, or describe one of them, also one of your own.\v"
           "A strategy is chosen by `pct run -S NAME,PARAM=VALUE...`.",
};

int pct_cmd_strategies(int argc, char **argv)
{
    const char *name = NULL;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &name);
    if (!name) {
        for (size_t i = 0; pct_strategies[i]; i++)
            print(pct_strategies[i]);
        return 0;
    }
    char error[512];
    const struct pct_strategy *strategy = pct_cli_find_strategy(name, error, sizeof error);
    if (!strategy)
        return pct_cli_usage("%s", error);
    print(strategy);
    return 0;
}
