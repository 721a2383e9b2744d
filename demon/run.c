/* Runs: see run.h. */
#include "run.h"
#include <cli/base/json.h>
#include <cli/binary/elf_facts.h>
#include <cli/trace/schedule.h>
#include <cli/trace/trace_export.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 40 };

/* As a shell finds it. */
static bool find_program(struct demon_program *p)
{
    const char *name = p->command[0], *list = getenv("PATH");
    if (strchr(name, '/'))
        return realpath(name, p->path);
    for (const char *at = list ? list : ""; *at;) {
        size_t length = strcspn(at, ":");
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (!access(path, X_OK) && realpath(path, p->path))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

void demon_program_watch(struct demon_program *p, const struct demon_spec *spec)
{
    size_t length = 0;
    for (int i = 0; i < spec->procs; i++)
        length += (size_t)snprintf(p->functions + length, sizeof p->functions - length, "%s%s", i ? "," : "",
                                   spec->proc[i].name);
}

/* --- What is ours alone, and goes when we do -----------------------------------------------------------------------
 */

static struct {
    volatile pid_t child; /* the run; 0, or less: there is none */
    volatile sig_atomic_t gently, stopped;
    char directory[64];
    int file; /* open on it; -1: it cannot be */
} own = { .file = -1 };

static void remove_files(void)
{
    static const char *const files[] = { "output", "record", "try", "trace", "tried" };
    for (size_t i = 0; own.file >= 0 && i < sizeof files / sizeof *files; i++)
        unlinkat(own.file, files[i], 0);
    rmdir(own.directory);
}

/* The first signal, if it may: no more is begun. Then the run first: it is the command's, which ends it. All that is
 * called may be called in a handler. */
static void go(int signal_number)
{
    pid_t child = own.child;
    if (own.gently && !own.stopped) {
        own.stopped = signal_number;
        return;
    }
    if (child > 0 && !kill(child, signal_number))
        waitpid(child, NULL, 0);
    remove_files();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void tidy_up_when_killed(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction before;
    struct sigaction action = { .sa_handler = go, .sa_flags = SA_NODEFER };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

void demon_program_stop_gently(void)
{
    own.gently = true;
}

int demon_program_stopped(void)
{
    return own.stopped;
}

void demon_program_close(struct demon_program *p)
{
    if (!p->directory[0])
        return;
    remove_files();
    close(own.file);
}

bool demon_program_open(struct demon_program *p, char *error, size_t size)
{
    if (!find_program(p)) {
        snprintf(error, size, "%s: command not found", p->command[0]);
        return false;
    }
    const char *tmp = getenv("TMPDIR");
    if (snprintf(p->directory, sizeof p->directory, "%s/pct-demon-XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
            (int)sizeof p->directory ||
        !mkdtemp(p->directory)) {
        p->directory[0] = 0;
        snprintf(error, size, "no directory for files could be made: %s", strerror(errno));
        return false;
    }
    snprintf(own.directory, sizeof own.directory, "%s", p->directory);
    own.file = open(own.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tidy_up_when_killed();
    p->tells = pct_elf_tells(p->path);
    return true;
}

struct pct_demon_plan *demon_plan_create(const struct demon_program *p, const char *name, uint32_t room,
                                         char path[PATH_MAX])
{
    size_t size = sizeof(struct pct_demon_plan) + room * sizeof(struct pct_demon_point);
    snprintf(path, PATH_MAX, "%s%s%s", strchr(name, '/') ? "" : p->directory, strchr(name, '/') ? "" : "/", name);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    void *at = file < 0 || ftruncate(file, (off_t)size) ? MAP_FAILED
                                                        : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (at == MAP_FAILED)
        return NULL;
    struct pct_demon_plan *plan = at;
    memcpy(plan->magic, PCT_DEMON_MAGIC, sizeof plan->magic);
    plan->room = room;
    return plan;
}

/* Run this command; its output, both streams, into a file. Returns its status as a shell has it. */
static int call(const struct demon_program *p, const char *const *words)
{
    char path[PATH_MAX];
    pid_t child = 0;
    int status = 0;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    snprintf(path, sizeof path, "%s/output", p->directory);
    fflush(NULL);
    if (posix_spawn_file_actions_init(&files))
        return 125;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&files);
        return 125;
    }
    /* Not by fork(), which copies the tables of all that the solver and the debug information have taken. */
    bool failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) ||
                  posix_spawn_file_actions_addopen(&files, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) ||
                  posix_spawn_file_actions_adddup2(&files, 1, 2) ||
                  /* A terminal's Ctrl-C is for us: what it would do to the run looks like a failure. */
                  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) ||
                  posix_spawn(&child, words[0], &files, &attributes, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed)
        return 125;
    own.child = child;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    own.child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *read_output(const struct demon_program *p)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s/output", p->directory);
    FILE *file = fopen(path, "re");
    char *text = file && !fstat(fileno(file), &status) ? calloc(1, (size_t)status.st_size + 1) : NULL;
    if (text && fread(text, 1, (size_t)status.st_size, file) != (size_t)status.st_size)
        text[0] = 0;
    if (file)
        fclose(file);
    return text ? text : calloc(1, 1);
}

static size_t put_command(const struct demon_program *p, const char **words, size_t count)
{
    words[count++] = "--";
    for (char **at = p->command; *at; at++)
        words[count++] = *at;
    words[count] = NULL;
    return count;
}

static size_t length_of(char **command)
{
    size_t count = 0;
    while (command[count])
        count++;
    return count;
}

/* The token of the run, "pct1:...". */
static void take_token(struct demon_result *r)
{
    const char *at = NULL;
    for (const char *next = r->output; (next = strstr(next, "pct1:")); next++)
        at = next;
    if (at)
        snprintf(r->token, sizeof r->token, "%.*s", (int)strcspn(at, "' \n"), at);
}

/* Threads that wait for each other have failed; a test that waits for what only others could do has not. */
static bool has_failed(const struct demon_result *r)
{
    enum { DEADLOCK = 120, LIVELOCK = 121, TIMEOUT = 124 };
    if (r->status == DEADLOCK)
        return strstr(r->output, "the cycle:");
    return r->status && r->status != LIVELOCK && r->status != TIMEOUT;
}

/* Run `pct COMMAND` for one run under this plan; these words, which end with NULL, are more of its options. Returns its
 * status; -1: memory is short. */
static int call_for_run(const struct demon_program *p, const char *command, const char *plan,
                        const uint64_t operations[DEMON_TIMES], const char *const *more)
{
    char strategy[96] = "schedule", timeout[32];
    for (size_t i = 0; i < DEMON_TIMES && operations[i]; i++)
        snprintf(strategy + strlen(strategy), sizeof strategy - strlen(strategy), "%s0.%llu.%d",
                 i ? "-" : ",switches=", (unsigned long long)operations[i], p->thread[i] ? p->thread[i] : 1);
    snprintf(timeout, sizeof timeout, "%g", p->timeout);
    const char **words = calloc(WORDS + length_of(p->command), sizeof *words);
    if (!words)
        return -1;
    const char *first[] = { p->pct,       command,   "-n",         "1",         "--seed",
                            "1",          "--exec",  "--strategy", strategy,    "--functions",
                            p->functions, "--demon", plan,         "--timeout", timeout };
    size_t count = sizeof first / sizeof *first;
    memcpy(words, first, sizeof first);
    if (p->accesses)
        words[count++] = "--memory-points=all";
    if (p->accesses && !p->tells)
        words[count++] = "--memory=all";
    if (p->accesses && p->focus) {
        words[count++] = "--focus";
        words[count++] = p->focus;
    }
    while (*more)
        words[count++] = *more++;
    put_command(p, words, count);
    int status = call(p, words);
    free(words);
    return status;
}

bool demon_run(struct demon_program *p, const char *plan, const uint64_t operations[DEMON_TIMES], const char *trace,
               struct demon_result *result)
{
    const char *const kept[] = { "--brief", "--trace", trace, NULL }, *const none[] = { "--brief", NULL };
    *result = (struct demon_result){ .status = 0 };
    if (trace)
        unlink(trace); /* that of the run before says nothing of one that cannot be made */
    memcpy(result->operations, operations, sizeof result->operations);
    result->status = call_for_run(p, "run", plan, operations, trace ? kept : none);
    if (result->status < 0)
        return false;
    result->output = read_output(p);
    p->runs++;
    take_token(result);
    result->failed = has_failed(result);
    return true;
}

char *demon_run_campaign(struct demon_program *p, const char *plan, const uint64_t operations[DEMON_TIMES],
                         const char *path)
{
    const char *const kept[] = { "--quiet", "--fresh", "--db", path, NULL };
    return call_for_run(p, "campaign", plan, operations, kept) < 0 ? NULL : read_output(p);
}

/* --- What a trace says -------------------------------------------------------------------------------------------- */

/* The trace as lines of JSON, as `pct trace` writes them; by ourselves, so that debug information which the stacks of
 * one run have needed is there for the next. To be freed; "": it cannot be read; NULL: memory is short. */
static char *read_trace(const char *path)
{
    static struct pct_trace trace; /* large */
    struct pct_snapshot snapshot;
    char error[512], *text = NULL;
    size_t size = 0;
    if (pct_trace_open(&trace, path, error, sizeof error) != PCT_TRACE_GOOD)
        return calloc(1, 1);
    FILE *out = open_memstream(&text, &size);
    bool fine = out && !pct_snapshot_read(&snapshot, &trace);
    if (fine) {
        pct_schedule_fill_holders(&snapshot, &trace);
        pct_trace_export_jsonl(
            &(struct pct_trace_export){ .out = out, .trace = &trace, .snapshot = &snapshot, .to = trace.count });
        pct_snapshot_free(&snapshot);
    }
    pct_trace_close(&trace);
    if (out && !fclose(out) && fine)
        return text;
    free(text);
    return NULL;
}

/* The line behind this one; NULL: there is none. */
static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end && end[1] ? end + 1 : NULL;
}

static bool is_step(const char *line)
{
    static const char start[] = "{\"type\":\"step\"";
    return !strncmp(line, start, sizeof start - 1);
}

bool demon_run_has(const char *line, const char *text)
{
    return memmem(line, strcspn(line, "\n"), text, strlen(text));
}

/* Whether it is one of the first thread. */
static bool is_operation(const char *line)
{
    return is_step(line) && demon_run_has(line, "\"thread\":0,") && !demon_run_has(line, "\"op\":\"outside\"");
}

static struct json_object *parse_line(const char *line)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *object =
        tokener ? json_tokener_parse_ex(tokener, line, (int)(strchrnul(line, '\n') - line)) : NULL;
    if (tokener)
        json_tokener_free(tokener);
    return object;
}

