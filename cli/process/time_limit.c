/* How long a run may take: see time_limit.h. */
#include "time_limit.h"
#include "descendants.h"
#include "launch.h"
#include <cli/base/cli.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void pct_time_limit_by_default(struct pct_launch *launch, const bool *ok)
{
    static const double run = 60, cut = 5;
    if (launch->timeout > 0)
        return;
    launch->timeout = run;
    launch->limit = (struct pct_time_limit){ .cuts = true, .least = cut, .ok = ok, .again = true };
}

double pct_time_limit_seconds(const struct pct_launch *launch)
{
    const struct pct_time_limit *limit = &launch->limit;
    double far = PCT_TIME_LIMIT_FAR * limit->longest, seconds = launch->timeout;
    if (!limit->cuts)
        return seconds;
    far = far > limit->least ? far : limit->least;
    if (limit->most > 0 && (seconds <= 0 || limit->most < seconds))
        seconds = limit->most;
    if (limit->longest > 0 && (seconds <= 0 || far < seconds))
        seconds = far;
    return seconds;
}

void pct_time_limit_set(struct pct_process *process)
{
    const struct pct_launch *launch = process->launch;
    process->allowed = process->again ? launch->timeout : pct_time_limit_seconds(launch);
    process->cut = process->allowed > 0 && (launch->timeout <= 0 || process->allowed < launch->timeout);
    process->deadline = process->allowed > 0 ? process->limited + process->allowed : 0;
    if (process->last > 0 && (process->deadline <= 0 || process->last < process->deadline)) {
        process->deadline = process->last;
        process->cut = false;
    }
}

bool pct_time_limit_doubts(const struct pct_process *process)
{
    static const unsigned enough = 2;
    const struct pct_time_limit *limit = &process->launch->limit;
    return process->timed_out && process->cut && !process->again && limit->again &&
           (process->slow || limit->endless < enough);
}

bool pct_time_limit_slow(const struct pct_process *process)
{
    return process->pid && pct_descendants_cpu(process->pid) < process->allowed / 2 &&
           pct_descendants_busy(process->pid);
}

bool pct_time_limit_confirms(const struct pct_process *process)
{
    struct pct_time_limit *limit = &process->launch->limit;
    limit->endless = process->timed_out ? limit->endless + 1 : 0;
    return process->timed_out;
}

void pct_time_limit_begin(struct pct_process *process)
{
    process->limited = pct_cli_now();
    pct_time_limit_set(process);
}

/* How long this thread has been there, in seconds: field 22 of proc_pid_stat(5), in clock ticks. */
static double age_of(int pid, const char *task)
{
    char path[300], text[1024];
    unsigned long long made;
    struct timespec now;
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid, task);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = 0;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%llu", &made) != 1 || clock_gettime(CLOCK_BOOTTIME, &now))
        return 0;
    double age = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - (double)made / (double)sysconf(_SC_CLK_TCK);
    return age > 0 ? age : 0;
}

/* The file schedstat: nanoseconds on a CPU and on a run queue, and how often it got a CPU. What it waits for now counts
 * when it is over. False: the kernel does not tell. */
static bool read_schedstat(const char *path, uint64_t *waited, uint64_t *times)
{
    FILE *file = fopen(path, "re");
    bool read = file && fscanf(file, "%*u %" SCNu64 " %" SCNu64, waited, times) == 2;
    if (file)
        fclose(file);
    return read;
}

/* In seconds. One that never got a CPU has waited since it was made, if the kernel counts at all. */
static double waited_of(int pid, const char *task)
{
    char path[300];
    uint64_t waited, times, own, counts;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, task);
    if (!read_schedstat(path, &waited, &times))
        return 0;
    if (!times && read_schedstat("/proc/thread-self/schedstat", &own, &counts) && counts)
        return age_of(pid, task);
    return (double)waited * 1e-9;
}

double pct_time_limit_waited(int pid)
{
    char path[64];
    double waited = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            waited += waited_of(pid, task->d_name);
    if (tasks)
        closedir(tasks);
    return waited;
}

double pct_time_limit_all_waited(int pid)
{
    return pct_descendants_sum(pid, pct_time_limit_waited);
}

void pct_time_limit_extend(struct pct_process *process, double now)
{
    const struct pct_launch *launch = process->launch;
    if (!process->cut || !process->pid)
        return;
    double waited = pct_time_limit_all_waited(process->pid), passed = now - process->limited;
    double seconds = process->allowed + (waited < passed ? waited : passed);
    if (launch->timeout > 0 && seconds > launch->timeout)
        seconds = launch->timeout;
    if (launch->limit.most > 0 && seconds > launch->limit.most)
        seconds = launch->limit.most;
    process->deadline = process->limited + seconds;
}

void pct_time_limit_forgive(struct pct_process *processes, int count, double late)
{
    static const double much = 1;
    for (int i = 0; i < count && late > much; i++) {
        struct pct_process *process = &processes[i];
        if (!process->running)
            continue;
        process->started += late;
        process->limited += late;
        process->deadline += process->deadline > 0 ? late : 0;
    }
}

void pct_time_limit_learn(const struct pct_process *process)
{
    struct pct_time_limit *limit = &process->launch->limit;
    int status = process->status;
    bool passed = WIFEXITED(status) && (limit->ok ? limit->ok[WEXITSTATUS(status)] : !WEXITSTATUS(status));
    if (passed && !process->timed_out && process->seconds > limit->longest)
        limit->longest = process->seconds;
}
