/* `pct add`: keep a failing schedule in a text file of the project, for `pct check`. It is run first: only what fails
 * now is worth keeping, unless told otherwise. */
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <cli/process/environment.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/campaign/engine.h>
#include <cli/campaign/outcome.h>
#include "parse.h"
#include <cli/analyze/schedules.h>
#include <cli/explore/explorer.h>
#include "subcommand_entry.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { KEY_FORCE = 3000, KEY_SCRIPT };

static const struct argp_option options[] = {
    { "file", 'f', "FILE", 0, "the file of schedules (default: " PCT_SCHEDULES_FILE ")", 1 },
    { "note", 'm', "TEXT", 0, "a line for people: what broke, the number of the bug", 1 },
    { "script", KEY_SCRIPT, "FILE.lua", 0, "no token: keep this script, which `pct script` runs, and its schedule", 1 },
    { "force", KEY_FORCE, NULL, 0, "keep it although it does not fail now (it may have been repaired already)", 1 },
    { 0 },
};

struct add {
    const char *file, *note;
    char *token;
    char *list;    /* of a long one */
    char *leveled; /* `explore`, its options, and the level of what was verified */
    bool force;
    struct pct_launch launch;
    struct pct_entry_options options;
    struct pct_config config;
    enum pct_subcommand_entry_kind kind; /* what is in the place of the token */
    char found[256];
};

