/* `pct strategies`: lists them, or describes one. */
#include <strategies/strategies.h>
#include <cli/base/cli.h>
#include "parse.h"
#include <argp.h>

static void print(FILE *out, const struct pct_strategy *strategy)
{
    fprintf(out, "%s\n    %s\n", strategy->name, strategy->summary ? strategy->summary : "");
    if (strategy->source)
        fprintf(out, "    source: %s\n", strategy->source);
    for (int i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++) {
        const struct pct_param *param = &strategy->params[i];
        fprintf(out, "    %s=N  (default ", param->name);
        if (param->zero && !param->default_value)
            fprintf(out, "%s, ", param->zero);
        else
            fprintf(out, "%llu, ", (unsigned long long)param->default_value);
        uint64_t min = param->zero && !param->min ? 1 : param->min;
        if (param->max == UINT64_MAX)
            fprintf(out, "at least %llu", (unsigned long long)min);
        else
            fprintf(out, "%llu to %llu", (unsigned long long)min, (unsigned long long)param->max);
        if (param->zero)
            fprintf(out, ", or %s", param->zero);
        fprintf(out, "%s)  %s\n", param->quiet ? "; optional" : "", param->help ? param->help : "");
    }
    if (strategy->list)
        fprintf(out, "    %s=LIST  (default none)  %s\n", strategy->list,
                strategy->list_help ? strategy->list_help : "");
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
    char error[512];
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &name);
    const struct pct_strategy *strategy = name ? pct_cli_find_strategy(name, error, sizeof error) : NULL;
    if (name && !strategy)
        return pct_cli_usage("%s", error);
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    for (size_t i = 0; !name && pct_strategies[i]; i++)
        print(out, pct_strategies[i]);
    if (name)
        print(out, strategy);
    pct_cli_narrow_end(&narrow);
    return 0;
}
