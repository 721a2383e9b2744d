/* The findings of a campaign (recorder.h), as they are in memory and in its file. All is called on the command's only
 * thread. */
#ifndef PCT_CLI_RECORDED_FINDINGS_H
#define PCT_CLI_RECORDED_FINDINGS_H

#include "recorder.h"

struct pct_signature;

/* The finding with this signature; NULL: there is none yet. Valid until one is added. */
struct pct_recorder_finding *pct_recorded_findings_find(struct pct_recorder *r, uint64_t signature);

/* Add the failure of this run, the first one with its signature. *id is its number then. Returns 0, -ENOMEM, or the
 * store's negative errno. */
int pct_recorded_findings_add(struct pct_recorder *r, struct pct_campaign *c, const struct pct_process *process,
                              const struct pct_result *result, const struct pct_signature *signature, uint64_t seed,
                              int64_t *id);

/* For pct_store_each_finding(): take it up into the recorder `data`. Returns 0 or -ENOMEM. */
int pct_recorded_findings_restore(void *data, const struct pct_store_finding *finding);

/* A token as the target gets it, without the hash, into PCT_TOKEN_MAX bytes. */
void pct_recorded_findings_strip(char *to, const char *token);

/* What could not be ordered, a line for each kind, by these PCT_UNCONTROLLED_COUNT counts. The caller frees it; NULL:
 * out of memory. */
char *pct_recorded_findings_uncontrolled(const uint64_t *counts);

#endif
