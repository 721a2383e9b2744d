/* The file of explorations, one for each input: a campaign file with their findings and runs, and of each run what the
 * search needs of it, in the order in which the search took them. What was written down at one time is a whole: a kill
 * at any moment costs the runs since. An exploration that goes on gives the search the runs of the file. */
#ifndef PCT_CLI_EXPLORER_KEEP_H
#define PCT_CLI_EXPLORER_KEEP_H

#include "explorer.h"
#include <cli/campaign/campaign_file.h>
#include <cli/campaign/oracle.h>
#include <cli/campaign/recorder.h>
#include <cli/export/export.h>

struct pct_explorer_keep {
    /* What to do. */
    struct pct_campaign_plan plan; /* its path is the file's */
    struct pct_oracle oracle;
    bool resumes; /* the file has to be there */
    struct pct_exports exports;
    /* Of its own. */
    char bound[32], code[20]; /* facts of the file */
    struct pct_recorder recorder;
    struct pct_explored before; /* the last run of the file */
    uint64_t count;             /* of its runs */
    bool there;                 /* the exploration was in it before us */
    bool restoring;
};

/* Make the file or open it, when all that is to be done is known, before the first run. Returns 0 or an exit status
 * after a message. */
int pct_explorer_keep_open(struct pct_explorer_keep *keep, struct pct_explorer *explorer,
                           struct pct_campaign *campaign);
/* What was kept since is worth nothing: have the file as it was when it was opened, if there is one. For
 * --engine=restore alone. Then it can only be closed. Returns 0 or an exit status, after a message. */
int pct_explorer_keep_recall(struct pct_explorer_keep *keep);
void pct_explorer_keep_close(struct pct_explorer_keep *keep);

/* A hash of what runs beside the program's own file: its libraries, and pct's in it. What was verified of others is not
 * verified of these. Of a launch that is prepared. */
void pct_explorer_hash_code(char *text, size_t size, const struct pct_launch *launch);

/* The functions of the observer (campaign.h). */
int pct_explorer_keep_classify(struct pct_explorer_keep *keep, struct pct_campaign *campaign,
                               struct pct_process *process, struct pct_result *result);

/* The first run was made: if it is that of the file, take all runs of that, which explorer->resumed counts. Returns 0
 * or an exit status after a message: the file's runs are not of this program as it is now. */
int pct_explorer_keep_resume(struct pct_explorer_keep *keep, struct pct_explorer *explorer,
                             struct pct_campaign *campaign, const struct pct_made *made);

/* Keep a run that was taken; its log and records are the file's then. */
int pct_explorer_keep_add(struct pct_explorer_keep *keep, struct pct_explorer *explorer, struct pct_campaign *campaign,
                          struct pct_made *made);

/* Where the trace of run `number` (from 0) stands beside the file, if its schedule failed and is too long for a token.
 */
void pct_explorer_keep_trace(const struct pct_explorer_keep *keep, uint64_t number, char *path, size_t size);

/* Write down what was kept, now or when it is time to. */
int pct_explorer_keep_commit(struct pct_explorer_keep *keep, bool now);

/* Replay the findings that were not, ten times each. */
int pct_explorer_keep_confirm(struct pct_explorer_keep *keep, struct pct_campaign *campaign);

/* It has ended: keep the last line, and write the reports. whole: of a shard that was explored to its end, what merge.h
 * needs of it; else "". Returns 0 or an exit status after a message. */
int pct_explorer_keep_finish(struct pct_explorer_keep *keep, const struct pct_explorer *explorer, const char *verdict,
                             const char *whole);

#endif
