/* `pct replay --gdb` and `--lldb`: see debug.h. The debugger starts the target itself, under the environment that a
 * replay would give it; what it needs to know for that stands in a file of JSON, which
 * cli/command/debug/pct_commands.py reads. */
#include <cli/base/json.h>
#include "debug.h"
#include <cli/base/cli.h>
#include <cli/process/environment.h>
#include <cli/trace/trace_export.h>
#include <cli/binary/locate.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

enum { WORDS_MAX = 4096 };

/* The variables by which a replay's environment differs from ours. */
static struct json_object *make_environment(const struct pct_launch *launch, const char *token, const char *trace)
{
    /* Debuggers start programs by their path; the room that this takes beside the stack is part of the reckoning. */
    char **command = launch->command, *own = command[0];
    struct pct_process process = { .launch = (struct pct_launch *)(uintptr_t)launch,
                                   .command = command,
                                   .cpu = -1,
                                   .extras = { .sites = launch->sites } };
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
    /* What show_modules() changes. */
    const char *python = getenv("PYTHONPATH");
    json_object_object_add(facts, "python_path", python ? json_object_new_string(python) : NULL);
    json_object_object_add(facts, "trace", json_object_new_string(trace));
    json_object_object_add(facts, "token", json_object_new_string(token));
    char input[PATH_MAX];
    bool own = launch->stdin_given && realpath(launch->stdin_file, input);
    json_object_object_add(facts, "input", own ? pct_json_text(input, strlen(input)) : NULL);
    json_object_object_add(facts, "aslr", json_object_new_boolean(launch->aslr));
    struct json_object *verdicts = json_object_new_array();
    for (unsigned i = 0; i < PCT_VERDICT_COUNT; i++)
        json_object_array_add(verdicts, json_object_new_string(pct_name_verdict(i)));
    json_object_object_add(facts, "verdicts", verdicts);
    pct_json_print_line(out, facts);
    return fclose(out) ? -errno : 0;
}

static const struct debugger {
    const char *name;        /* of its program, its option, and of Debian's package */
    const char *script;      /* in cli/command/debug/ */
    const char *first[4];    /* its first arguments, NULL: no more */
    const char *tell, *load; /* commands: that say where the facts are, and that load the script, for printf() */
    const char *command;     /* the argument behind which the target's command follows */
} debuggers[] = {
    [PCT_DEBUG_GDB] = { "gdb", "pct_gdb.py", { "-q" }, "python pct_facts = '%s'", "source %s", "--args" },
    [PCT_DEBUG_LLDB] = { "lldb",
                         "pct_lldb.py",
                         { NULL },
                         "script import sys; sys.dont_write_bytecode = True; pct_facts = '%s'",
                         "command script import \"%s\"",
                         "--" },
};

/* The debugger and what it is told, into words; returns 0 or an exit status after a message. */
static int make_command(const struct debugger *debugger, const char **words, const struct pct_launch *launch,
                        const char *script, const char *facts, const char *arguments, wordexp_t *more)
{
    static char tell[PATH_MAX + 32], load[PATH_MAX + 32];
    const char *const execute = debugger == &debuggers[PCT_DEBUG_GDB] ? "-ex" : "-o";
    size_t count = 0;
    snprintf(tell, sizeof tell, debugger->tell, facts);
    snprintf(load, sizeof load, debugger->load, script);
    words[count++] = debugger->name;
    for (const char *const *at = debugger->first; *at; at++)
        words[count++] = *at;
    const char *const ours[] = { execute, tell, execute, load };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        words[count++] = ours[i];
    if (arguments && wordexp(arguments, more, WRDE_NOCMD))
        return pct_cli_usage("--%s: '%s' cannot be split into words", debugger->name, arguments);
    for (size_t i = 0; i < more->we_wordc && count < WORDS_MAX - 3; i++)
        words[count++] = more->we_wordv[i];
    words[count++] = debugger->command;
    words[count++] = launch->program;
    for (char **at = launch->command + 1; *at; at++) {
        if (count == WORDS_MAX)
            return pct_cli_usage("--%s: the command has too many arguments", debugger->name);
        words[count++] = *at;
    }
    words[count] = NULL;
    return 0;
}

