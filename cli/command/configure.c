/* What decides the schedules: see configure.h. */
#include "configure.h"
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <strategies/strategies.h>
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <cli/binary/libraries.h>
#include <cli/binary/locate.h>
#include <cli/binary/scope.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
    KEY_TIME = 4000,
    KEY_MAX_STEPS,
    KEY_EPOCH,
    KEY_MEMORY_POINTS,
    KEY_RACES,
    KEY_MEMORY,
    KEY_MODULES,
    KEY_EXEC,
    KEY_FOCUS,
    KEY_WATCH,
    KEY_FUNCTIONS,
    KEY_SAMPLE,
    KEY_SLACK,
    KEY_SPURIOUS
};

static const struct argp_option options[] = {
    { NULL, 0, NULL, 0, "Schedules", 2 },
    { "seed", 's', "SEED", 0, "the seed of the first run (default: drawn at random; of explore and script 0)", 2 },
    { "strategy", 'S', "SPEC", 0,
      "NAME[,PARAM=VALUE...]; see `pct strategies` (default: mixture; with --depth or --confidence: pct)", 2 },
    { "depth", 'd', "N", 0, "the strategy's parameter depth", 2 },
    { "points", 'k', "N", 0, "its parameter k (default: learned from runs of the command)", 2 },
    { "time", KEY_TIME, "KIND", 0, "virtual or real: what sleeps and timeouts take (default: virtual)", 2 },
    { "slack", KEY_SLACK, "TIME", 0,
      "in half of the runs, of explore in all, a sleep or time-out that ends within this virtual time may do so while "
      "other threads could run, as on a machine under load: 20ms, 1s, or 0, never (default: 20ms)",
      2 },
    { "spurious", KEY_SPURIOUS, NULL, 0,
      "one wait for a condition variable in four ends though nobody has signalled, as POSIX and C++ allow (default: "
      "none)",
      2 },
    { "max-steps", KEY_MAX_STEPS, "N", 0,
      "end a run as a livelock after N steps (default: 0, no bound; of explore 20000)", 2 },
    { "memory-points", KEY_MEMORY_POINTS, "WHICH", 0,
      "which memory accesses of a program built with pct-cc are scheduling points: shared, all, off, or learned: those "
      "that no earlier run has shown to be ordered (default: shared; of explore and script all)",
      2 },
    { "memory", KEY_MEMORY, "LEVEL", 0,
      "patch the program in memory, so that its memory accesses are scheduling points: atomics, globals, all, stacks "
      "or off (default: off; atomics of a program with locks of its own)",
      2 },
    { "memory-modules", KEY_MODULES, "NAMES", 0,
      "libraries that are patched, too: libz for libz.so.1, several with commas between them, or all", 2 },
    { "focus", KEY_FOCUS, "PATTERN,...", 0,
      "only memory accesses by these functions or source files, or to these variables, are scheduling points: names "
      "with * for anything, or addresses, MODULE+0xFROM-0xTO (default: all that count)",
      2 },
    { "watch", KEY_WATCH, "VARIABLE,...", 0,
      "every access to these variables is a scheduling point, by watchpoints of the processor, in a program that was "
      "neither "
      "rebuilt nor patched: VARIABLE, VARIABLE+OFFSET:BYTES or +0xADDRESS:BYTES; up to four of eight bytes",
      2 },
    { "functions", KEY_FUNCTIONS, "NAME,...", 0,
      "where these functions begin and return are scheduling points, too: their code is patched in memory; names with "
      "* for anything; FILE:LINE: where code of this line begins",
      2 },
    { "memory-sample", KEY_SAMPLE, "N", 0,
      "of the places in the code that access memory, only N percent are scheduling points in a run, drawn from "
      "its seed; with --focus: of the others. off: all (default: all, unless they are more than 100,000 accesses)",
      2 },
    { "races", KEY_RACES, "HOW", 0, "data races in a program built with pct-cc: off, report or fail (default: off)",
      2 },
    { "epoch", KEY_EPOCH, "SECONDS", 0, "the time of day, since 1970, at which virtual time begins (default: now)", 2 },
    { NULL, 0, NULL, 0, "The target", 8 },
    { "exec", KEY_EXEC, NULL, 0,
      "start each run by exec (default: load the target once, and fork it for each run, where that is the same)", 8 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_run_options *w = state->input;
    const struct pct_setting settings[] = {
        { 's', .text = &w->seed },
        { 'S', .text = &w->strategy },
        { 'd', .text = &w->depth },
        { 'k', .text = &w->points },
        { KEY_TIME, .text = &w->time },
        { KEY_MAX_STEPS, .text = &w->max_steps },
        { KEY_MEMORY_POINTS, .text = &w->memory_points },
        { KEY_MEMORY, .text = &w->memory },
        { KEY_MODULES, .text = &w->modules },
        { KEY_FOCUS, .text = &w->focus },
        { KEY_WATCH, .text = &w->watch },
        { KEY_FUNCTIONS, .text = &w->functions },
        { KEY_SAMPLE, .text = &w->sample },
        { KEY_SLACK, .text = &w->slack },
        { KEY_SPURIOUS, .on = &w->spurious },
        { KEY_RACES, .text = &w->races },
        { KEY_EPOCH, .text = &w->epoch },
        { KEY_EXEC, .on = &w->exec },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp pct_configure_argp = { .options = options, .parser = parse };

/* An option wins over the variable. */
const char *pct_configure_choose(const char *option, const char *variable)
{
    const char *value = option ? option : getenv(variable);
    return value && *value ? value : NULL;
}

void pct_configure_print(FILE *out, const struct pct_run_options *s)
{
    pct_options_print_word(out, "--time", s->time);
    pct_options_print_word(out, "--max-steps", s->max_steps);
    pct_options_print_word(out, "--memory-points", s->memory_points);
    pct_options_print_word(out, "--memory", s->memory);
    pct_options_print_word(out, "--memory-modules", s->modules);
    pct_options_print_word(out, "--focus", s->focus);
    pct_options_print_word(out, "--watch", s->watch);
    pct_options_print_word(out, "--functions", s->functions);
    pct_options_print_word(out, "--epoch", s->epoch);
    pct_options_print_word(out, "--slack", s->slack);
    if (s->exec)
        fputs("--exec ", out);
}

int pct_configure_shard(const char *text, const struct pct_campaign *c, struct pct_campaign_plan *plan)
{
    plan->shard = plan->of = 1;
    if (!text)
        return 0;
    char *end = NULL;
    errno = 0;
    unsigned long long shard = strtoull(text, &end, 10), of = *end == '/' ? strtoull(end + 1, &end, 10) : 0;
    if (errno || *end || strchr(text, '-') || !shard || shard > of || of > INT32_MAX)
        return pct_cli_usage(
            "--shard=%s: give the number of the shard and how many there are, such as 3/64 (from 1/64 to "
            "64/64)",
            text);
    if (plan->drawn || !plan->has_epoch)
        return pct_cli_usage("--shard: all shards need the same --seed and --epoch, such as --seed 1 --epoch %llu",
                             (unsigned long long)c->config.epoch);
    plan->shard = shard;
    plan->of = of;
    return 0;
}

/* --depth, for a strategy that knows of none: who asks for it wants what goes with it. */
static int check_depth(const struct pct_campaign *c, const char *spec)
{
    struct pct_config config = { 0 };
    char error[512];
    if (!spec || pct_config_parse_spec(&config, spec, pct_cli_find_strategy, error, sizeof error))
        return 0; /* that is said elsewhere */
    const struct pct_strategy *strategy = pct_cli_find_strategy(config.strategy, error, sizeof error);
    if (!strategy || pct_cli_strategy_parameter(strategy, "depth") >= 0)
        return 0;
    if (c->confidence > 0)
        return pct_cli_usage("--confidence: the strategy %s has no guarantee, and no depth; use --strategy pct",
                             strategy->name);
    return pct_cli_usage(
        "--depth: the strategy %s has no depth, and no guarantee; --strategy pct has both (`pct strategies` lists "
        "the parameters of each)",
        strategy->name);
}

static int set_strategy(struct pct_campaign *c, const struct pct_run_options *w)
{
    const char *spec = pct_configure_choose(w->strategy, "PCT_STRATEGY");
    char whole[PCT_TOKEN_MAX], error[512];
    if (w->depth && check_depth(c, spec))
        return PCT_EXIT_USAGE;
    if (!spec) /* who names a depth, or wants to be sure, wants what has a bound */
        spec = w->depth || c->confidence > 0 ? pct_strategy_pct.name : pct_strategy_mixture.name;
    int length = snprintf(whole, sizeof whole, "%s%s%s%s%s", spec, w->depth ? ",depth=" : "", w->depth ? w->depth : "",
                          w->points ? ",k=" : "", w->points ? w->points : "");
    if ((size_t)length >= sizeof whole)
        return pct_cli_usage("the strategy is too long");
    c->config.end = PCT_END_DRAWN;
    c->config.slack = PCT_SLACK_UNSAID;
    if (pct_config_parse_spec(&c->config, whole, pct_cli_find_strategy, error, sizeof error))
        return pct_cli_usage("%s", error);
    c->strategy = pct_cli_find_strategy(c->config.strategy, error, sizeof error);
    int failed = pct_cli_check_strategy(&c->config);
    if (failed)
        return failed;
    c->k = pct_cli_strategy_parameter(c->strategy, "k");
    c->depth = pct_cli_strategy_parameter(c->strategy, "depth");
    /* What a strategy of the user's own calls k may be anything. */
    c->learns = c->k >= 0 && !strchr(c->config.strategy, '/') && !(c->config.given >> c->k & 1);
    return 0;
}

/* Values that options or variables give, until one is wrong. */
struct values {
    struct pct_config *config;
    char error[256];
};

typedef int parse_value(struct pct_config *config, const char *text, const char *what, char *error, size_t size);

/* Set what this option says or, where it is not given, this variable. Returns the text, NULL: neither. */
static const char *set(struct values *v, const char *given, const char *option, const char *variable,
                       parse_value *parse)
{
    const char *text = pct_configure_choose(given, variable);
    if (text && !v->error[0])
        parse(v->config, text, given ? option : variable, v->error, sizeof v->error);
    return text;
}

/* The same for a number, up to this one. */
static const char *set_number(struct values *v, uint64_t *number, uint64_t most, const char *given, const char *option,
                              const char *variable)
{
    const char *text = pct_configure_choose(given, variable);
    if (text && !v->error[0])
        pct_config_parse_u64(number, text, 0, most, given ? option : variable, v->error, sizeof v->error);
    return text;
}

static void set_numbers(struct values *v, const struct pct_run_options *w, bool *drawn)
{
    struct pct_config *config = v->config;
    uint32_t number = 0;
    *drawn = !set_number(v, &config->run.seed, UINT64_MAX, w->seed, "--seed", "PCT_SEED");
    if (*drawn) {
        /* 32 bits: short enough to type. */
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            number = (uint32_t)time(NULL);
        config->run.seed = number;
    }
    set_number(v, &config->max_steps, UINT64_MAX, w->max_steps, "--max-steps", "PCT_MAX_STEPS");
    set_number(v, &config->epoch, UINT64_C(1) << 40, w->epoch, "--epoch", "PCT_EPOCH");
    /* All runs, and their replays, live at the same time of day. */
    if (!config->epoch)
        config->epoch = (uint64_t)time(NULL);
}

static int set_time(struct pct_campaign *c, struct values *v, const struct pct_run_options *w)
{
    struct pct_config *config = v->config;
    const char *text = pct_configure_choose(w->time, "PCT_TIME");
    if (text && strcmp(text, "real") && strcmp(text, "virtual"))
        return pct_cli_usage("%s: '%s' is neither virtual nor real", w->time ? "--time" : "PCT_TIME", text);
    if (text)
        config->real_time = !strcmp(text, "real");
    set(v, w->slack, "--slack", "PCT_SLACK", pct_config_parse_slack);
    if (w->slack && config->slack && config->real_time && !v->error[0])
        return pct_cli_usage("--slack needs virtual time (--time=virtual)");
    c->may_take_slack = config->slack == PCT_SLACK_UNSAID;
    set(v, w->spurious ? "on" : NULL, "PCT_SPURIOUS", "PCT_SPURIOUS", pct_config_parse_spurious);
    pct_config_settle_slack(config, c->strategy);
    return 0;
}

/* Which memory accesses are points. */
static int set_memory(struct pct_campaign *c, struct values *v, const struct pct_run_options *w)
{
    struct pct_config *config = v->config;
    set(v, w->memory_points, "--memory-points", "PCT_MEMORY_POINTS", pct_config_parse_points);
    set(v, w->races, "--races", "PCT_RACES", pct_config_parse_races);
    bool said = set(v, w->memory, "--memory", "PCT_MEMORY", pct_config_parse_memory);
    c->may_patch = !said && strcmp(config->strategy, "none") != 0;
    set(v, w->modules, "--memory-modules", "PCT_MEMORY_MODULES", pct_config_parse_modules);
    set(v, w->focus, "--focus", "PCT_FOCUS", pct_config_parse_focus);
    const char *watch = set(v, w->watch, "--watch", "PCT_WATCH", pct_config_parse_watch);
    if (config->watch[0] && config->memory != PCT_PATCH_OFF && !v->error[0])
        return pct_cli_usage(
            "--watch is for programs that are not patched; of what --memory patches, --focus=%s makes these "
            "accesses scheduling points",
            watch);
    if (config->watch[0] && !strcmp(config->strategy, "none") && !v->error[0])
        return pct_cli_usage("--watch: strategy none schedules nothing; name another one");
    set(v, w->functions, "--functions", "PCT_FUNCTIONS", pct_config_parse_functions);
    return 0;
}

/* The sample of accesses that are points, and what runs may choose for themselves where nobody has said anything. */
static void set_choices(struct pct_campaign *c, struct values *v, const struct pct_run_options *w)
{
    struct pct_config *config = v->config;
    const char *sample = pct_configure_choose(w->sample, "PCT_MEMORY_SAMPLE");
    bool unsaid = !sample && !config->focus[0] && !config->watch[0] &&
                  !pct_configure_choose(w->memory_points, "PCT_MEMORY_POINTS");
    c->may_sample =
        unsaid && config->memory_points == PCT_POINTS_SHARED && c->learns && strcmp(config->strategy, "none") != 0;
    c->other.may =
        unsaid && c->strategy == &pct_strategy_mixture && config->races == PCT_RACES_OFF && !(c->confidence > 0);
    c->systematic.may = c->other.may && !pct_configure_choose(w->strategy, "PCT_STRATEGY");
    if (sample && strcmp(sample, "off") != 0)
        set(v, w->sample, "--memory-sample", "PCT_MEMORY_SAMPLE", pct_config_parse_sample);
}

static int set_values(struct pct_campaign *c, const struct pct_run_options *w, bool *drawn)
{
    struct pct_config *config = &c->config;
    struct values v = { .config = config };
    set_numbers(&v, w, drawn);
    int failed = set_time(c, &v, w);
    failed = failed ? failed : set_memory(c, &v, w);
    if (failed)
        return failed;
    set_choices(c, &v, w);
    if (v.error[0])
        return pct_cli_usage("%s", v.error);
    config->strings = config->memory >= PCT_PATCH_GLOBALS;
    if (!pct_config_fits(config, c->strategy))
        return pct_cli_usage(
            "--memory-modules, --focus, --watch, --functions: the list is too long for a token of this "
            "strategy");
    if (w->modules && config->memory == PCT_PATCH_OFF)
        return pct_cli_usage("--memory-modules says which libraries are patched, but nothing is: add --memory=globals");
    return 0;
}

void pct_configure_memory(struct pct_campaign *c, bool quiet)
{
    char program[PATH_MAX];
    struct pct_config with = c->config;
    with.memory = PCT_PATCH_ATOMICS;
    if (c->config.memory != PCT_PATCH_OFF || pct_locate_command(c->launch.command[0], program, sizeof program) ||
        !pct_elf_locks_inline(program) || pct_elf_tells(program))
        return;
    c->locks_inline = !c->may_patch || c->config.watch[0] || !pct_config_fits(&with, c->strategy);
    if (c->locks_inline)
        return;
    c->locks_patched = true;
    c->config.memory = PCT_PATCH_ATOMICS;
    c->config.rounds = c->config.still;
    pct_scope_want(&c->launch, &c->config);
    if (!quiet)
        pct_cli_say("%s implements its own locks by atomic instructions: --memory=atomics makes them scheduling points "
                    "(--memory=off does not)",
                    c->launch.command[0]);
}

int pct_configure(struct pct_campaign *c, const struct pct_run_options *given, bool *drawn)
{
    int failed = set_strategy(c, given);
    c->launch.exec = given->exec;
    if (!failed)
        failed = set_values(c, given, drawn);
    pct_config_settle(&c->config);
    pct_scope_want(&c->launch, &c->config);
    return failed;
}

static int locks_streams(void *unused, const char *path)
{
    (void)unused;
    return pct_elf_locks_streams(path);
}

/* Whether the program, or a library of its, keeps the locks of streams. */
static bool keeps_streams(const char *command)
{
    char program[PATH_MAX];
    return command && !pct_locate_command(command, program, sizeof program) &&
           (pct_elf_locks_streams(program) || pct_libraries_each(program, locks_streams, NULL));
}

int pct_configure_own(struct pct_campaign *c, struct pct_run_options *given, const char *command)
{
    bool drawn;
    if (given->time)
        return pct_cli_usage("--time: the virtual time of pct %s passes only when no thread can go on; leave it out",
                             command);
    if (c->launch.drive.ready || c->launch.drive.client)
        return pct_cli_usage("pct %s is for programs that end by themselves: a client is not under control", command);
    given->strategy = command;
    given->time = "virtual"; /* whatever PCT_TIME says: in real time deadlines have no slack */
    if (!given->seed)
        given->seed = "0";
    if (!given->memory_points)
        given->memory_points = "all"; /* and not what PCT_MEMORY_POINTS says */
    int failed = pct_configure(c, given, &drawn);
    c->config.still = true;
    c->config.rounds = c->config.memory != PCT_PATCH_OFF;
    c->config.calls = c->config.memory >= PCT_PATCH_GLOBALS;
    c->config.real_time = false;
    c->config.end = PCT_END_FREE;
    c->config.statics = true;
    c->config.streams = keeps_streams(c->launch.command[0]);
    return failed;
}
