/* `pct script`: its options, and the configuration that they make. cli/script/ does the rest. */
#include <cli/base/cli.h>
#include "configure.h"
#include "each_test.h"
#include <cli/binary/functions_check.h>
#include <cli/binary/memory_advice.h>
#include <cli/binary/locate.h>
#include <cli/process/environment.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/script/script.h>
#include "parse.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEY_ALL = 2700,
    KEY_FIRST,
    KEY_TEST,
    KEY_OF_TEST,
    KEY_EACH_TEST,
    KEY_OK_UNFIT,
    KEY_OUTCOME,
    KEY_BOUND,
    KEY_BEGUN
};
enum { SCRIPT_MOST = 1 << 20, LUA_COMPILED = '\033' /* with which luac's files begin */ };

static const struct argp_option options[] = {
    { NULL, 0, NULL, 0, "Scripts", 1 },
    { "all", KEY_ALL, "ORDER", OPTION_ARG_OPTIONAL,
      "one run for each way that the choices of the script can go: by depth, first other ways of the last choices (the "
      "default); by breadth, of the first ones; random, drawn from --seed, none twice; or dpor, by depth, but one of "
      "those "
      "orders of an interleave that differ only in steps that commute",
      1 },
    { "bound", KEY_BOUND, "N", 0,
      "with --all: choices of threads leave at most N times one that could go on (default: no bound)", 1 },
    { "first", KEY_FIRST, NULL, 0, "with --all: stop at the first run that fails", 1 },
    { "runs", 'n', "N", 0, "with --all: stop after this many runs (default: no bound)", 1 },
    { "jobs", 'j', "N", 0, "with --all: this many runs at a time (default: 1)", 1 },
    { "ok-unfit", KEY_OK_UNFIT, NULL, 0,
      "that the threads cannot do what the script says is no failure: a repair can make it impossible", 1 },
    { "test", KEY_TEST, "NAME", OPTION_ARG_OPTIONAL,
      "no FILE.lua: the script is in the program, by pct_script() of <pct/script.h>, or by PCT_TEST() for this test",
      1 },
    { "of-test", KEY_OF_TEST, "NAME", OPTION_HIDDEN, NULL, 1 }, /* for --each-test */
    { PCT_EACH_TEST_BEGUN, KEY_BEGUN, "FD", OPTION_HIDDEN, NULL, 1 },
    { &PCT_SCRIPT_OUTCOME_OPTION[2], KEY_OUTCOME, NULL, OPTION_HIDDEN, NULL, 1 }, /* for `pct add` and `pct check` */
    { PCT_EACH_TEST_OPTION, KEY_EACH_TEST, "KIND", OPTION_ARG_OPTIONAL, PCT_EACH_TEST_HELP "; the scripts are theirs",
      1 },
    { NULL, 0, NULL, 0, "Output", 3 },
    { "trace", 't', "FILE", 0, "keep the trace of the run; with --all, of the first that fails", 3 },
    { "quiet", 'q', NULL, 0, "print nothing of a run that ends as the script says and passes", 3 },
    { 0 },
};

struct arguments {
    struct pct_campaign *campaign;
    struct pct_script_runs *runs;
    struct pct_run_options schedules;
    const char *test;      /* whose script is in the program; NULL: it is in a file */
    bool each_test;        /* all of them */
    bool jobs;             /* --jobs is given */
    bool one_of_all;       /* for --each-test: a test may have none */
    int begun;             /* for --each-test: see there */
    const char *framework; /* what --each-test says */
};

struct script {
    struct arguments arguments;
    char *text, *functions;
    struct pct_script_words words;
    struct pct_script_places places;
};

