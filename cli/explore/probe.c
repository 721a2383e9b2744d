/* Runs of random schedules, to estimate how many classes there are: see explorer.h and estimate.h. */
#include "explorer.h"
#include "order.h"

int pct_explorer_probe(struct pct_explorer *e, const struct pct_made *made)
{
    struct pct_execution x;
    struct pct_order order;
    if (pct_explored_read(&made->run, &x)) {
        e->unreadable = true;
        return PCT_RUNS_ENOUGH;
    }
    int failed = pct_order_make(&order, &x);
    if (!failed) {
        if (x.blocked)
            pct_estimate_pass(&e->estimate);
        else
            failed = pct_estimate_add(&e->estimate, pct_order_class(&order));
        pct_order_free(&order);
    }
    pct_execution_free(&x);
    if (failed)
        return pct_cli_no_memory("");
    if (made->run.flags & PCT_EXPLORED_CUT)
        e->cut++;
    else if (made->run.flags & PCT_EXPLORED_FAILED)
        failed = pct_explorer_take_failure(e, made, false);
    if (failed)
        return failed;
    uint64_t probes = e->estimate.probes;
    bool used_up = (e->limit && probes >= e->limit) || pct_explorer_is_late(e);
    return probes >= e->probes || used_up ? PCT_RUNS_ENOUGH : 0;
}

int pct_explorer_say_estimate(const struct pct_explorer *e, const struct pct_campaign *c, int interrupted)
{
    struct pct_estimate_result r = pct_estimate_result(&e->estimate);
    char spent[32], all[32];
    unsigned long long probes = e->estimate.probes;
    const char *why = e->unreadable ? "a run left no whole log and trace"
                      : e->cut      ? "runs were cut off by --max-steps or --timeout"
                      : !probes     ? "no run was made"
                                    : NULL;
    pct_cli_format_duration(spent, sizeof spent, e->seconds);
    pct_cli_format_duration(all, sizeof all, r.classes * e->seconds / (double)(probes ? probes : 1));
    pct_explorer_print_findings(e, c, false);
    if (why)
        pct_cli_say("no estimate: %s (%llu random schedules, %s)", why, probes, spent);
    else if (r.open)
        pct_cli_say("estimate: at least %.3g classes of schedules, and how many more is not known: hardly any came "
                    "twice (%zu classes in %llu random schedules, %s)",
                    r.low, e->estimate.count, probes, spent);
    else
        pct_cli_say("estimate: at least about %.3g classes of schedules (95 %%: %.3g to %.3g), %s of runs (%zu classes "
                    "in %llu random schedules, %s)",
                    r.classes, r.low, r.high, all, e->estimate.count, probes, spent);
    if (interrupted)
        return 128 + interrupted;
    if (e->failing || why)
        return e->failing ? 1 : PCT_EXIT_CONFIDENCE;
    /* The lowest that it may be: a program that could be explored is not to be refused. */
    return e->afford > 0 && r.low * e->seconds / (double)probes > e->afford ? PCT_EXPLORER_TOO_MANY : 0;
}