static const char *text_of(struct json_object *object, const char *key)
{
    const char *text = json_object_get_string(json_object_object_get(object, key));
    return text ? text : "";
}

static void take_ending(struct json_object *run, struct demon_result *r)
{
    struct json_object *culprit = json_object_object_get(run, "culprit");
    struct json_object *own = json_object_object_get(run, "exit_status");
    /* The program's own status may be one by which pct tells that a run did not end. */
    r->failed |= r->status && own && json_object_get_int(own) == r->status;
    snprintf(r->kind, sizeof r->kind, "%s", text_of(run, "verdict"));
    snprintf(r->text, sizeof r->text, "%s", text_of(run, "text"));
    r->threads = (unsigned)json_object_get_int(json_object_object_get(run, "threads"));
    r->culprit = culprit ? json_object_get_int(culprit) : -1;
}

/* Whether this function is on the thread's stack. */
static bool is_in(struct json_object *thread, const char *function)
{
    struct json_object *stack = json_object_object_get(thread, "stack");
    size_t count = json_object_is_type(stack, json_type_array) ? json_object_array_length(stack) : 0;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(text_of(json_object_array_get_idx(stack, i), "function"), function))
            return true;
    return false;
}

/* Whether it waits for a mutex that this thread holds. */
static bool waits_for(struct json_object *thread, int other)
{
    struct json_object *holder = json_object_object_get(thread, "waits_for_thread");
    return holder && json_object_get_int(holder) == other && !strcmp(text_of(thread, "next_op"), "lock");
}

