/* The traces of a campaign's runs that the user wants to have: --trace, and --save with cores. */
#ifndef PCT_CLI_KEPT_TRACES_H
#define PCT_CLI_KEPT_TRACES_H

#include <stdbool.h>

struct pct_campaign;
struct pct_process;
struct pct_result;

/* This run of *c has ended, was counted, and has failed or not: keep its trace, and core, if they are wanted; say why
 * not where that fails. */
void pct_kept_traces_keep(const struct pct_campaign *c, const struct pct_process *process,
                          const struct pct_result *result, bool failed);

#endif