static enum pct_ways_order order_of(struct argp_state *state, const char *argument, bool *dpor)
{
    *dpor = argument && !strcmp(argument, "dpor");
    if (!argument || *dpor || !strcmp(argument, "depth"))
        return PCT_WAYS_DEPTH;
    if (!strcmp(argument, "breadth"))
        return PCT_WAYS_BREADTH;
    if (strcmp(argument, "random") != 0)
        argp_error(state, "--all goes by depth, by breadth, random or by dpor, not by '%s'", argument);
    return PCT_WAYS_RANDOM;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &w->campaign->launch, &w->schedules, w->campaign->ok, NULL } },
        { KEY_FIRST, .on = &w->runs->first },
        { 'j', .count = &w->campaign->jobs, .least = 1, .most = 1024, .on = &w->jobs },
        { 'n', .number = &w->runs->limit, .least = 1, .most = UINT64_MAX / 2 },
        { KEY_OK_UNFIT, .on = &w->runs->ok_unfit },
        { KEY_OUTCOME, .on = &w->runs->outcome },
        { 't', .text = &w->runs->keep },
        { 'q', .on = &w->runs->quiet },
        { KEY_EACH_TEST, .text = &w->framework, .on = &w->each_test },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case KEY_ALL:
        w->runs->all = true;
        w->runs->order = order_of(state, argument, &w->runs->dpor);
        return 0;
    case KEY_BOUND:
        w->runs->bound = (uint32_t)pct_options_number(state, "--bound", argument, 0, 1000) + 1;
        return 0;
    case KEY_OF_TEST:
        w->one_of_all = true;
        __attribute__((fallthrough));
    case KEY_TEST:
        w->test = argument ? argument : "";
        return 0;
    case KEY_BEGUN:
        w->begun = pct_each_test_take(argument);
        return 0;
    case ARGP_KEY_ARG:
        if (!w->runs->name && !w->test && !w->each_test) {
            w->runs->name = argument;
            return 0;
        }
        pct_options_take_command(state, &w->campaign->launch);
        return 0;
    case ARGP_KEY_END:
        if (!w->campaign->launch.command)
            argp_error(state, "no %s is given: pct script FILE.lua -- COMMAND [ARGUMENT...]",
                       w->runs->name || w->test || w->each_test ? "command" : "script");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = { PCT_CONFIGURE_CHILDREN, { 0 } };

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE.lua [--] COMMAND [ARGUMENT...]\n--test[=NAME] [--] COMMAND [ARGUMENT...]",
    .doc = "Run a program under the schedule that a script in Lua says, or under each that its choices allow.\v"
           "The exit status is 0 if the script ended and the program passed; that of the program if it failed (with "
           "--all: 1); 116 if an assertion of the script failed, 117 if the threads did not do what it says; 2 if the "
           "script is wrong.",
    .children = children,
};

/* What makes no sense here: the script says who goes on. */
static int refuse(const struct arguments *w)
{
    const struct pct_run_options *s = &w->schedules;
    if (s->strategy || s->depth || s->points || s->slack)
        return pct_cli_usage("pct script has its schedule from the script: it takes no --strategy, --depth, --points "
                             "and --slack");
    if (!w->runs->all && (w->runs->first || w->runs->limit || w->jobs || w->runs->bound))
        return pct_cli_usage("--bound, --first, --jobs and --runs are for --all");
    if (w->runs->dpor && w->runs->bound)
        return pct_cli_usage("--all=dpor takes no --bound: of the orders that commute the one with the fewest "
                             "preemptions may be another; --all --bound=N makes all of them");
    return 0;
}

/* What commutes is known only of what is seen: all accesses to memory. */
static int check_dpor(struct pct_campaign *c)
{
    if (c->config.focus[0] || c->config.watch[0] || c->config.sample || c->config.races ||
        c->config.memory_points != PCT_POINTS_ALL)
        return pct_cli_usage("--all=dpor takes no --focus, --watch, --memory-points, --memory-sample and --races, nor "
                             "their variables: what commutes is known only where all accesses to memory are seen");
    if (pct_memory_is_unseen(&c->config, c->launch.command[0]))
        return pct_cli_usage("--all=dpor has to see all accesses to memory, to know what commutes: build %s with "
                             "pct-cc, or add --memory=all",
                             c->launch.command[0]);
    c->launch.explored = true;
    return 0;
}

static int configure(struct arguments *w)
{
    struct pct_campaign *c = w->campaign;
    int status = pct_configure_own(c, &w->schedules, "script");
    if (status)
        return status;
    if (w->runs->dpor) {
        status = check_dpor(c);
        if (status)
            return status;
    }
    c->config.slack = PCT_SLACK_MOST; /* each deadline may come, where no other thread can go on */
    return pct_config_fits(&c->config, c->strategy) ? 0 : pct_cli_usage("the options are too long for a token");
}

/* As Lua's own loader: a mark of UTF-8 in front is none of it, nor is a first line with a '#'. */
static void skip_head(char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (!strncmp(text, mark, strlen(mark)))
        memmove(text, text + strlen(mark), strlen(text + strlen(mark)) + 1);
    if (*text == '#')
        memset(text, ' ', strcspn(text, "\n"));
}

