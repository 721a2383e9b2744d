/* How long a run may take: see time_limit.h. */
#include "time_limit.h"
#include "launch.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

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
    process->allowed = pct_time_limit_seconds(launch);
    process->cut = process->allowed > 0 && (launch->timeout <= 0 || process->allowed < launch->timeout);
    process->deadline = process->allowed > 0 ? process->started + process->allowed : 0;
    if (process->last > 0 && (process->deadline <= 0 || process->last < process->deadline)) {
        process->deadline = process->last;
        process->cut = false;
    }
}

/* The second number: nanoseconds on a run queue. */
static uint64_t waited_of(int pid, const char *task)
{
    char path[300];
    uint64_t ran, waited = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, task);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
        waited = 0;
    fclose(file);
    return waited;
}

double pct_time_limit_waited(int pid)
{
    char path[64];
    uint64_t waited = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            waited += waited_of(pid, task->d_name);
    if (tasks)
        closedir(tasks);
    return (double)waited * 1e-9;
}

void pct_time_limit_extend(struct pct_process *process, double now)
{
    const struct pct_launch *launch = process->launch;
    if (!process->cut || !process->pid)
        return;
    double waited = pct_time_limit_waited(process->pid), passed = now - process->started;
    double seconds = process->allowed + (waited < passed ? waited : passed);
    if (launch->timeout > 0 && seconds > launch->timeout)
        seconds = launch->timeout;
    if (launch->limit.most > 0 && seconds > launch->limit.most)
        seconds = launch->limit.most;
    process->deadline = process->started + seconds;
}

void pct_time_limit_forgive(struct pct_process *processes, int count, double late)
{
    static const double much = 1;
    for (int i = 0; i < count && late > much; i++) {
        struct pct_process *process = &processes[i];
        if (!process->running)
            continue;
        process->started += late;
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
