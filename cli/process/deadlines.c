/* Runs that are over their time: see time_limit.h. */
#include "descendants.h"
#include "launch.h"
#include <cli/base/cli.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a target that is over its time has left to write down where its threads are. */
#define LAST_WORD_SECONDS 2

/* Ask the shim for its final report: where each thread is. False: it does not listen. */
static bool ask_for_last_word(const struct pct_process *process)
{
    uint32_t watched = 0, request = 1;
    siginfo_t info = { .si_signo = PCT_TRACE_REQUEST_SIGNAL, .si_code = SI_QUEUE };
    info.si_pid = getpid();
    if (pread(process->trace, &watched, sizeof watched, offsetof(struct pct_trace_header, watched)) != sizeof watched ||
        !watched ||
        pwrite(process->trace, &request, sizeof request, offsetof(struct pct_trace_header, request)) != sizeof request)
        return false;
    /* It may not have begun to look. */
    syscall(SYS_rt_sigqueueinfo, process->pid, PCT_TRACE_REQUEST_SIGNAL, &info);
    return true;
}

/* Whether our library is in the process: the loader maps it before any code runs, long before it starts. */
static bool is_preloaded(const struct pct_process *process)
{
    char first[PATH_MAX], real[PATH_MAX], name[64], line[PATH_MAX + 128];
    const char *library = process->launch->library_path;
    bool found = false;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(library, ":"), library);
    snprintf(name, sizeof name, "/proc/%d/maps", process->pid);
    FILE *maps = process->pid && realpath(first, real) ? fopen(name, "re") : NULL;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        found = path && !strncmp(path, real, strlen(real)) && path[strlen(real)] == '\n';
    }
    if (maps)
        fclose(maps);
    return found;
}

double pct_deadlines_enforce(struct pct_process *processes, int count, double now, double next)
{
    for (int i = 0; i < count; i++) {
        struct pct_process *process = &processes[i];
        if (!process->running || process->asked || process->queued || process->postponed > 0 || process->deadline <= 0)
            continue;
        if (!process->timed_out && process->phase == PCT_PHASE_RUN)
            pct_time_limit_set(process); /* others may have shown since how long runs take */
        if (now >= process->deadline && !process->timed_out)
            pct_time_limit_extend(process, now);
        if (now >= process->deadline) {
            bool asked = process->timed_out;
            process->timed_out = true;
            process->preloaded |= !asked && is_preloaded(process);
            if (!asked) {
                process->waited = process->pid ? pct_time_limit_all_waited(process->pid) : 0;
                process->slow = pct_time_limit_slow(process);
                pct_descendants_describe(process->children_did, sizeof process->children_did, process->pid);
            }
            process->deadline = !asked && process->pid && ask_for_last_word(process) ? now + LAST_WORD_SECONDS : 0;
            if (process->deadline <= 0) {
                pct_drive_kill(process);
                if (process->errand)
                    kill(-process->errand, SIGKILL);
                if (process->pid) {
                    kill(-process->pid, SIGKILL);
                    kill(process->pid, SIGKILL);
                }
                next = now;
            }
        }
        if (process->deadline > 0 && (next <= 0 || process->deadline < next))
            next = process->deadline;
    }
    return next;
}