/* The text of the script, to be freed; NULL after a message. */
static char *read_script(const char *name)
{
    struct stat status;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* or a pipe that nobody writes holds pct up */
    char *text = NULL;
    if (file < 0 || fstat(file, &status))
        pct_cli_say("%s: %s", name, strerror(errno));
    else if (S_ISDIR(status.st_mode))
        pct_cli_say("%s: %s", name, strerror(EISDIR));
    else if (!S_ISREG(status.st_mode) || status.st_size > SCRIPT_MOST)
        pct_cli_say("%s: a script is a file of at most 1 MiB", name);
    else if (!(text = pct_cli_read_all(file)))
        pct_cli_no_memory("");
    if (text && (strlen(text) != (size_t)status.st_size || *text == LUA_COMPILED)) {
        pct_cli_say("%s: not a text file: it %s", name, *text == LUA_COMPILED ? "is compiled" : "has zero bytes");
        free(text);
        text = NULL;
    }
    if (text)
        skip_head(text);
    if (file >= 0)
        close(file);
    return text;
}

/* Or the one in the program, for w->test. Returns 0 or the exit status, after a message. */
static int read_own(struct arguments *w, char **text)
{
    char program[PATH_MAX];
    unsigned count = 0;
    const char *command = w->campaign->launch.command[0];
    int status = pct_locate_command(command, program, sizeof program);
    if (status) {
        pct_cli_say("%s: %s", command, strerror(status == 126 ? EACCES : ENOENT));
        return status;
    }
    w->runs->name = w->test && *w->test ? w->test : "pct_script";
    *text = pct_script_own(program, w->test, &count);
    if (*text)
        return 0;
    if (!count)
        return pct_cli_usage("%s has no script: pct_script() and PCT_TEST() of <pct/script.h> make some", program);
    if (!w->test)
        return pct_cli_no_memory("");
    if (!*w->test)
        return pct_cli_usage("%s has no script by pct_script(), but for tests: --each-test runs all of these", program);
    if (!w->one_of_all)
        return pct_cli_usage("%s has no script for a test '%s'", program, w->test);
    pct_cli_say("%s: no script, not run", w->test);
    return 0;
}

/* Have Lua look at it, which is in the library that the target gets. */
static int check(const char *path, const char *name, const char *text)
{
    char error[512];
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*look)(const char *, size_t, const char *, char *, size_t) = NULL;
    void *symbol = library ? dlsym(library, "pct_script_check") : NULL;
    memcpy(&look, &symbol, sizeof look);
    if (!look)
        return pct_cli_usage("cannot load %s: %s", path, dlerror());
    if (!look(text, strlen(text), name, error, sizeof error))
        return 0;
    bool placed = !strncmp(error, name, strlen(name));
    return pct_cli_usage("%s%s%s", placed ? "" : name, placed ? "" : ": ", error);
}

/* libpct-script.so, which is beside libpct.so. */
static int find_library(const struct pct_launch *launch, char *path, size_t size)
{
    char beside[PATH_MAX], error[512];
    if (pct_locate_library(launch->library, beside, sizeof beside, error, sizeof error))
        return pct_cli_usage("%s", error);
    const char *slash = strrchr(beside, '/');
    int length = snprintf(path, size, "%.*slibpct-script.so", slash ? (int)(slash + 1 - beside) : 0, beside);
    if ((size_t)length >= size || access(path, R_OK))
        return pct_cli_usage("libpct-script.so is not beside %s: run `make`, or `make install` again", beside);
    return 0;
}

/* The target gets it, too. */
static int add_library(struct pct_launch *launch, const char *path)
{
    size_t length = strlen(launch->library_path);
    if (length + strlen(path) + 2 > sizeof launch->library_path)
        return pct_cli_usage("%s: the path is too long", path);
    sprintf(launch->library_path + length, ":%s", path);
    return 0;
}