/* Debian 12's lldb 14 looks for its Python modules in a folder that does not exist, and then has no Python: show it
 * theirs, which stand beside the program. For the debugger's process only. */
static void show_modules(void)
{
    char path[PATH_MAX], real[PATH_MAX], pattern[PATH_MAX + 64], value[2 * PATH_MAX];
    glob_t found;
    if (pct_locate_command("lldb", path, sizeof path) || !realpath(path, real))
        return;
    *strrchr(real, '/') = 0;
    snprintf(pattern, sizeof pattern, "%s/../lib/python3*/*-packages/lldb/embedded_interpreter.py", real);
    if (!glob(pattern, 0, NULL, &found)) {
        char *folder = found.gl_pathv[0], *end = strstr(folder, "/lldb/embedded_interpreter.py");
        const char *ours = getenv("PYTHONPATH");
        snprintf(value, sizeof value, "%.*s%s%s", (int)(end - folder), folder, ours ? ":" : "", ours ? ours : "");
        setenv("PYTHONPATH", value, 1);
    }
    globfree(&found);
}

/* Returns the child's status as a shell has it. */
static int run(const struct debugger *debugger, const struct pct_launch *launch, const char **words)
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
        signal(SIGTTOU, SIG_DFL);
        if (debugger == &debuggers[PCT_DEBUG_LLDB])
            show_modules();
        execvp(words[0], (char *const *)(uintptr_t)words);
        if (errno == ENOENT)
            pct_cli_say("%s: command not found; Debian's package %s has it%s", words[0], words[0],
                        debugger == &debuggers[PCT_DEBUG_LLDB] ? " (apt-get install lldb), and --gdb the same commands"
                                                               : "");
        else
            pct_cli_say("%s: %s", words[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    int status;
    /* An interrupt is the debugger's: it is in our process group. We wait for it to end. */
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return PCT_EXIT_INTERNAL;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether breakpoints and stepping have left the schedule as it was. False: they, or something else, have not. */
static bool compare(const struct debugger *debugger, const char *path, uint64_t hash)
{
    static struct pct_trace trace;
    char error[256];
    bool same = true;
    if (pct_trace_open(&trace, path, error, sizeof error) == PCT_TRACE_GOOD &&
        trace.header.verdict != PCT_VERDICT_RUNNING) {
        same = trace.header.hash == hash && trace.header.verdict != PCT_VERDICT_DIVERGENCE;
        pct_cli_say("the last run under %s %s the recorded one (hash %016llx, %llu steps)", debugger->name,
                    same ? "was" : "was NOT", (unsigned long long)trace.header.hash,
                    (unsigned long long)trace.header.steps);
    }
    pct_trace_close(&trace);
    return same;
}

int pct_debug(enum pct_debug_with with, const struct pct_launch *launch, const char *token, const char *arguments,
              const uint64_t *hash, bool *same)
{
    static const char *words[WORDS_MAX + 1];
    char script[PATH_MAX], facts[PATH_MAX], trace[PATH_MAX];
    wordexp_t more = { 0 };
    const struct debugger *debugger = &debuggers[with];
    *same = true;
    if (pct_locate_data(debugger->script, script, sizeof script))
        return pct_cli_usage("%s is not beside pct, nor in ../share/pct: install pct with `make install`",
                             debugger->script);
    int fd = pct_locate_scratch(facts, sizeof facts, false);
    int trace_fd = fd < 0 ? fd : pct_locate_scratch(trace, sizeof trace, true);
    int failed = trace_fd < 0 ? trace_fd : write_facts(launch, token, trace, fd);
    int status = PCT_EXIT_INTERNAL;
    if (failed)
        pct_cli_say("cannot make a scratch file: %s", strerror(-failed));
    else if (!(status = make_command(debugger, words, launch, script, facts, arguments, &more))) {
        status = run(debugger, launch, words);
        if (hash)
            *same = compare(debugger, trace, *hash);
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