/* A mutex of the demon thread's that the first one waits for in the test; and the other way round. */
struct cycle {
    bool test, demon;
};

/* Where the first thread was at the end. */
static void take_first(struct json_object *thread, struct demon_result *r)
{
    struct json_object *stack = json_object_object_get(thread, "stack");
    size_t count = json_object_is_type(stack, json_type_array) ? json_object_array_length(stack) : 0;
    struct json_object *top = count ? json_object_array_get_idx(stack, 0) : NULL;
    const char *file = text_of(top, "file");
    snprintf(r->next, sizeof r->next, "%s", text_of(thread, "next_text"));
    snprintf(r->file, sizeof r->file, "%s", *file ? file : "?");
    r->line = json_object_get_int(json_object_object_get(top, "line"));
}

static void take_thread(struct json_object *thread, const char *test, struct demon_result *r, struct cycle *cycle)
{
    const int number = json_object_get_int(json_object_object_get(thread, "thread"));
    const bool in_test = is_in(thread, test);
    r->inside |= number == r->culprit && in_test;
    cycle->test |= number == 0 && waits_for(thread, 1) && in_test;
    cycle->demon |= number == 1 && waits_for(thread, 0);
    if (number)
        return;
    r->in_test = in_test;
    take_first(thread, r);
}