/* `script FILE`, as a shell has it. */
static void take_script(struct add *a, const char *file, struct argp_state *state)
{
    size_t size = 0;
    FILE *out = open_memstream(&a->token, &size);
    if (!*file)
        argp_error(state, "--script: give the name of a file");
    if (!out)
        argp_failure(state, PCT_EXIT_INTERNAL, errno, "--script");
    fputs("script ", out);
    pct_cli_print_quoted(out, file);
    fclose(out);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct add *a = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &a->options, NULL } },
        { 'f', .text = &a->file },
        { 'm', .text = &a->note },
        { KEY_FORCE, .on = &a->force },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case KEY_SCRIPT:
        take_script(a, argument, state);
        return 0;
    case ARGP_KEY_ARG:
        if (!a->token && pct_options_is_left_out(state, argument))
            argp_error(state, "no token is given: pct add TOKEN -- COMMAND [ARGUMENT...]");
        if (!a->token) {
            a->token = argument;
            return 0;
        }
        pct_options_take_command(state, &a->launch);
        return 0;
    case ARGP_KEY_END:
        if (!a->token)
            argp_error(state, "no token is given: pct add TOKEN -- COMMAND [ARGUMENT...]");
        if (!a->launch.command)
            argp_error(state, "no command is given: pct add TOKEN -- COMMAND [ARGUMENT...]");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = { { &pct_entry_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TOKEN [--] COMMAND [ARGUMENT...]\n--script=FILE.lua [--] COMMAND [ARGUMENT...]\nexplore [--] COMMAND "
                "[ARGUMENT...]",
    .doc = "Keep a failing schedule in a text file of the project, so that `pct check` runs it again from now on.\vThe "
           "schedule "
           "is run first, and kept if it fails. With `explore`, or 'explore OPTION...', instead of the token, all "
           "schedules are "
           "explored, and kept if that verifies them. `script OPTION... FILE.lua` is a script with options of `pct "
           "script`. The exit status is 0 if it is in the file.",
    .children = children,
};

/* The fields as text: Command, and Options or NULL. Returns 0, or an exit status after a message. */
static int format(const struct add *a, struct pct_entry *entry)
{
    size_t size = 0;
    FILE *out = open_memstream(&entry->command, &size);
    if (!out)
        return pct_cli_no_memory("");
    pct_cli_print_command(out, a->launch.command);
    fclose(out);
    out = open_memstream(&entry->options, &size);
    if (!out)
        return pct_cli_no_memory("");
    pct_options_print(out, &a->launch, NULL, true);
    /* The token passes over as many races as this run did; once repaired, the program goes on, and makes more. */
    pct_options_print_word(out, "--suppressions", a->launch.suppressions);
    pct_oracle_print(out, &a->options.oracle);
    if (a->options.near != UINT64_MAX)
        fprintf(out, "--near %llu ", (unsigned long long)a->options.near);
    fclose(out);
    if (size)
        entry->options[size - 1] = 0;
    if (strpbrk(entry->command, "\r\n") || strpbrk(entry->options, "\r\n"))
        return pct_cli_usage(
            "the command or an option has a line end in it, which a line of %s cannot hold; put it into "
            "a script",
            a->file);
    if (!size) {
        free(entry->options);
        entry->options = NULL;
    }
    return 0;
}

/* What came of it, for a->found. Returns 0 or an exit status after a message. */
static int classify(struct add *a, struct pct_ended_run *run)
{
    const struct pct_result *result = &run->result;
    int failed = pct_oracle_run(&a->options.oracle, &a->launch, &run->process, &run->result);
    if (failed)
        return failed;
    bool passed = !pct_result_fails(result, a->options.ok);
    pct_outcome_format(a->found, sizeof a->found, &run->process, result);
    if (passed && !a->force)
        return pct_cli_usage("this schedule does not fail (%s), so it is not kept: is this the command of the "
                             "token, unchanged? --force keeps it",
                             a->found);
    if (passed)
        a->found[0] = 0;
    else if (a->config.has_hash && result->trace.header.hash != a->config.hash)
        pct_cli_say("it fails, but with other steps than the token's: the program, its input or its libraries have "
                    "changed since");
    return 0;
}

/* Run it. Returns likewise. */
static int try(struct add *a)
{
    static struct pct_ended_run run; /* large */
    struct pct_engine engine = { .launch = &a->launch, .quiet = true };
    struct pct_run_spec spec = { .config = a->config, .list = a->list };
    int failed = pct_launch_prepare(&a->launch);
    if (failed)
        return failed;
    failed = pct_engine_run_one(&engine, &spec, &run);
    if (!failed) {
        failed = classify(a, &run);
        pct_ended_run_close(&run);
    }
    pct_launch_finish(&a->launch);
    return failed;
}

/* "verified" at calls is less than under sequential consistency: `pct check` is to hold what it was. Appends that to
 * the field Schedule, in a->leveled. Returns likewise. */
static int keep_level(struct add *a, struct pct_entry *entry)
{
    const char *level = pct_explorer_level_in(a->found);
    if (!level || strstr(entry->schedule, " --level"))
        return 0;
    if (asprintf(&a->leveled, "%s --level=%s", entry->schedule, level) < 0)
        return pct_cli_no_memory("");
    entry->schedule = a->leveled;
    return 0;
}

/* By the sub-command that is named in the place of the token: an exploration is kept if it holds, a script if it fails.
 * Returns likewise. */
static int try_subcommand(struct add *a, struct pct_entry *entry)
{
    struct pct_subcommand_entry result;
    bool explores = a->kind == PCT_ENTRY_EXPLORE;
    int failed = pct_subcommand_entry_run(&result, entry, "pct add", 1);
    if (failed)
        return failed;
    bool wanted = result.outcome == (explores ? PCT_ENTRY_HOLDS : PCT_ENTRY_FAILS);
    if (wanted)
        snprintf(a->found, sizeof a->found, "%s", result.last);
    else if (explores || result.outcome == PCT_ENTRY_UNABLE)
        fputs(result.said, stderr);
    if (result.outcome == PCT_ENTRY_UNABLE)
        failed = result.status ? result.status : PCT_EXIT_INTERNAL;
    else if (!wanted && !a->force)
        failed = explores ? pct_cli_usage("it is not verified, so it is not kept; --force keeps it")
                          : pct_cli_usage("the program does not fail as this script has it (%s), so it is not kept; "
                                          "--force keeps it",
                                          result.last);
    free(result.said);
    free(result.last);
    return failed || !explores ? failed : keep_level(a, entry);
}

/* For `pct add`'s last message. */
static const char *not_found(const struct add *a)
{
    return a->kind == PCT_ENTRY_EXPLORE ? "which are not verified" : "which does not fail";
}

/* The one in the file that is the same, or NULL. */
static const struct pct_entry *find(const struct pct_schedules *schedules, const struct pct_entry *entry)
{
    for (size_t i = 0; i < schedules->count; i++)
        if (!strcmp(schedules->entries[i].schedule, entry->schedule) &&
            !strcmp(schedules->entries[i].command, entry->command))
            return &schedules->entries[i];
    return NULL;
}

static int add(struct add *a, struct pct_entry *entry)
{
    struct pct_schedules schedules;
    char error[512];
    int failed = pct_schedules_read(&schedules, a->file, error, sizeof error);
    const bool readable = !failed || failed == -ENOENT;
    const struct pct_entry *known = readable ? find(&schedules, entry) : NULL;
    failed = readable ? 0 : pct_cli_usage("%s", error);
    if (readable && !known) {
        failed = a->kind == PCT_ENTRY_TOKEN ? try(a) : try_subcommand(a, entry);
        known = failed ? NULL : find(&schedules, entry); /* it may have a level now */
    }
    if (known)
        pct_cli_say("%s:%u has this schedule already", a->file, known->line);
    else if (!failed) {
        entry->found = a->found[0] ? a->found : NULL;
        int status = pct_schedules_append(a->file, entry);
        if (status)
            failed = pct_cli_usage("%s: %s", a->file, strerror(-status));
        else
            pct_cli_say("%s now holds %s (%s); commit %s, and let CI run: pct check%s%s", a->file,
                        a->kind == PCT_ENTRY_EXPLORE  ? "all its schedules"
                        : a->kind == PCT_ENTRY_SCRIPT ? "this script"
                                                      : "this schedule",
                        a->found[0] ? a->found : not_found(a), a->kind == PCT_ENTRY_SCRIPT ? "both" : "it",
                        strcmp(a->file, PCT_SCHEDULES_FILE) ? " " : "",
                        strcmp(a->file, PCT_SCHEDULES_FILE) ? a->file : "");
    }
    pct_schedules_free(&schedules);
    return failed;
}

int pct_cmd_add(int argc, char **argv)
{
    static struct add a; /* large */
    char error[512];
    a.file = PCT_SCHEDULES_FILE;
    a.options = (struct pct_entry_options){ .launch = &a.launch, .near = UINT64_MAX, .ok = { true } };
    pct_parse(&argp, argc, argv, 1, &a);
    int failed = pct_environment_check(false);
    a.kind = pct_subcommand_entry_kind(a.token);
    if (!failed && a.kind == PCT_ENTRY_TOKEN && pct_long_token_parse(&a.config, a.token, &a.list, error, sizeof error))
        failed = pct_cli_usage("%s", error);
    if (!failed && a.kind == PCT_ENTRY_TOKEN)
        failed = pct_cli_check_strategy(&a.config);
    if (!failed && a.kind == PCT_ENTRY_SCRIPT &&
        (a.options.near != UINT64_MAX || a.options.oracle.expect || a.options.oracle.command))
        failed = pct_cli_usage("a script takes no --near, --expect and --oracle; it can have assertions of its own");
    if (!failed)
        failed = pct_drive_check(&a.launch.drive, 1);
    a.options.oracle.ok = a.options.ok;
    if (!failed)
        failed = pct_oracle_prepare(&a.options.oracle);
    if (failed)
        return failed;
    struct pct_entry entry = { .schedule = a.token };
    char *note = a.note ? strdup(a.note) : NULL;
    for (char *at = note; at && *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    entry.note = note && note[strspn(note, " ")] ? note : NULL;
    failed = format(&a, &entry);
    if (!failed)
        failed = add(&a, &entry);
    pct_oracle_close(&a.options.oracle);
    free(entry.command);
    free(entry.options);
    free(note);
    free(a.list);
    free(a.leveled);
    return failed;
}
