/* Options that run and replay share: see options.h. */
#include "options.h"
#include "settings.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_LIB = 1000,
    KEY_ASLR,
    KEY_TIMEOUT,
    KEY_MEMORY,
    KEY_STDIN,
    KEY_SCRATCH,
    KEY_SETUP,
    KEY_TEARDOWN,
    KEY_CHILDREN,
    KEY_SITES,
    KEY_NO_ENVIRONMENT,
    KEY_READY,
    KEY_DRIVE,
    KEY_STOP,
    KEY_READY_TIMEOUT,
    KEY_STOP_TIMEOUT,
    KEY_SUPPRESSIONS,
    KEY_DEMON
};

static const char *const children_names[] = { "stuck", "all", "none" };

static error_t set_children(struct argp_state *state, struct pct_launch *launch, const char *name)
{
    for (unsigned i = 0; i < sizeof children_names / sizeof *children_names; i++)
        if (!strcmp(name, children_names[i])) {
            launch->children = (enum pct_children)i;
            return 0;
        }
    argp_failure(state, PCT_EXIT_USAGE, 0, "--children: '%s' is not one of stuck, all and none", name);
    return 0;
}

static const struct argp_option launch_options[] = {
    { "timeout", KEY_TIMEOUT, "SECONDS", 0,
      "kill a run that takes longer than this, in real time (default: of pct run -n, campaign and explore 60, or less "
      "where a run takes far longer than the others; else never)",
      8 },
    { "memory-limit", KEY_MEMORY, "BYTES", 0,
      "how many bytes of address space each process of a run may have, or KiB, MiB, GiB with K, M, G (default: no "
      "limit)",
      8 },
    { "stdin", KEY_STDIN, "FILE", 0,
      "each run reads this file from its start as its standard input; -: all of pct's own", 8 },
    { "scratch", KEY_SCRATCH, "WHAT", OPTION_ARG_OPTIONAL,
      "give each run a fresh directory: as its TMPDIR (WHAT is tmp, the default), or as its current directory, too "
      "(cwd)",
      8 },
    { "setup", KEY_SETUP, "COMMAND", 0,
      "run this by sh -c before each run, not under control; it must end with status 0", 8 },
    { "teardown", KEY_TEARDOWN, "COMMAND", 0,
      "run this by sh -c after each run, not under control; it must end with status 0", 8 },
    { "aslr", KEY_ASLR, NULL, 0,
      "leave address-space randomisation on: addresses, and what depends on them, will differ", 8 },
    { "lib", KEY_LIB, "FILE", 0, "the libpct.so to preload (default: the one that belongs to this pct)", 8 },
    { "children", KEY_CHILDREN, "WHICH", 0,
      "which child processes make a failing run, whatever their parents say: stuck (those that deadlock or livelock; "
      "the default), all (those that crash, too), none",
      8 },
    { "suppressions", KEY_SUPPRESSIONS, "FILE", 0,
      "data races that do not matter, in ThreadSanitizer's format: race:PATTERN, race_top:PATTERN, "
      "called_from_lib:PATTERN",
      8 },
    { "sites", KEY_SITES, NULL, 0,
      "record in the trace where in the program each step is made, for `pct trace` and its like, and for campaigns to "
      "count interleavings; slower",
      8 },
    { "no-environment", KEY_NO_ENVIRONMENT, NULL, 0,
      "leave the values of the environment out of traces, which hold a copy of the stack", 8 },
    { "demon", KEY_DEMON, "FILE", 0, "add the thread that this plan of `pct demon` describes to the program", 8 },
    { NULL, 0, NULL, 0, "Servers", 9 },
    { "ready", KEY_READY, "WHAT", 0,
      "the target is a server, and ready when: line:TEXT or regex:REGEX is in a line of its output, port:NUMBER or "
      "unix:PATH is listened on, file:PATH is new",
      9 },
    { "drive", KEY_DRIVE, "CLIENT", 0,
      "when the server is ready, run this client by sh -c, not under control; it must end with status 0", 9 },
    { "stop", KEY_STOP, "SIGNAL", 0, "what stops the server after the client; none: the client does (default: TERM)",
      9 },
    { "ready-timeout", KEY_READY_TIMEOUT, "N", 0, "how many seconds the server may take to be ready (default: 30)", 9 },
    { "stop-timeout", KEY_STOP_TIMEOUT, "N", 0, "how many seconds the server may take to end (default: 10)", 9 },
    { 0 },
};

