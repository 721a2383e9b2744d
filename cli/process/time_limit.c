/* How long a run may take: see time_limit.h. */
#include "time_limit.h"
#include "launch.h"
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
}

void pct_time_limit_learn(const struct pct_process *process)
{
    struct pct_time_limit *limit = &process->launch->limit;
    int status = process->status;
    bool passed = WIFEXITED(status) && (limit->ok ? limit->ok[WEXITSTATUS(status)] : !WEXITSTATUS(status));
    if (passed && !process->timed_out && process->seconds > limit->longest)
        limit->longest = process->seconds;
}
