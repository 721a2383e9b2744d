/* Between the command line of `pct campaign` and the campaign file: what stands in its facts, and whether a file is of
 * the campaign that is asked for. */
#ifndef PCT_CLI_CAMPAIGN_FILE_H
#define PCT_CLI_CAMPAIGN_FILE_H

#include "campaign.h"
#include "oracle.h"
#include "store.h"

struct pct_campaign_plan {
    const char *path;   /* --db */
    uint64_t total;     /* -n: runs of all shards together */
    bool counted;       /* -n is given */
    uint64_t shard, of; /* from 1; 1 of 1: all runs */
    bool drawn;         /* the seed was not given */
    bool has_epoch;     /* the epoch was given */
    const char *memo;   /* --memo; NULL: not given */
    const char *bound;  /* of an exploration: "no", or the most preemptions; NULL: it is none */
    const char *code;   /* of an exploration: a hash of all code beside the program's file */
};

/* --fresh: a campaign file of this name makes room, as FILE.old. Nobody else's file does. Returns 0 or PCT_EXIT_USAGE
 * after a message. */
int pct_campaign_file_move_away(const char *path);

/* Whether a new file has a place: it shall not turn out after the first runs that there is none. Returns likewise. */
int pct_campaign_file_check_place(const char *path);

/* Make the file of a new campaign, which is calibrated. Returns 0 or an exit status after a message. */
int pct_campaign_file_create(const struct pct_campaign *c, const struct pct_campaign_plan *plan,
                             const struct pct_oracle *oracle, bool differs);

/* Of a file of explorations that is written to: choose that of this input, which is the command, the program and the
 * options of its runs. *there: there is one. Returns 0 or an exit status after a message. */
int pct_campaign_file_choose(struct pct_store *store, const struct pct_campaign *c,
                             const struct pct_campaign_plan *plan, bool *there);

/* There is none: add it, and choose it. Returns likewise. */
int pct_campaign_file_add(struct pct_store *store, const struct pct_campaign *c, const struct pct_campaign_plan *plan,
                          const struct pct_oracle *oracle);

/* The file, or its part that is chosen, is of this campaign: take what was not given from it (seed, epoch, k, the
 * number of runs). Otherwise say what differs, and the way out. Returns 0 or PCT_EXIT_USAGE after a message. */
int pct_campaign_file_match(struct pct_store *store, struct pct_campaign *c, struct pct_campaign_plan *plan,
                            const struct pct_oracle *oracle);

/* Take the seed and the epoch from the file, where they were not given, to make the calibration's runs again. Returns 0
 * or an exit status after a message. */
int pct_campaign_file_adopt(struct pct_campaign *c, const struct pct_campaign_plan *plan);

/* Whether there is a file with runs, or one that cannot be looked at: nothing can be added to what it began with. */
bool pct_campaign_file_has_runs(const char *path);

/* The runs of the file are the first ones of this campaign, without a gap. Otherwise says so. Returns 0 or
 * PCT_EXIT_USAGE. */
int pct_campaign_file_check_runs(struct pct_store *store, const struct pct_campaign *c,
                                 const struct pct_campaign_plan *plan);

/* For reports: the configuration of a file's campaign and the numbers of its runs. False: it cannot be known here, as
 * its strategy is not there. */
bool pct_campaign_file_restore(struct pct_store *store, struct pct_campaign *c);

/* How many of `total` runs this shard has. */
uint64_t pct_campaign_file_share(uint64_t total, uint64_t shard, uint64_t of);

#endif
