/* Finding a strategy by its name, for all that read specs and tokens. */
#include "cli.h"
#include "list.h"
#include "trust.h"
#include <common/text.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strategies/strategies.h>

/* The strategy that a shared object exports. It stays loaded: the command lives for one task. */
static const struct pct_strategy *load(const char *path, char *error, size_t size)
{
    if (!pct_trust_file(path, error, size))
        return NULL;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        snprintf(error, size, "cannot load the strategy %s: %s", path, dlerror());
        return NULL;
    }
    const struct pct_strategy *strategy = dlsym(object, "pct_strategy");
    if (!strategy)
        snprintf(error, size, "%s does not export `const struct pct_strategy pct_strategy`", path);
    else if (strategy->abi < PCT_STRATEGY_ABI_LEAST || strategy->abi > PCT_STRATEGY_ABI)
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
    char *list = pct_list_text(config->list);
    if (!list)
        return pct_cli_usage("strategy %s: its list is packed, and cannot be unpacked", strategy->name);
    run.list = list;
    size_t size = strategy->state_size ? strategy->state_size(&run) : 0;
    /* Zeros of the kernel's, aligned by hand: some strategies could have more state than they will ever touch. */
    char *memory = calloc(1, size + 64);
    const char *why = NULL;
    int failed = memory ? strategy->start(memory + (-(uintptr_t)memory & 63), &run, &why) : -ENOMEM;
    free(memory);
    free(list);
    if (failed == -ENOMEM)
        return pct_cli_no_memory(" for the state of the strategy");
    if (failed)
        return pct_cli_usage("strategy %s: %s", strategy->name, why ? why : "it refuses these parameters");
    if (why)
        pct_cli_say("strategy %s: %s", strategy->name, why);
    return 0;
}

int pct_cli_strategy_parameter(const struct pct_strategy *strategy, const char *name)
{
    for (int i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++)
        if (!strcmp(strategy->params[i].name, name))
            return i;
    return -1;
}
