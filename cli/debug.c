/* `pct replay --gdb`: see debug.h. gdb starts the target itself, under the environment that a replay would give it; what it needs
 * to know for that stands in a file of JSON, which cli/debug/gdb.py reads. */
#include "json.h"
#include "debug.h"
#include "cli.h"
#include "environment.h"
#include "trace_export.h"
#include "locate.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

enum { WORDS_MAX = 4096 };

/* The variables by which a replay's environment differs from ours. */
static struct json_object *make_environment(const struct pct_launch *launch, const char *token, const char *trace)
{
    /* gdb starts programs by their path; the room that this takes beside the stack is part of the reckoning. */
    char **command = launch->command, *own = command[0];
    struct pct_process process = { .launch = (struct pct_launch *)(uintptr_t)launch,
                                   .command = command,
                                   .cpu = -1,
                                   .schedule = launch->schedule,
                                   .sites = launch->sites };
    snprintf(process.token, sizeof process.token, "%s", token);
    command[0] = (char *)(uintptr_t)launch->program;
    char **made = pct_environment_make(&process, trace);
    command[0] = own;
    struct json_object *environment = json_object_new_object();
    for (char **at = made; made && *at; at++) {
        char name[64];
        size_t length = strcspn(*at, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, *at);
        const char *ours = length < sizeof name ? getenv(name) : *at;
        if ((*at)[length] && (!ours || strcmp(ours, *at + length + 1)) && length < sizeof name)
            json_object_object_add(environment, name, json_object_new_string(*at + length + 1));
    }
    /* A debugger's user stops for minutes: nobody may take a thread for stuck meanwhile. */
    if (!getenv("PCT_WATCHDOG"))
        json_object_object_add(environment, "PCT_WATCHDOG", json_object_new_string("off"));
    free(made);
    return environment;
}

static int write_facts(const struct pct_launch *launch, const char *token, const char *trace, int fd)
{
    FILE *out = fdopen(dup(fd), "w");
    if (!out)
        return -errno;
    struct json_object *facts = json_object_new_object();
    pct_json_add_names(facts);
    json_object_object_add(facts, "environment", make_environment(launch, token, trace));
    json_object_object_add(facts, "library", pct_json_text(launch->library_path, sizeof launch->library_path));
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    json_object_object_add(facts, "pct", pct_json_text(self, length > 0 ? (size_t)length : 0));
    json_object_object_add(facts, "trace", json_object_new_string(trace));
    json_object_object_add(facts, "token", json_object_new_string(token));
    json_object_object_add(facts, "aslr", json_object_new_boolean(launch->aslr));
    struct json_object *verdicts = json_object_new_array();
    for (unsigned i = 0; i < PCT_VERDICT_COUNT; i++)
        json_object_array_add(verdicts, json_object_new_string(pct_name_verdict(i)));
    json_object_object_add(facts, "verdicts", verdicts);
    pct_json_print_line(out, facts);
    return fclose(out) ? -errno : 0;
}

/* gdb and what it is told, into words; returns 0 or an exit status after a message. */
static int make_command(const char **words, const struct pct_launch *launch, const char *script, const char *facts,
                        const char *arguments, wordexp_t *more)
{
    static char tell[PATH_MAX + 32];
    size_t count = 0;
    snprintf(tell, sizeof tell, "python pct_facts = '%s'", facts);
    const char *const first[] = { "gdb", "-q", "-ex", tell, "-x", script };
    for (; count < sizeof first / sizeof *first; count++)
        words[count] = first[count];
    if (arguments && wordexp(arguments, more, WRDE_NOCMD))
        return pct_cli_usage("--gdb: '%s' cannot be split into words", arguments);
    for (size_t i = 0; i < more->we_wordc && count < WORDS_MAX - 3; i++)
        words[count++] = more->we_wordv[i];
    words[count++] = "--args";
    words[count++] = launch->program;
    for (char **at = launch->command + 1; *at; at++) {
        if (count == WORDS_MAX)
            return pct_cli_usage("--gdb: the command has too many arguments");
        words[count++] = *at;
    }
    words[count] = NULL;
    return 0;
}

/* Returns the child's status as a shell has it. */
static int run(const struct pct_launch *launch, const char **words)
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
        signal(SIGTTOU, SIG_DFL);
        execvp(words[0], (char *const *)(uintptr_t)words);
        pct_cli_say("%s: %s", words[0],
                    errno == ENOENT ? "command not found; Debian's package gdb has it" : strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    int status;
    /* An interrupt is gdb's: it is in our process group. We wait for it to end. */
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return PCT_EXIT_INTERNAL;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether breakpoints and stepping have left the schedule as it was. */
static void compare(const char *path, uint64_t hash)
{
    static struct pct_trace trace;
    char error[256];
    if (pct_trace_open(&trace, path, error, sizeof error) == PCT_TRACE_GOOD &&
        trace.header.verdict != PCT_VERDICT_RUNNING) {
        bool same = trace.header.hash == hash && trace.header.verdict != PCT_VERDICT_DIVERGENCE;
        pct_cli_say("the last run under gdb %s the recorded one (hash %016llx, %llu steps)", same ? "was" : "was NOT",
                    (unsigned long long)trace.header.hash, (unsigned long long)trace.header.steps);
    }
    pct_trace_close(&trace);
}

int pct_debug(const struct pct_launch *launch, const char *token, const char *arguments, const uint64_t *hash)
{
    static const char *words[WORDS_MAX + 1];
    char script[PATH_MAX], facts[PATH_MAX], trace[PATH_MAX];
    wordexp_t more = { 0 };
    if (pct_locate_data("gdb.py", script, sizeof script))
        return pct_cli_usage("gdb.py is not beside pct, nor in ../share/pct: install pct with `make install`");
    int fd = pct_locate_scratch(facts, sizeof facts, false);
    int trace_fd = fd < 0 ? fd : pct_locate_scratch(trace, sizeof trace, true);
    int failed = trace_fd < 0 ? trace_fd : write_facts(launch, token, trace, fd);
    int status = PCT_EXIT_INTERNAL;
    if (failed)
        pct_cli_say("cannot make a scratch file: %s", strerror(-failed));
    else if (!(status = make_command(words, launch, script, facts, arguments, &more))) {
        status = run(launch, words);
        if (hash)
            compare(trace, *hash);
    }
    if (more.we_wordv)
        wordfree(&more);
    if (fd >= 0) {
        unlink(facts);
        close(fd);
    }
    if (trace_fd >= 0) {
        unlink(trace);
        close(trace_fd);
    }
    return status;
}