/* Of a thread of ours. */
struct part {
    const char *thread;
    bool begun, ended, others; /* it entered a function; it is finished, or waits for what it does later; others ran in
                                  between, */
    bool resumed;              /* and it again */
};

/* Between its earlier and its later calls the demon thread posts the semaphore that it waits at, which was made before
 * all of the program's. */
static bool is_own_post(const char *line)
{
    return demon_run_has(line, "\"op\":\"sem post\"") && demon_run_has(line, "\"object\":1,");
}

static void take_step(const char *line, struct part *part)
{
    bool own = demon_run_has(line, part->thread);
    bool enters = own && demon_run_has(line, "\"op\":\"enter\"");
    part->others |= part->begun && !part->ended && !own;
    part->resumed |= own && part->others;
    part->begun |= enters;
    part->ended &= !enters;
    part->ended |= own && (demon_run_has(line, "\"op\":\"finish\"") || is_own_post(line));
}

void demon_run_read_trace(const char *trace, const char *test, struct demon_result *r)
{
    struct part demon = { .thread = "\"thread\":1," }, helper = { .thread = "\"thread\":2," };
    struct cycle cycle = { .test = false };
    r->kind[0] = 0;
    r->culprit = -1;
    r->inside = r->in_test = false;
    r->next[0] = 0;
    r->made = 0;
    char *output = read_trace(trace);
    for (const char *line = output; line; line = next_line(line)) {
        if (is_step(line)) {
            r->made += is_operation(line);
            take_step(line, &demon);
            take_step(line, &helper);
            continue;
        }
        struct json_object *object = parse_line(line);
        if (!strcmp(text_of(object, "type"), "run"))
            take_ending(object, r);
        else if (!strcmp(text_of(object, "type"), "thread"))
            take_thread(object, test, r, &cycle);
        json_object_put(object);
    }
    r->acted = demon.begun;
    r->cycle = cycle.test && cycle.demon;
    r->locked = r->cycle && demon.begun && !demon.resumed;
    /* Without a helper, thread 2 is the program's, and what it enters is its own affair. */
    r->whole = demon.begun && demon.ended && !demon.others && !(r->helped && helper.others);
    /* What pct could not do is no failure of the program. */
    r->failed = r->failed && r->kind[0] && strcmp(r->kind, "internal error") != 0;
    free(output);
}

bool demon_replays(struct demon_program *p, const char *plan, const char *token)
{
    const char **words = calloc(WORDS + length_of(p->command), sizeof *words);
    if (!words)
        return false;
    const char *first[] = { p->pct, "replay", "--quiet", "--demon", plan, token };
    memcpy(words, first, sizeof first);
    put_command(p, words, sizeof first / sizeof *first);
    call(p, words);
    char *output = read_output(p);
    bool same = strstr(output, "replayed identically");
    free(words);
    free(output);
    p->runs++;
    return same;
}

void demon_run_each_operation(const char *trace, void (*take)(void *context, const char *line, uint64_t made),
                              void *context)
{
    char *output = read_trace(trace);
    uint64_t made = 0;
    for (const char *line = output; line; line = next_line(line))
        if (is_operation(line))
            take(context, line, made++);
    free(output);
}

/* Of points in the order of their entries. */
struct times {
    const struct pct_demon_point *points;
    uint32_t next, count;
    uint64_t entered, *operations;
};

static void take_time(void *context, const char *line, uint64_t made)
{
    struct times *t = context;
    t->entered += demon_run_has(line, "\"op\":\"enter\"");
    while (t->next < t->count && t->points[t->next].entry == t->entered)
        t->operations[t->next++] = made;
}

void demon_operations(const char *trace, const struct pct_demon_point *points, uint32_t count, uint64_t *operations)
{
    struct times times = { .points = points, .count = count, .operations = operations };
    memset(operations, 0, count * sizeof *operations);
    demon_run_each_operation(trace, take_time, &times);
}
