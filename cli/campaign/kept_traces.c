/* Traces that are kept: see kept_traces.h. */
#include "kept_traces.h"
#include "campaign.h"
#include <cli/base/cli.h>
#include <cli/process/core_dumps.h>
#include <cli/process/setup_teardown.h>
#include <stdio.h>
#include <sys/wait.h>

static void keep_core(const struct pct_campaign *c, const struct pct_process *process, const struct pct_result *result)
{
    char directory[PATH_MAX], path[PATH_MAX], why[2 * PATH_MAX];
    if (!WIFSIGNALED(process->status) || !WCOREDUMP(process->status))
        return;
    pct_setup_teardown_directory(&c->launch, process->worker, directory, sizeof directory);
    snprintf(path, sizeof path, "%s/seed-%llu.core", c->save, (unsigned long long)pct_campaign_seed(c, process->index));
    if (!pct_core_dumps_keep(result->trace.header.pid, directory, path, why, sizeof why))
        pct_cli_say("the core was not kept: %s", why);
}

void pct_kept_traces_keep(const struct pct_campaign *c, const struct pct_process *process,
                          const struct pct_result *result, bool failed)
{
    char error[256];
    if (failed && c->save)
        keep_core(c, process, result);
    if (result->unrecorded)
        return;
    bool wanted = c->keep && (failed ? c->failures == 1 : c->runs == 1);
    if (wanted && pct_trace_save(&result->trace, c->keep, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", c->keep, error);
    if (!failed || !c->save)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%llu.trace", c->save,
             (unsigned long long)pct_campaign_seed(c, process->index));
    if (!pct_trace_may_replace(path, error, sizeof error) || pct_trace_save(&result->trace, path, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", path, error);
}
