/* `pct explain --json`: docs/explain.schema.json has the format. */
#ifndef PCT_CLI_EXPLAIN_JSON_H
#define PCT_CLI_EXPLAIN_JSON_H

#include <cli/analyze/analysis.h>
#include <cli/campaign/diagnosing.h>

/* Write what is known to standard output. diagnosing: it has the diagnoses; NULL: the analysis has been made. trace: of
 * the run that is told of. headline: how that ended, where the trace does not say it itself, or NULL. replay: the
 * command that replays it. Returns 0, or an exit status after a message. */
int pct_explain_json(const struct pct_analysis *analysis, const struct pct_diagnosing *diagnosing,
                     const struct pct_trace *trace, const char *headline, const char *replay);

#endif