uint64_t pct_options_number(struct argp_state *state, const char *name, const char *text, uint64_t min, uint64_t max)
{
    uint64_t value = 0;
    char error[256];
    if (pct_config_parse_u64(&value, text, min, max, name, error, sizeof error))
        argp_failure(state, PCT_EXIT_USAGE, 0, "%s", error);
    return value;
}

double pct_options_seconds(struct argp_state *state, const char *name, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0) || seconds > 1e8)
        argp_failure(state, PCT_EXIT_USAGE, 0, "%s: '%s' is not a number of seconds above 0", name, text);
    return seconds;
}

void pct_options_engine(struct argp_state *state, struct pct_launch *launch, const char *name)
{
    launch->restore.wanted = !strcmp(name, "restore");
    if (!launch->restore.wanted && strcmp(name, "auto") != 0 && strcmp(name, "fork") != 0)
        argp_failure(state, PCT_EXIT_USAGE, 0, "--engine: '%s' is not one of auto, fork and restore", name);
}

double pct_options_confidence(struct argp_state *state, const char *text)
{
    char *end;
    double confidence = strtod(text, &end);
    if (end == text || *end || !(confidence > 0) || confidence > 1)
        argp_failure(state, PCT_EXIT_USAGE, 0, "--confidence: '%s' is not a number between 0 and 1, such as 0.99",
                     text);
    if (confidence == 1)
        argp_failure(state, PCT_EXIT_USAGE, 0, "--confidence=1: no number of runs gives certainty; try 0.99");
    return confidence;
}

