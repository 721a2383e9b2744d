/* Processes as the kernel tells of them: see descendants.h. */
#include "descendants.h"
#include <cli/base/grow.h>
#include "live_stack.h"
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct pct_pids *all, pid_t pid)
{
    if (!PCT_GROW(all->pid, all->count, all->room))
        return; /* the rest is found when these have ended */
    all->pid[all->count++] = pid;
}

void pct_pids_add_from(struct pct_pids *all, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "re");
    if (!in)
        return;
    if (getline(&text, &size, in) > 0)
        for (char *at = text, *end;; at = end) {
            long pid = strtol(at, &end, 10);
            if (end == at)
                break;
            add(all, (pid_t)pid);
        }
    free(text);
    fclose(in);
}

void pct_pids_add_children(struct pct_pids *all, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    if (!threads)
        return;
    for (const struct dirent *entry; (entry = readdir(threads));) {
        long tid = strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%d/task/%ld/children", pid, tid);
        if (tid > 0)
            pct_pids_add_from(all, path);
    }
    closedir(threads);
}

struct task {
    char name[32];
    char state;          /* as in /proc/PID/stat; 0: it is gone */
    unsigned long ticks; /* of a CPU that it has used */
    char waits[48];      /* the function of the kernel that it sleeps in; "": not known */
};

/* The beginning of this file; "": there is none. */
static void read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
}

/* What stands in a file `stat` behind the name, which may be anything; NULL: it is gone. */
static const char *read_stat(const char *path, char *text, size_t size)
{
    read_text(path, text, size);
    const char *name = strrchr(text, ')');
    return name ? name + 1 : NULL;
}

char pct_process_state(pid_t pid, pid_t *parent)
{
    char path[64], text[512], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const char *at = read_stat(path, text, sizeof text);
    return at && sscanf(at, " %c %d", &state, parent) == 2 ? state : 0;
}

