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

/* One that waits for what is outside uses next to nothing; one that computes all that the machine gives it. */
static bool computes(double cpu, double seconds, double waited)
{
    return cpu > seconds / 100 && cpu + waited > seconds / 2;
}

static const char *guess(const struct pct_launch *launch, bool computing)
{
    if (!computing)
        return "waits for what is outside of it (input, a connection, a process), or for a call that pct does not see";
    if (launch->patch_level || pct_elf_tells(launch->program))
        return "computes for long, or for ever";
    return "computes, maybe in a loop that waits for memory to change, which --memory=all sees";
}

void pct_long_run_say(const struct pct_process *process)
{
    const double seconds = pct_cli_now() - process->limited;
    const double cpu = pct_descendants_cpu(process->pid), waited = pct_time_limit_all_waited(process->pid);
    const unsigned long long steps = count_steps(process);
    char limit[64] = "--timeout=SECONDS ends such runs";
    if (process->allowed > 0)
        snprintf(limit, sizeof limit, "it is ended after %g s (--timeout)", process->allowed);
    pct_cli_say("the first run has gone on for %.0f s, with %llu step%s and %.1f s of a CPU so far: it %s; %s", seconds,
                steps, steps == 1 ? "" : "s", cpu, guess(process->launch, computes(cpu, seconds, waited)), limit);
}
