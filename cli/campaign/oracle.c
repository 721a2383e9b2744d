/* Oracles of runs: see oracle.h. */
#include "oracle.h"
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/base/cli.h>
#include <cli/process/descendants.h>
#include <cli/process/environment.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 << 20, PATIENCE = 2 /* seconds */, KEY_EXPECT = 5400, KEY_ORACLE };

static const struct argp_option options[] = {
    { "expect", KEY_EXPECT, "FILE", 0, "output (standard output and error together) that is not what this file has",
      4 },
    { "oracle", KEY_ORACLE, "COMMAND", 0,
      "this command, run by sh -c, ends with a status other than 0; it reads the output of the run on its standard "
      "input, and has the status in $RUN_STATUS; it decides instead of --ok-status and --expect",
      4 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_oracle *oracle = state->input;
    const struct pct_setting settings[] = {
        { KEY_EXPECT, .text = &oracle->expect },
        { KEY_ORACLE, .text = &oracle->command },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp pct_oracle_argp = { .options = options, .parser = parse };

/* Read what a run wrote (or the file at the descriptor), the last 64 MB of it, but nothing before `from`. The text is
 * NULL if there is no memory; the caller frees it. */
static struct pct_oracle_text read_last(int fd, off_t from)
{
    struct stat status;
    struct pct_oracle_text all = { .from = from };
    off_t end = fd >= 0 && !fstat(fd, &status) ? status.st_size : 0;
    if (end - all.from > MOST)
        all.from = end - MOST;
    size_t room = end > all.from ? (size_t)(end - all.from) : 0;
    all.text = malloc(room + 1);
    if (!all.text)
        return all;
    ssize_t got = 1;
    while (all.size < room && (got = pread(fd, all.text + all.size, room - all.size, all.from + (off_t)all.size)) > 0)
        all.size += (size_t)got;
    all.text[all.size] = 0;
    return all;
}

int pct_oracle_prepare(struct pct_oracle *oracle)
{
    if (!oracle->expect)
        return 0;
    int fd = open(oracle->expect, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode)) {
        int reason = fd < 0 ? errno : EINVAL;
        if (fd >= 0)
            close(fd);
        return pct_cli_usage("--expect=%s: %s", oracle->expect, reason == EINVAL ? "not a file" : strerror(reason));
    }
    oracle->reference = read_last(fd, 0);
    oracle->has_reference = oracle->reference.text;
    close(fd);
    return oracle->has_reference ? 0 : pct_cli_no_memory("");
}

void pct_oracle_close(struct pct_oracle *oracle)
{
    free(oracle->reference.text);
    oracle->reference.text = NULL;
    oracle->has_reference = false;
}

void pct_oracle_print(FILE *out, const struct pct_oracle *oracle)
{
    pct_options_print_ok_status(out, oracle->ok);
    pct_options_print_word(out, "--expect", oracle->expect);
    if (oracle->same)
        fputs("--expect-same ", out);
    pct_options_print_word(out, "--oracle", oracle->command);
}

int pct_oracle_take_reference(struct pct_oracle *oracle, const struct pct_process *process)
{
    oracle->reference = read_last(process->output, process->dropped);
    oracle->has_reference = oracle->reference.text;
    return oracle->has_reference ? 0 : -ENOMEM;
}

/* --- Sanitizers --------------------------------------------------------------------------------------------------- */

/* The line that `at` is in, without its end and without what stands before `from`. */
static void copy_line(char *buffer, size_t size, const char *from, const char *end)
{
    const char *stop = memchr(from, '\n', (size_t)(end - from));
    size_t length = (size_t)((stop ? stop : end) - from);
    snprintf(buffer, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

/* The text behind the first `mark`. */
static const char *behind(const char *output, const char *end, const char *mark)
{
    const char *at = memmem(output, (size_t)(end - output), mark, strlen(mark));
    return at ? at + strlen(mark) : NULL;
}

/* AddressSanitizer, LeakSanitizer, ThreadSanitizer, MemorySanitizer: a report, and then "SUMMARY: AddressSanitizer:
 * KIND PLACE". */
static bool find_sanitizer(const char *output, const char *end, char *buffer, size_t size)
{
    static const char *const heads[] = { "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer",
                                         "WARNING: MemorySanitizer", "ERROR: HWAddressSanitizer" };
    if (!behind(output, end, "Sanitizer"))
        return false;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const char *found = behind(output, end, heads[i]);
        if (!found)
            continue;
        const char *summary = behind(found, end, "SUMMARY: ");
        copy_line(buffer, size, summary ? summary : found - strlen(strchr(heads[i], ' ') + 1), end);
        return true;
    }
    return false;
}

/* UndefinedBehaviorSanitizer: "FILE:LINE:COLUMN: runtime error: ...", and the program goes on. */
static bool find_undefined(const char *output, const char *end, char *buffer, size_t size)
{
    const char *at = output;
    while ((at = behind(at, end, ": runtime error: "))) {
        const char *colon = at - strlen(": runtime error: "), *line = colon;
        while (line > output && line[-1] != '\n')
            line--;
        if (colon > line && isdigit((unsigned char)colon[-1])) {
            copy_line(buffer, size, line, end);
            return true;
        }
    }
    return false;
}

/* valgrind, all tools: "==PID== ERROR SUMMARY: 2 errors from 1 contexts", and the first line of the first error, which
 * is the first behind an empty one that stands before a line with "at 0x". */
static bool find_valgrind(const char *output, const char *end, char *buffer, size_t size)
{
    const char *summary = behind(output, end, "== ERROR SUMMARY: ");
    if (!summary || *summary < '1' || *summary > '9')
        return false;
    copy_line(buffer, size, summary, end);
    const char *at = behind(output, end, "==    at 0x");
    if (!at)
        return true;
    const char *line = at;
    for (int i = 0; i < 2; i++) {
        while (line > output && line[-1] != '\n')
            line--;
        if (!i && line > output)
            line--;
    }
    /* "==123== Invalid read of size 4" and "at 0x109196: main (x.c:5)" */
    const char *what = behind(line, end, "== "), *where = memchr(at, ' ', (size_t)(end - at));
    char error[160], place[160];
    if (!what || !where || what > at)
        return true;
    copy_line(error, sizeof error, what, end);
    copy_line(place, sizeof place, where + 1, end);
    snprintf(buffer, size, "valgrind: %s, %s", error, place);
    return true;
}

bool pct_oracle_find_report(const char *output, size_t output_size, char *buffer, size_t size)
{
    const char *end = output + output_size;
    return find_sanitizer(output, end, buffer, size) || find_undefined(output, end, buffer, size) ||
           find_valgrind(output, end, buffer, size);
}

/* --- Failed tests ------------------------------------------------------------------------------------------------- */

static const char panics[] = " panicked at ";

/* Rust, from 1.95 on: "thread 'NAME' (ID) panicked at PLACE", and each run has other ids. */
static void drop_thread_id(char *line)
{
    char *behind = strstr(line, panics), *at = behind;
    if (!at || at - line < 2 || *--at != ')')
        return;
    while (at > line && isdigit((unsigned char)at[-1]))
        at--;
    if (at - line > 3 && behind - at > 1 && !memcmp(at - 3, "' (", 3))
        memmove(at - 2, behind, strlen(behind) + 1);
}

bool pct_oracle_find_assertion(const char *output, size_t output_size, char *buffer, size_t size)
{
    /* Rust; GoogleTest; Catch2; Python and pytest; C++'s last words about an exception. */
    static const char *const marks[] = { panics, ": Failure\n", ": FAILED:", "AssertionError", "  what():  " };
    const char *end = output + output_size, *first = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = memmem(output, output_size, marks[i], strlen(marks[i]));
        if (at && (!first || at < first))
            first = at;
    }
    if (!first)
        return false;
    while (first > output && first[-1] != '\n')
        first--;
    first += strspn(first, " ");
    copy_line(buffer, size, first, end);
    drop_thread_id(buffer);
    return true;
}

/* --- The output --------------------------------------------------------------------------------------------------- */

/* Of a long output only the last part is kept, and how much of it, depends on when pct has looked: two are the same if
 * they are as far as both are there. What is not there of the other one is left out. */
static bool is_same(struct pct_oracle_text *a, struct pct_oracle_text *b)
{
    struct pct_oracle_text *const later = a->from < b->from ? b : a, *const other = later == a ? b : a;
    size_t more = (size_t)(later->from - other->from);
    bool same = a->from + (off_t)a->size == b->from + (off_t)b->size;
    more = more < other->size ? more : other->size;
    other->text += more;
    other->size -= more;
    other->from = later->from;
    return same && !memcmp(a->text, b->text, a->size);
}

/* Say where the first difference is. */
static void describe_difference(const struct pct_oracle_text *a, const struct pct_oracle_text *b, char *buffer,
                                size_t buffer_size)
{
    size_t at = 0, start = 0, line = 1;
    for (; at < a->size && at < b->size && a->text[at] == b->text[at]; at++)
        if (a->text[at] == '\n') {
            line++;
            start = at + 1;
        }
    char got[128], wanted[128];
    if (start < a->size)
        copy_line(got, sizeof got, a->text + start, a->text + a->size);
    if (start < b->size)
        copy_line(wanted, sizeof wanted, b->text + start, b->text + b->size);
    snprintf(buffer, buffer_size, "line %zu%s is %s%s%s, expected %s%s%s", line, a->from ? " of what is kept" : "",
             start < a->size ? "'" : "", start < a->size ? got : "missing", start < a->size ? "'" : "",
             start < b->size ? "'" : "", start < b->size ? wanted : "the end", start < b->size ? "'" : "");
}

/* --- The oracle --------------------------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void become_oracle(const struct pct_oracle *oracle, const struct pct_launch *launch,
                                                    int output, char **environment)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", output);
    int input = open(output < 0 ? "/dev/null" : path, O_RDONLY); /* from its start */
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    /* Its own words are for people who watch. */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
    execle("/bin/sh", "sh", "-c", oracle->command, NULL, environment);
    _exit(127);
}

static char **oracle_environment(const struct pct_process *process, const struct pct_result *result, char **own)
{
    static char words[4][PCT_TOKEN_MAX + 32];
    size_t count = 0;
    while (own[count])
        count++;
    char **all = calloc(count + 5, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, own, count * sizeof *all);
    bool exited = WIFEXITED(process->status);
    snprintf(words[0], sizeof words[0], "RUN_STATUS=%d", exited ? WEXITSTATUS(process->status) : result->code);
    snprintf(words[1], sizeof words[1], "RUN_SEED=%llu", (unsigned long long)result->trace.header.seed);
    snprintf(words[2], sizeof words[2], "RUN_TOKEN=%s", result->trace.header.token);
    for (size_t i = 0; i < 3; i++)
        all[count + i] = words[i];
    return all;
}

/* To the oracle, and to what it has started. */
static void send(pid_t oracle, int signal)
{
    struct pct_pids all = { .count = 0 };
    pct_pids_add_descendants(&all, oracle);
    kill(oracle, signal);
    for (size_t i = 0; i < all.count; i++)
        kill(all.pid[i], signal);
    free(all.pid);
}

/* Nobody waits for one that may never end. */
static void end(pid_t oracle, int signal)
{
    double last = pct_cli_now() + PATIENCE;
    send(oracle, signal);
    while (!waitpid(oracle, NULL, WNOHANG) && pct_cli_now() < last)
        usleep(5000);
    send(oracle, SIGKILL);
    waitpid(oracle, NULL, 0);
}

/* Wait for its end, or until a signal tells us to end, which is returned; 0: none. Of a failure then, the signal may be
 * the reason: the terminal sends it to both. What else changes meanwhile is looked at before it is waited for
 * (cli/process/launch.c). */
static int await(struct pct_launch *launch, pid_t oracle, int *status)
{
    static const struct timespec none = { 0 }, longest = { .tv_sec = 1 };
    sigset_t ours;
    siginfo_t info;
    int signal = 0;
    pid_t got;
    pct_signals_of_ours(&ours);
    while (!(got = waitpid(oracle, status, WNOHANG)) && !signal)
        if (sigtimedwait(&ours, &info, &longest) > 0)
            signal = pct_signals_heed(launch, &info);
    if (!got)
        end(oracle, signal);
    while (got && *status && !signal && sigtimedwait(&ours, &info, &none) > 0)
        signal = pct_signals_heed(launch, &info);
    if (got < 0)
        *status = -1;
    return signal;
}

/* Ask the oracle: *status is as a shell says it, or -1. Returns a signal that tells us to end, or 0. */
static int ask_oracle(const struct pct_oracle *oracle, struct pct_launch *launch, const struct pct_process *process,
                      const struct pct_result *result, int *status)
{
    char **own = pct_environment_plain(), **environment = own ? oracle_environment(process, result, own) : NULL;
    fflush(NULL);
    pid_t pid = environment ? fork() : -1;
    if (!pid)
        become_oracle(oracle, launch, process->output, environment);
    free(environment);
    free(own);
    *status = -1;
    int signal = pid < 0 ? 0 : await(launch, pid, status);
    if (*status >= 0)
        *status = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
    return signal;
}

static int run_command(const struct pct_oracle *oracle, struct pct_launch *launch, const struct pct_process *process,
                       struct pct_result *result)
{
    int status, signal = ask_oracle(oracle, launch, process, result, &status);
    if (signal || status == 128 + SIGINT)
        return 128 + (signal ? signal : SIGINT); /* there is no verdict, so the run does not count */
    if (status < 0 || status == 126 || status == 127) {
        pct_cli_say("the oracle could not be run: %s", oracle->command);
        return status < 0 ? PCT_EXIT_INTERNAL : status;
    }
    if (status) {
        result->ending = PCT_ENDING_ORACLE;
        snprintf(result->complaint, sizeof result->complaint, "the oracle's status is %d", status);
    }
    result->code = status;
    return 0;
}

int pct_oracle_run(const struct pct_oracle *oracle, struct pct_launch *launch, const struct pct_process *process,
                   struct pct_result *result)
{
    if (result->ending != PCT_ENDING_EXIT && result->ending != PCT_ENDING_CRASH)
        return 0;
    const struct pct_oracle_text output = read_last(process->output, process->dropped);
    if (!output.text)
        return pct_cli_no_memory("");
    struct pct_oracle_text kept = output, reference = oracle->reference;
    int failed = 0;
    if (output.size && pct_oracle_find_report(output.text, output.size, result->complaint, sizeof result->complaint)) {
        result->ending = PCT_ENDING_SANITIZER;
        result->code = result->code ? result->code : 1;
    } else if (result->ending == PCT_ENDING_EXIT && oracle->command) {
        failed = run_command(oracle, launch, process, result);
    } else if (!pct_result_fails(result, oracle->ok) && oracle->has_reference && !is_same(&kept, &reference)) {
        describe_difference(&kept, &reference, result->complaint, sizeof result->complaint);
        result->ending = PCT_ENDING_OUTPUT;
        result->code = 1;
    }
    if (!failed && result->ending == PCT_ENDING_EXIT && !oracle->ok[result->code & 0xff])
        pct_oracle_find_assertion(output.text, output.size, result->complaint, sizeof result->complaint);
    free(output.text);
    return failed;
}
