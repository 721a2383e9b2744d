/* `pct strategies`, and finding a strategy by its name, for all that read specs and tokens. */
#include <strategies/strategies.h>
#include "cli.h"
#include "parse.h"
#include <argp.h>
#include <common/text.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The strategy that a shared object exports. It stays loaded: the command lives for one task. */
static const struct pct_strategy *load(const char *path, char *error, size_t size)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        snprintf(error, size, "cannot load the strategy %s: %s", path, dlerror());
        return NULL;
    }
    const struct pct_strategy *strategy = dlsym(object, "pct_strategy");
    if (!strategy)
        snprintf(error, size, "%s does not export `const struct pct_strategy pct_strategy`", path);
    else if (strategy->abi != PCT_STRATEGY_ABI)
        snprintf(error, size, "%s was built for version %u of the strategy interface; this pct has version %u", path,
                 strategy->abi, PCT_STRATEGY_ABI);
    else
        return strategy;
    dlclose(object);
    return NULL;
}

const struct pct_strategy *pct_cli_find_strategy(const char *name, char *error, size_t size)
{
    if (strchr(name, '/'))
        return load(name, error, size);
    const struct pct_strategy *strategy = pct_strategy_find(name);
    if (strategy)
        return strategy;
    const char *names[64];
    size_t count = 0;
    while (pct_strategies[count] && count < sizeof names / sizeof *names) {
        names[count] = pct_strategies[count]->name;
        count++;
    }
    const char *closest = pct_text_closest(name, names, count);
    if (closest)
        snprintf(error, size, "unknown strategy '%s'; did you mean '%s'?", name, closest);
    else
        snprintf(error, size, "unknown strategy '%s'; `pct strategies` lists them", name);
    return NULL;
}

int pct_cli_check_strategy(const struct pct_config *config)
{
    char error[512];
    const struct pct_strategy *strategy = pct_cli_find_strategy(config->strategy, error, sizeof error);
    if (!strategy)
        return pct_cli_usage("%s", error);
    if (!strategy->start)
        return 0;
    struct pct_run run = config->run;
    run.list = config->list;
    size_t size = strategy->state_size ? strategy->state_size(&run) : 0;
    void *state = aligned_alloc(64, (size + 127) & ~(size_t)63);
    if (!state)
        return pct_cli_usage("out of memory for the state of strategy %s", strategy->name);
    memset(state, 0, size);
    const char *why = NULL;
    int failed = strategy->start(state, &run, &why);
    free(state);
    if (failed)
        return pct_cli_usage("strategy %s: %s", strategy->name, why ? why : "it refuses these parameters");
    if (why)
        pct_cli_say("strategy %s: %s", strategy->name, why);
    return 0;
}

static void print(const struct pct_strategy *strategy)
{
    printf("%s\n    %s\n", strategy->name, strategy->summary ? strategy->summary : "");
    if (strategy->source)
        printf("    source: %s\n", strategy->source);
    for (int i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++) {
        const struct pct_param *param = &strategy->params[i];
        printf("    %s=N  (default ", param->name);
        if (param->zero && !param->preset)
            printf("%s, ", param->zero);
        else
            printf("%llu, ", (unsigned long long)param->preset);
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