/* What a file `stat` says behind the name: the state, and the ticks of a CPU that were used. */
static bool parse_stat(const char *at, char *state, unsigned long *ticks)
{
    unsigned long user, system;
    if (!at || sscanf(at, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu", state, &user, &system) != 3)
        return false;
    *ticks = user + system;
    return true;
}

static struct task look(pid_t pid, long tid)
{
    struct task task = { .state = 0 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/stat", pid, tid);
    const char *at = read_stat(path, text, sizeof text), *name = strchr(text, '(');
    if (!name || !parse_stat(at, &task.state, &task.ticks))
        return (struct task){ .state = 0 };
    snprintf(task.name, sizeof task.name, "%.*s", (int)(at - 1 - name - 1), name + 1);
    snprintf(path, sizeof path, "/proc/%d/task/%ld/wchan", pid, tid);
    read_text(path, task.waits, sizeof task.waits);
    if (!strcmp(task.waits, "0"))
        task.waits[0] = 0;
    return task;
}

/* With those of its threads that have ended. */
static double cpu_of(pid_t pid)
{
    char path[64], text[1024], state;
    unsigned long ticks;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (!parse_stat(read_stat(path, text, sizeof text), &state, &ticks))
        return 0;
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void pct_pids_add_descendants(struct pct_pids *all, pid_t first)
{
    pct_pids_add_children(all, first);
    for (size_t i = 0; i < all->count; i++)
        pct_pids_add_children(all, all->pid[i]);
}

double pct_descendants_sum(pid_t first, double (*of)(pid_t pid))
{
    struct pct_pids all = { .count = 0 };
    double sum = of(first);
    pct_pids_add_descendants(&all, first);
    for (size_t i = 0; i < all.count; i++)
        sum += of(all.pid[i]);
    free(all.pid);
    return sum;
}

double pct_descendants_cpu(pid_t first)
{
    return pct_descendants_sum(first, cpu_of);
}

/* How often this thread was given a CPU: the third number of its file schedstat. 0: the kernel does not tell. */
static double turns_of(pid_t pid, long tid)
{
    char path[64], text[128];
    unsigned long turns;
    snprintf(path, sizeof path, "/proc/%d/task/%ld/schedstat", pid, tid);
    read_text(path, text, sizeof text);
    return sscanf(text, "%*u %*u %lu", &turns) == 1 ? (double)turns : 0;
}

/* How often its threads were given a CPU; HUGE_VAL if one of them is on one now, or waits for one, or for a disk. The
 * shim's watchdog, which looks every few milliseconds, does not count: on a busy machine it mostly waits for a CPU. */
static double activity_of(pid_t pid)
{
    char path[64];
    double sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        if (task->d_name[0] != '.') {
            const long tid = atol(task->d_name);
            const struct task is = look(pid, tid);
            if (strcmp(is.name, "pct-watchdog") != 0)
                sum += is.state == 'R' || is.state == 'D' ? HUGE_VAL : turns_of(pid, tid);
        }
    if (tasks)
        closedir(tasks);
    return sum;
}

/* They are looked at one after another, and threads that take turns may each sleep when it is theirs. Those that sleep
 * when they are looked at twice, and had no CPU in between, all slept at the moment between the two. */
bool pct_descendants_busy(pid_t first)
{
    const double before = pct_descendants_sum(first, activity_of);
    return before == HUGE_VAL || pct_descendants_sum(first, activity_of) != before;
}

/* Adds to the text, whole or not at all: false. */
__attribute__((format(printf, 3, 4))) static bool append(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
    if (more >= 0 && (size_t)more < size - length)
        return true;
    text[length] = 0;
    return false;
}

static void describe_thread(char *text, size_t size, long tid, const struct task *task)
{
    if (task->state == 'S' || task->state == 'D')
        append(text, size, ", thread %ld sleeps%s%s", tid, task->waits[0] ? " in " : "", task->waits);
    else
        append(text, size, ", thread %ld %s", tid,
               task->state == 'R'          ? "runs"
               : strchr("Tt", task->state) ? "is stopped"
                                           : "has ended");
}

/* False: there is no room. */
static bool describe(char *text, size_t size, pid_t pid)
{
    enum { THREADS = 8 };
    char path[64], line[800] = "", stacks[3000] = "", stack[600];
    struct task first = look(pid, pid);
    struct Dwfl *process = first.state ? pct_live_open(pid) : NULL;
    unsigned threads = 0;
    unsigned long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = first.state ? opendir(path) : NULL;
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));) {
        long tid = strtol(entry->d_name, NULL, 10);
        struct task task = look(pid, tid);
        ticks += task.ticks;
        if (tid <= 0 || !task.state || threads++ >= THREADS)
            continue;
        describe_thread(line, sizeof line, tid, &task);
        stack[0] = 0;
        if (task.state == 'S' || task.state == 'R') /* others may not stop when they are asked */
            pct_live_stack(process, (pid_t)tid, stack, sizeof stack);
        if (stack[0])
            append(stacks, sizeof stacks, "  thread %ld: %s\n", tid, stack);
    }
    if (tasks)
        closedir(tasks);
    pct_live_close(process);
    if (threads > THREADS)
        append(line, sizeof line, ", and %u more", threads - THREADS);
    return !threads || append(text, size, "child process %d (%s): %.2f s of a CPU used%s\n%s", pid, first.name,
                              (double)ticks / (double)sysconf(_SC_CLK_TCK), line, stacks);
}

void pct_descendants_describe(char *text, size_t size, pid_t first)
{
    struct pct_pids all = { .count = 0 };
    size_t more = 0; /* a stack takes a tenth of a second */
    text[0] = 0;
    pct_pids_add_children(&all, first);
    for (size_t i = 0; i < all.count; i++) {
        if (more || !describe(text, size - PCT_DESCENDANTS_LAST_LINE, all.pid[i]))
            more++;
        pct_pids_add_children(&all, all.pid[i]);
    }
    if (more)
        append(text, size, "%zu more child process%s\n", more, more == 1 ? "" : "es");
    free(all.pid);
}
