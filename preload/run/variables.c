/* What the variables of the environment say: see variables.h. */
#include "variables.h"
#include "tables.h"
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sites.h>
#include <preload/core/sys.h>
#include <preload/memory/learned_sites.h>
#include <preload/memory/scope.h>
#include <preload/patch/patch_plan.h>
#include <preload/time/family.h>
#include <strategies/strategies.h>
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

/* Names that keep() keeps. */
enum { KEPT = 4 };

/* The default of PCT_WATCHDOG: longer than what programs compute at a stretch between two locks, mostly. */
#define PCT_RUN_MS 10000

PCT_OF_START struct pct_variables pct_variables;

void pct_start_refuse(const char *message)
{
    pct_shim.quiet = false;
    pct_say(message);
    PCT_SYS1(SYS_exit_group, PCT_EXIT_USAGE);
    __builtin_unreachable();
}

PCT_STARTS void pct_variables_read(char **environment)
{
    /* No pointers: the loader has nothing to relocate. */
    static const struct {
        char name[24]; /* with the sign behind it */
        uint8_t length, value;
    } known[] = {
#define VARIABLE(name, value, help)                                                                                    \
    { #name "=", sizeof #name, offsetof(struct pct_variables, name) / sizeof(const char *) },
        PCT_VARIABLES(VARIABLE)
#undef VARIABLE
    };
    for (; environment && *environment; environment++) {
        if (strncmp(*environment, "PCT_", 4))
            continue;
        bool found = false;
        for (unsigned i = 0; i < sizeof known / sizeof *known && !found; i++) {
            found = !strncmp(*environment, known[i].name, known[i].length);
            if (found && (*environment)[known[i].length])
                ((const char **)&pct_variables)[known[i].value] = *environment + known[i].length;
            /* An empty value is as good as none. */
        }
        if (found)
            continue;
        pct_tables_relocate();
        char name[64], line[256];
        struct pct_text text;
        size_t length = strcspn(*environment, "=");
        pct_text_init(&text, name, sizeof name);
        for (size_t i = 0; i < length; i++)
            pct_text_add_char(&text, (*environment)[i]);
        const char *close = pct_config_unknown_variable(name);
        pct_text_init(&text, line, sizeof line);
        pct_text_add(&text, "unknown variable ");
        pct_text_add(&text, name);
        if (close && *close) {
            pct_text_add(&text, "; did you mean ");
            pct_text_add(&text, close);
            pct_text_add(&text, "?");
        }
        pct_start_refuse(line);
    }
}

/* The strategy of this name; a path is loaded into the target. */
PCT_STARTS static const struct pct_strategy *find_strategy(const char *name, char *error, size_t size)
{
    struct pct_text text;
    pct_text_init(&text, error, size);
    if (!strchr(name, '/')) {
        const struct pct_strategy *strategy = pct_strategy_find(name);
        const char *names[64];
        size_t count = 0;
        if (strategy)
            return strategy;
        for (; pct_strategies[count] && count < sizeof names / sizeof *names; count++)
            names[count] = pct_strategies[count]->name;
        const char *close = pct_text_closest(name, names, count);
        pct_text_add(&text, "unknown strategy ");
        pct_text_add(&text, name);
        if (close) {
            pct_text_add(&text, "; did you mean ");
            pct_text_add(&text, close);
            pct_text_add(&text, "?");
        }
        return NULL;
    }
    void *library = REAL(dlopen)(name, RTLD_NOW | RTLD_LOCAL);
    const struct pct_strategy *strategy = library ? REAL(dlsym)(library, "pct_strategy") : NULL;
    if (strategy && strategy->abi >= PCT_STRATEGY_ABI_LEAST && strategy->abi <= PCT_STRATEGY_ABI)
        return strategy;
    pct_text_add(&text, "cannot load the strategy ");
    if (!library) {
        const char *why = dlerror();
        pct_text_add(&text, why ? why : name);
    } else {
        pct_text_add(&text, name);
        pct_text_add(&text, strategy ? ": it was built for another version of pct (abi)"
                                     : ": it exports no struct pct_strategy pct_strategy");
    }
    return NULL;
}

static void number(uint64_t *value, const char *text, const char *name)
{
    char error[256];
    if (text && pct_config_parse_u64(value, text, 0, UINT64_MAX, name, error, sizeof error))
        pct_start_refuse(error);
}

/* A copy of a name that is needed when there is a second thread. By then redis and nginx have written over their first
 * environment. Not among our variables, of which each forked run has a copy. */
PCT_STARTS static const char *keep(unsigned number, const char *path)
{
    static char(*copies)[PATH_MAX];
    if (!path)
        return NULL;
    if (strlen(path) >= PATH_MAX)
        pct_start_refuse("PCT_ORDERED, PCT_SCOPE, PCT_SUPPRESSIONS, PCT_PLANS: one of these paths is too long");
    if (!copies && !(copies = pct_map(KEPT * sizeof *copies)))
        pct_fail_for_memory();
    if (!copies[number][0]) /* a child's run is told again */
        memcpy(copies[number], path, strlen(path) + 1);
    return copies[number];
}

typedef int parse_value(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* The value of a variable, if it is set. */
PCT_STARTS static void set(const char *text, const char *variable, parse_value *parse)
{
    char error[512] = "";
    if (text && parse(&pct_shim.config, text, variable, error, sizeof error))
        pct_start_refuse(error);
}

/* PCT_TOKEN, or PCT_STRATEGY. */
PCT_STARTS static void configure_strategy(void)
{
    struct pct_config *config = &pct_shim.config;
    char error[512] = "";
    int failed;
    if (pct_variables.PCT_TOKEN) {
        if (pct_variables.PCT_STRATEGY || pct_variables.PCT_SEED)
            pct_start_refuse("PCT_TOKEN already names strategy and seed: unset PCT_STRATEGY and PCT_SEED");
        failed = pct_config_parse_token(config, pct_variables.PCT_TOKEN, find_strategy, error, sizeof error);
    } else {
        config->end = PCT_END_DRAWN;
        const char *spec = pct_variables.PCT_STRATEGY ? pct_variables.PCT_STRATEGY : pct_strategy_mixture.name;
        config->slack = PCT_SLACK_UNSAID;
        failed = pct_config_parse_spec(config, spec, find_strategy, error, sizeof error);
    }
    if (failed)
        pct_start_refuse(error);
    pct_shim.strategy = find_strategy(config->strategy, error, sizeof error);
}

/* Which memory accesses are points. */
PCT_STARTS static void configure_memory(void)
{
    set(pct_variables.PCT_MEMORY, "PCT_MEMORY", pct_config_parse_memory);
    if (!pct_variables.PCT_TOKEN)
        pct_shim.config.strings = pct_shim.config.memory >= PCT_PATCH_GLOBALS;
    set(pct_variables.PCT_MEMORY_MODULES, "PCT_MEMORY_MODULES", pct_config_parse_modules);
    set(pct_variables.PCT_FOCUS, "PCT_FOCUS", pct_config_parse_focus);
    set(pct_variables.PCT_WATCH, "PCT_WATCH", pct_config_parse_watch);
    set(pct_variables.PCT_FUNCTIONS, "PCT_FUNCTIONS", pct_config_parse_functions);
    if (pct_variables.PCT_MEMORY_SAMPLE && strcmp(pct_variables.PCT_MEMORY_SAMPLE, "off") != 0)
        set(pct_variables.PCT_MEMORY_SAMPLE, "PCT_MEMORY_SAMPLE", pct_config_parse_sample);
    if (!pct_config_fits(&pct_shim.config, pct_shim.strategy))
        pct_start_refuse(
            "PCT_MEMORY_MODULES, PCT_FOCUS, PCT_WATCH, PCT_FUNCTIONS: they are too long for a token of this strategy");
    pct_ordered_directory = keep(0, pct_variables.PCT_ORDERED);
    pct_scope_file = keep(1, pct_variables.PCT_SCOPE);
    pct_scope_suppressions = keep(2, pct_variables.PCT_SUPPRESSIONS);
    pct_patch_plans = keep(3, pct_variables.PCT_PLANS);
}

/* What decides no schedule. */
PCT_STARTS static void configure_machine(void)
{
    uint64_t cpu, run_ms = PCT_RUN_MS;
    if (pct_variables.PCT_CPU && strcmp(pct_variables.PCT_CPU, "any"))
        number(&cpu, pct_variables.PCT_CPU, "PCT_CPU");
    pct_shim.watchdog = !pct_variables.PCT_WATCHDOG || strcmp(pct_variables.PCT_WATCHDOG, "off");
    if (pct_shim.watchdog)
        number(&run_ms, pct_variables.PCT_WATCHDOG, "PCT_WATCHDOG");
    if (run_ms > UINT32_MAX)
        pct_start_refuse("PCT_WATCHDOG must be at most 4294967295");
    pct_shim.run_ns = run_ms * 1000000;
    if (pct_variables.PCT_SITES && !pct_sites_parse(pct_variables.PCT_SITES))
        pct_start_refuse(
            "PCT_SITES must be on, calls, family, or up to 64 rising numbers of steps with commas between them");
}

/* The configuration, but for the seed. */
__attribute__((noinline)) static void configure(void)
{
    struct pct_config *config = &pct_shim.config;
    const uint64_t seed = config->run.seed;
    configure_strategy();
    if (!pct_variables.PCT_TOKEN)
        config->run.seed = seed;
    number(&config->max_steps, pct_variables.PCT_MAX_STEPS, "PCT_MAX_STEPS");
    number(&config->epoch, pct_variables.PCT_EPOCH, "PCT_EPOCH");
    if (pct_variables.PCT_TIME && !strcmp(pct_variables.PCT_TIME, "real"))
        config->real_time = true;
    else if (pct_variables.PCT_TIME && strcmp(pct_variables.PCT_TIME, "virtual"))
        pct_start_refuse("PCT_TIME must be virtual or real");
    set(pct_variables.PCT_MEMORY_POINTS, "PCT_MEMORY_POINTS", pct_config_parse_points);
    set(pct_variables.PCT_RACES, "PCT_RACES", pct_config_parse_races);
    pct_config_settle(config);
    if (!pct_variables.PCT_TOKEN)
        set(pct_variables.PCT_SLACK, "PCT_SLACK", pct_config_parse_slack);
    pct_config_settle_slack(config, pct_shim.strategy);
    if (!pct_variables.PCT_TOKEN)
        set(pct_variables.PCT_SPURIOUS, "PCT_SPURIOUS", pct_config_parse_spurious);
    configure_memory();
    configure_machine();
    config->has_hash = false;
}

/* Whether any variable is set whose value may be wrong, or is looked at, but for the two that most runs have. */
PCT_STARTS static bool is_any_set(void)
{
    struct pct_variables others = pct_variables;
    const char *const *values = (const char *const *)&others;
    others.PCT_LOG = others.PCT_SEED = NULL;
    for (unsigned i = 0; i < sizeof others / sizeof *values; i++)
        if (values[i])
            return true;
    return false;
}

PCT_STARTS bool pct_variables_configure(void)
{
    const char *log = pct_variables.PCT_LOG;
    if (log && !strcmp(log, "quiet"))
        pct_shim.quiet = true;
    else if (log && strcmp(log, "normal"))
        pct_start_refuse("PCT_LOG must be normal or quiet");
    number(&pct_shim.config.run.seed, pct_variables.PCT_SEED, "PCT_SEED");
    if (!is_any_set())
        return false;
    pct_tables_relocate();
    configure();
    return true;
}

void pct_variables_configure_defaults(void)
{
    if (!pct_shim.strategy)
        configure();
}

PCT_STARTS void pct_variables_draw(void)
{
    struct pct_config *config = &pct_shim.config;
    if (!pct_variables.PCT_TOKEN && !pct_variables.PCT_SEED)
        PCT_SYS3(SYS_getrandom, &config->run.seed, 4, 0); /* short enough to type */
    if (!pct_variables.PCT_TOKEN) {
        if (pct_shim.strategy == &pct_strategy_mixture)
            pct_config_become(config, &pct_shim.strategy, pct_mixture_member(config->run.seed));
        pct_config_draw_k(config, pct_shim.strategy);
        config->slack = pct_config_draw_slack(config, pct_shim.strategy);
    }
    if (!config->epoch)
        config->epoch = pct_family_epoch();
    if (!config->epoch) {
        struct timespec now = { 0 };
        if (PCT_SYS2(SYS_clock_gettime, CLOCK_REALTIME, &now))
            REAL(clock_gettime)(CLOCK_REALTIME, &now);
        config->epoch = (uint64_t)now.tv_sec;
    }
}
