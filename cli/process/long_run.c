/* A run that goes on and on: see long_run.h. */
#include "long_run.h"
#include "descendants.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <pct/trace.h>

static uint64_t count_steps(const struct pct_process *process)
{
    struct pct_trace trace;
    char error[256];
    uint64_t steps = 0;
    if (pct_trace_open_fd(&trace, process->trace, error, sizeof error) == PCT_TRACE_GOOD)
        steps = pct_trace_steps(&trace);
    pct_trace_close(&trace);
    return steps;
}

/* One that waits for what is outside uses next to nothing; one that computes all that the machine gives it, also at
 * this moment: what it had to wait for a CPU when it began, on a machine with much to do, says nothing. */
static bool computes(const struct pct_process *process, double cpu, double seconds, double waited)
{
    return cpu > seconds / 100 && cpu + waited > seconds / 2 && pct_descendants_busy(process->pid);
}

static const char *guess(const struct pct_launch *launch, bool computing)
{
    if (!computing)
        return "waits for what is outside of it (input, a connection, a process), or for a call that pct does not see";
    if (launch->patch_level || pct_elf_tells(launch->program))
        return "computes for long, or for ever";
    return "computes, maybe in a loop that waits for memory to change, which --memory=all sees";
}

double pct_long_run_due(const struct pct_process *process)
{
    static const double least = 10;
    const double far = PCT_TIME_LIMIT_FAR * process->launch->limit.longest;
    return process->limited + (far > least ? far : least);
}

void pct_long_run_say(const struct pct_process *process)
{
    const double seconds = pct_cli_now() - process->limited;
    const double cpu = pct_descendants_cpu(process->pid), waited = pct_time_limit_all_waited(process->pid);
    const unsigned long long steps = count_steps(process);
    char limit[64] = "--timeout=SECONDS ends such runs";
    if (process->allowed > 0)
        snprintf(limit, sizeof limit,
                 process->cut ? "it is cut after %.0f s without waits for a CPU" : "it is ended after %g s (--timeout)",
                 process->allowed);
    pct_cli_say("%s run has gone on for %.0f s, with %llu step%s and %.1f s of a CPU so far: it %s; %s",
                process->launch->reaped ? "a" : "the first", seconds, steps, steps == 1 ? "" : "s", cpu,
                guess(process->launch, computes(process, cpu, seconds, waited)), limit);
}

void pct_long_run_say_again(const struct pct_process *process)
{
    char longest[64];
    pct_cli_say(
        "a run took more than %.0f s, far longer than the others (at most %s), and was cut: it is made again, and is "
        "a timeout if it then takes %g s: %s",
        process->allowed, pct_cli_format_duration(longest, sizeof longest, process->launch->limit.longest),
        process->launch->timeout, process->token);
}