static uint64_t parse_bytes(struct argp_state *state, const char *name, const char *text)
{
    enum { LEAST = 1 << 20 };
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || *text == '-' || errno || (unit ? end[1] : *end) || value > UINT64_MAX >> 8 >> shift)
        argp_failure(state, PCT_EXIT_USAGE, 0, "%s: '%s' is not a number of bytes, such as 500M", name, text);
    if (value << shift < LEAST)
        argp_failure(state, PCT_EXIT_USAGE, 0, "%s: '%s' is less than 1M, in which no program starts", name, text);
    return value << shift;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_launch *launch = state->input;
    const struct pct_setting settings[] = {
        { KEY_LIB, .text = &launch->library },
        { KEY_ASLR, .on = &launch->aslr },
        { KEY_SUPPRESSIONS, .text = &launch->suppressions },
        { KEY_DEMON, .text = &launch->demon },
        { KEY_NO_ENVIRONMENT, .on = &launch->no_environment },
        { KEY_TIMEOUT, .seconds = &launch->timeout },
        { KEY_STDIN, .text = &launch->stdin_file, .on = &launch->stdin_given },
        { KEY_SETUP, .text = &launch->around.setup },
        { KEY_TEARDOWN, .text = &launch->around.teardown },
        { KEY_READY, .text = &launch->drive.ready },
        { KEY_DRIVE, .text = &launch->drive.client },
        { KEY_STOP, .text = &launch->drive.stop },
        { KEY_READY_TIMEOUT, .seconds = &launch->drive.ready_timeout },
        { KEY_STOP_TIMEOUT, .seconds = &launch->drive.stop_timeout },
        { 0 },
    };
    if (pct_settings_take(settings, launch_options, key, argument, state))
        return 0;
    switch (key) {
    case KEY_SITES:
        launch->sites = "on";
        return 0;
    case KEY_MEMORY:
        launch->memory = parse_bytes(state, "--memory-limit", argument);
        return 0;
    case KEY_SCRATCH:
        launch->around.scratch = true;
        launch->around.enter = argument && !strcmp(argument, "cwd");
        if (argument && !launch->around.enter && strcmp(argument, "tmp") != 0)
            argp_failure(state, PCT_EXIT_USAGE, 0, "--scratch: '%s' is neither tmp nor cwd", argument);
        return 0;
    case KEY_CHILDREN:
        return set_children(state, launch, argument);
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp pct_options_launch_argp = { .options = launch_options, .parser = parse };

const struct argp_child pct_options_launch[] = { { &pct_options_launch_argp, 0, NULL, 0 }, { 0 } };

void pct_options_take_command(struct argp_state *state, struct pct_launch *launch)
{
    launch->command = &state->argv[state->next - 1];
    state->next = state->argc;
}

bool pct_options_is_left_out(const struct argp_state *state, const char *argument)
{
    return state->quoted && state->next > state->quoted && strncmp(argument, "pct1:", strlen("pct1:")) != 0;
}

error_t pct_options_parse_command(int key, struct argp_state *state, struct pct_launch *launch, const char *usage)
{
    if (key == ARGP_KEY_ARG)
        pct_options_take_command(state, launch);
    else if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    else if (!launch->command)
        argp_error(state, "no command is given: %s -- COMMAND [ARGUMENT...]", usage);
    return 0;
}

enum { STATUSES = 256 };

enum { KEY_OK_STATUS = 1100 };

static const struct argp_option ok_options[] = {
    { NULL, 0, NULL, 0, "What is a failure, besides crashes, deadlocks, sanitizers' reports, ...", 4 },
    { "ok-status", KEY_OK_STATUS, "STATUS", 0,
      "this exit status of the target is no failure, like 0; may be repeated; any: none is", 4 },
    { 0 },
};

static error_t parse_ok(int key, char *argument, struct argp_state *state)
{
    bool *ok = state->input;
    uint64_t status;
    char error[256];
    if (key != KEY_OK_STATUS)
        return ARGP_ERR_UNKNOWN;
    if (!strcmp(argument, "any"))
        memset(ok, true, STATUSES);
    else if (pct_config_parse_u64(&status, argument, 0, STATUSES - 1, "--ok-status", error, sizeof error))
        argp_failure(state, PCT_EXIT_USAGE, 0, "%s, or any", error);
    else
        ok[status] = true;
    return 0;
}

const struct argp pct_options_ok_argp = { .options = ok_options, .parser = parse_ok };

void pct_options_print_ok_status(FILE *out, const bool ok[256])
{
    unsigned count = 0;
    for (unsigned status = 0; status < STATUSES; status++)
        count += ok[status];
    if (count == STATUSES)
        fputs("--ok-status any ", out);
    for (unsigned status = 1; status < STATUSES && count < STATUSES; status++)
        if (ok[status])
            fprintf(out, "--ok-status %u ", status);
}

void pct_options_print_word(FILE *out, const char *option, const char *value)
{
    if (!value)
        return;
    fprintf(out, "%s ", option);
    pct_cli_print_quoted(out, value);
    fputc(' ', out);
}

void pct_options_print(FILE *out, const struct pct_launch *launch, const struct pct_process *process, bool timeout)
{
    pct_options_print_word(out, "--lib", launch->library);
    pct_options_print_word(out, "--demon", launch->demon);
    if (launch->aslr)
        fputs("--aslr ", out);
    if (launch->children)
        fprintf(out, "--children=%s ", children_names[launch->children]);
    if (launch->memory)
        fprintf(out, "--memory-limit %llu ", (unsigned long long)launch->memory);
    pct_options_print_word(out, "--stdin", launch->stdin_file);
    if (launch->around.scratch)
        fprintf(out, "--scratch%s ", launch->around.enter ? "=cwd" : "");
    pct_options_print_word(out, "--setup", launch->around.setup);
    pct_options_print_word(out, "--teardown", launch->around.teardown);
    if (timeout && (process ? process->allowed : launch->timeout) > 0)
        fprintf(out, "--timeout %g ", process ? process->allowed : launch->timeout);
    const struct pct_drive *drive = &launch->drive;
    if (!drive->client)
        return;
    pct_options_print_word(out, "--ready", process && process->driven ? process->driven->ready_text : drive->ready);
    pct_options_print_word(out, "--drive", process && process->driven ? process->driven->client : drive->client);
    pct_options_print_word(out, "--stop", drive->stop);
    if (drive->ready_timeout != PCT_DRIVE_READY_TIMEOUT)
        fprintf(out, "--ready-timeout %g ", drive->ready_timeout);
    if (drive->stop_timeout != PCT_DRIVE_STOP_TIMEOUT)
        fprintf(out, "--stop-timeout %g ", drive->stop_timeout);
}
