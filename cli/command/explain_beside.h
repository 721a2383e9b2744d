/* The schedule that fails, and the one nearest to it that passes, for `pct explain`. */
#ifndef PCT_CLI_EXPLAIN_BESIDE_H
#define PCT_CLI_EXPLAIN_BESIDE_H

#include <cli/analyze/analysis.h>
#include <stdio.h>

/* Where the two part, and the steps of both from there on: side by side, or where the screen is narrow, one below the
 * other. Where no schedule was found that passes, that, and why. */
void pct_explain_beside(FILE *out, const struct pct_analysis *q);

#endif