/* Programs that start others. */
static bool starts_others(const char *program)
{
    static const char *const names[] = { "sh",   "bash",    "dash", "zsh",     "ksh",   "mksh",
                                         "fish", "busybox", "env",  "nice",    "nohup", "setsid",
                                         "time", "stdbuf",  "sudo", "taskset", "xargs", "timeout" };
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    char begin[2] = "";
    FILE *file = fopen(program, "re");
    bool starts = file && fread(begin, sizeof begin, 1, file) == 1 && !memcmp(begin, "#!", 2);
    if (file)
        fclose(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        starts |= !strcmp(names[i], name);
    return starts;
}

/* What the names in the script stand for in the program. */
static int find_names(struct script *script)
{
    char program[PATH_MAX];
    const struct pct_launch *launch = &script->arguments.campaign->launch;
    if (!pct_script_words_find(&script->words, script->text))
        return pct_cli_no_memory("");
    if (pct_locate_command(launch->command[0], program, sizeof program))
        return 0; /* pct_launch_prepare() says why */
    if (starts_others(program) && !strstr(script->text, "process"))
        return pct_cli_usage("%s starts other programs, and a script is for the first process: give the program itself "
                             "as COMMAND, or say which process is meant: process(\"PROGRAM\", function() ... end)",
                             launch->command[0]);
    return pct_script_places_find(&script->places, &script->words, program, script->arguments.runs->name);
}

/* Threads stop where these functions begin and return. */
static void take_functions(struct script *script)
{
    struct pct_run_options *schedules = &script->arguments.schedules;
    bool returns;
    script->functions = pct_script_words_functions(&script->words, schedules->functions, &returns);
    schedules->functions = script->functions;
    script->arguments.campaign->launch.returns = returns ? PCT_RETURNS_NEEDED : PCT_RETURNS_UNUSED;
}

/* Before pct_launch_prepare(). */
static int begin(struct script *script)
{
    struct pct_script_runs *runs = script->arguments.runs;
    struct pct_campaign *c = script->arguments.campaign;
    int status = refuse(&script->arguments);
    if (!status && !script->text && !(script->text = read_script(runs->name)))
        status = PCT_EXIT_USAGE;
    if (!status)
        pct_each_test_begun(script->arguments.begun); /* what is wrong from here on is this test's script */
    if (!status)
        status = find_names(script);
    if (!status) {
        take_functions(script);
        status = configure(&script->arguments);
    }
    if (!status) {
        pct_forking_plan(&c->launch, false, !runs->all, c->config.strategy);
        pct_configure_memory(c, runs->quiet);
        c->launch.alone = !runs->all;
    }
    return status;
}

static int prepare(struct script *script)
{
    struct pct_script_runs *runs = script->arguments.runs;
    struct pct_launch *launch = &script->arguments.campaign->launch;
    char library[PATH_MAX];
    int status = find_library(launch, library, sizeof library);
    snprintf(runs->bare, sizeof runs->bare, "%s", launch->library_path);
    if (!status)
        status = check(library, runs->name, script->text);
    if (!status)
        status = add_library(launch, library);
    unsigned jobs = script->arguments.campaign->jobs;
    if (!status && !(runs->file = calloc(jobs, sizeof *runs->file)))
        status = pct_cli_no_memory("");
    int failed = 0;
    for (unsigned i = 0; !status && !failed && i < jobs; i++) {
        runs->file[runs->files++].file = -1;
        failed =
            pct_script_file_open(&runs->file[i], runs->name, script->text, &script->words, &script->places, runs->dpor);
        if (!failed)
            runs->file[i].channel->keeps = runs->keep != NULL;
    }
    if (failed) {
        pct_cli_say("cannot make a file for the script: %s", strerror(-failed));
        status = PCT_EXIT_INTERNAL;
    }
    return status;
}

/* All tests that have one. */
static int each_test(struct arguments *w, char **argv)
{
    char *text = NULL;
    if (w->test)
        return pct_cli_usage("--each-test and --test exclude each other; give one");
    if (w->runs->outcome)
        return pct_cli_usage("a file of schedules has each test's script by itself: --test=NAME");
    int status = read_own(w, &text);
    free(text);
    return status ? status : pct_each_test(argv, w->campaign->launch.command, w->framework, "--of-test={test}", true);
}

int pct_cmd_script(int argc, char **argv)
{
    static struct pct_campaign campaign; /* large */
    static struct pct_script_runs runs = { .campaign = &campaign };
    struct script script = { .arguments = { .campaign = &campaign, .runs = &runs } };
    campaign.ok[0] = true;
    campaign.stride = campaign.jobs = campaign.runs = 1;
    pct_parse(&argp, argc, argv, 1, &script.arguments);
    if (script.arguments.each_test)
        return each_test(&script.arguments, argv);
    int status = script.arguments.test ? read_own(&script.arguments, &script.text) : 0;
    if (status || (script.arguments.test && !script.text))
        return status;
    status = pct_environment_check(false);
    if (!status)
        status = begin(&script);
    if (!status)
        status = pct_launch_prepare(&campaign.launch);
    if (!status) {
        status = prepare(&script);
        if (!status)
            status = pct_script_runs_make(&runs);
        if (runs.made)
            pct_each_test_ended(script.arguments.begun);
        pct_launch_finish(&campaign.launch);
    }
    pct_script_words_free(&script.words);
    pct_script_places_free(&script.places);
    free(script.functions);
    free(script.text);
    for (unsigned i = 0; i < runs.files; i++)
        pct_script_file_close(&runs.file[i]);
    free(runs.file);
    pct_campaign_close(&campaign);
    return status;
}
