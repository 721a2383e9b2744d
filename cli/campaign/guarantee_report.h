/* What a campaign without a failure is worth, in words: whether theorem 9 of the PCT paper applies to its runs, what it
 * says, and how many runs a confidence takes. The arithmetic is in guarantee.h. Called by campaign.c and run.c. */
#ifndef PCT_CLI_GUARANTEE_REPORT_H
#define PCT_CLI_GUARANTEE_REPORT_H

#include "campaign.h"

/* Add a run that was looked at: depth as it had it, which for the first run is not that of the others. */
void pct_guarantee_report_add(struct pct_campaign *c, const struct pct_result *result, uint64_t depth, uint64_t steps,
                              uint32_t threads);

/* The same for a run of which only the numbers are left: of an earlier session of the campaign. */
struct pct_guarantee_report_run {
    uint64_t seed, depth, k, steps;
    uint64_t spins;   /* times that the strategy may have lowered a priority by chance, as a thread made no progress */
    uint64_t choices; /* signals and wakes that had several waiters to choose from, and pct_choose() */
    uint32_t threads;
    uint32_t left;                                             /* threads that lived on when the process ended */
    uint64_t deadlines, fixed_deadlines, passed_over, randoms; /* as the trace's header has them */
    bool complete;
};
void pct_guarantee_report_add_run(struct pct_campaign *c, const struct pct_guarantee_report_run *run);

/* Why the theorem says nothing about these runs, as a part of a sentence; NULL if it does. Returns buffer. */
const char *pct_guarantee_report_doubt(const struct pct_campaign *c, char *buffer, size_t size);

/* For --confidence: how many runs in all it takes by what is known now, UINT64_MAX if no number does. */
uint64_t pct_guarantee_report_runs(const struct pct_campaign *c);

/* Take note of a run that does not count: one of the calibration, or a systematic, forced or directed one. Steps and
 * spins of directed ones are no measure of what runs of pct may take: they keep threads waiting for what others poll
 * for, so the claim is of bugs that show in shorter runs, and says so. */
void pct_guarantee_report_see(struct pct_campaign *c, const struct pct_trace *trace, uint64_t steps, uint32_t threads,
                              bool directed);

/* The same of its threads, steps and spins alone. */
void pct_guarantee_report_see_run(struct pct_campaign *c, uint64_t steps, uint32_t threads, uint64_t spins);
void pct_guarantee_report_see_directed_run(struct pct_campaign *c, uint64_t steps, uint32_t threads, uint64_t spins);

/* The same for a campaign whose k is fixed: how many runs it takes from the first one on, by the n and the spins seen
 * so far. */
uint64_t pct_guarantee_report_total(const struct pct_campaign *c);

/* Print that this confidence takes this many runs; and why it was not reached. */
void pct_guarantee_report_print_plan(FILE *out, const struct pct_campaign *c, uint64_t runs);
void pct_guarantee_report_print_shortfall(FILE *out, const struct pct_campaign *c);

/* Print the guarantee, or why there is none, after a clean campaign; for --confidence also what became of it. */
void pct_guarantee_report_print(FILE *out, const struct pct_campaign *c, bool quiet);

/* Whether the confidence that was asked for is reached. True if none was. */
bool pct_guarantee_report_reached(const struct pct_campaign *c);

/* For the tests: a probability of at most exp(log_miss), never rounded down. Returns buffer. */
const char *pct_guarantee_report_format_miss(char *buffer, size_t size, double log_miss);

#endif
