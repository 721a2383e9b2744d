/* Runs of given tokens: see batch.h. */
#include "batch.h"
#include <cli/base/cli.h>
#include <cli/process/supervise.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int finish(struct pct_process *process, pct_batch_each *each, void *data)
{
    struct pct_result result;
    pct_process_result(process, &result);
    int failed = each(data, process->index, process, &result);
    pct_result_close(&result);
    pct_process_close(process);
    return failed;
}

int pct_batch_run(struct pct_launch *launch, unsigned jobs, char (*tokens)[PCT_TOKEN_MAX], size_t count,
                  pct_batch_each *each, void *data)
{
    if (jobs > count)
        jobs = (unsigned)count;
    if (pct_supervised_deaths())
        jobs = 1; /* one of them may have killed pct, and should be known */
    struct pct_process *workers = calloc(jobs, sizeof *workers);
    if (!workers) {
        return pct_cli_no_memory("");
    }
    /* As `pct replay` will start them: by exec. */
    enum pct_forking forking = launch->forks.state;
    launch->forks.state = PCT_FORKING_NO;
    int failed = 0;
    size_t next = 0, done = 0;
    while (!failed && done < count) {
        for (unsigned slot = 0; !failed && slot < jobs && next < count; slot++) {
            if (workers[slot].running)
                continue;
            workers[slot].index = next;
            workers[slot].worker = slot;
            failed = pct_process_start(&workers[slot], launch, tokens[next], -1, true);
            next++;
        }
        int ended = -1;
        int signal = failed ? 0 : pct_launch_wait(launch, workers, (int)jobs, 0, &ended);
        if (signal)
            failed = 128 + signal;
        if (!failed && ended >= 0) {
            failed = finish(&workers[ended], each, data);
            done++;
        }
    }
    for (unsigned slot = 0; slot < jobs; slot++)
        if (workers[slot].running) {
            pct_process_kill(&workers[slot], SIGKILL);
            pct_process_close(&workers[slot]);
        }
    launch->forks.state = forking;
    free(workers);
    return failed;
}

int pct_batch_cpu(unsigned jobs, unsigned worker)
{
    cpu_set_t set;
    int cpu = 0;
    if (jobs <= 1 || sched_getaffinity(0, sizeof set, &set) || !CPU_COUNT(&set))
        return -1;
    for (unsigned left = worker % (unsigned)CPU_COUNT(&set); !CPU_ISSET(cpu, &set) || left--; cpu++)
        ;
    return cpu;
}
