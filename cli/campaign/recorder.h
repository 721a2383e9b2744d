/* Keeps what comes of a campaign: the observer that `pct campaign` gives to the engine of campaign.c. It asks the
 * oracle about each run, folds failures into findings, confirms these by replays, and writes all to the campaign file.
 */
#ifndef PCT_CLI_RECORDER_H
#define PCT_CLI_RECORDER_H

#include "ahead.h"
#include "campaign.h"
#include "coverage.h"
#include "oracle.h"
#include "store.h"

enum { PCT_RECORDER_REPLAYS = 10 };

/* What the guarantee depends on, of all runs is the most of any: members of struct pct_campaign, and facts of the file.
 */
#define PCT_RECORDER_MOST(X)                                                                                           \
    X(choices)                                                                                                         \
    X(left)                                                                                                            \
    X(deadlines)                                                                                                       \
    X(fixed_deadlines)                                                                                                 \
    X(passed_over)                                                                                                     \
    X(randoms)                                                                                                         \
    X(images_open)                                                                                                     \
    X(hardware)                                                                                                        \
    X(locks_inline)                                                                                                    \
    X(points_at)

struct pct_recorder_finding {
    int64_t id;
    uint64_t signature;
    uint64_t hash; /* of the first run's trace, 0: unknown */
    bool confirmed;
    bool late; /* its runs do not end: it is replayed behind the last run, so that nothing has to wait for that */
    char token[PCT_TOKEN_MAX]; /* without the hash */
    uint64_t uncontrolled[PCT_UNCONTROLLED_COUNT];
};

struct pct_recorder {
    struct pct_campaign_observer observer; /* the first member */
    const char *path;
    struct pct_store *store;
    struct pct_oracle *oracle;
    bool quiet;
    struct pct_coverage *coverage;
    struct pct_recorder_finding *findings;
    size_t count;
    struct pct_ahead ahead; /* failures that are not counted yet */
    double begun, committed, drawn;
    bool broken; /* the file cannot be written to */
    struct {
#define PCT_MEMBER(name) uint64_t name;
        PCT_RECORDER_MOST(PCT_MEMBER)
#undef PCT_MEMBER
        uint64_t below;
        uint64_t open; /* runs up to this number were cut, or failed behind one that was */
    } stored;          /* of pct_campaign, as the file has it */
    bool dirty;        /* something was added since the last commit */
    const char *trace; /* the file that replays the next failure, whose token is ""; NULL: its token does */
};

/* Take up what the file has, for a campaign that goes on: the numbers of the runs that are done go into c. Returns 0,
 * or an exit status after a message. */
int pct_recorder_open(struct pct_recorder *recorder, struct pct_campaign *c);

/* Of an exploration, which has no observer of ours (cli/explore/keep.c): take up the findings that the file has; keep
 * this failure of run number `number`, whose finding is *id then; confirm all findings that were not yet; write down
 * what was added, now or when it is time to. All return 0 or an exit status after a message. */
int pct_recorder_attach(struct pct_recorder *recorder, const struct pct_campaign *c);
int pct_recorder_add_failure(struct pct_recorder *recorder, struct pct_campaign *c, struct pct_process *process,
                             const struct pct_result *result, uint64_t number, int64_t *id);
int pct_recorder_confirm(struct pct_recorder *recorder, struct pct_campaign *c);
int pct_recorder_commit(struct pct_recorder *recorder, bool now);

/* Say why the file cannot be written to: `error` is what the store returned. Returns the exit status. */
int pct_recorder_fail(struct pct_recorder *recorder, int error);

/* After the last run: confirm what is not yet confirmed, unless status (the engine's) says that there is no time for
 * it, and write all. Returns the exit status: status, or that of a failure here. */
int pct_recorder_finish(struct pct_recorder *recorder, struct pct_campaign *c, int status);
void pct_recorder_close(struct pct_recorder *recorder);

/* Whether a finding is not confirmed by replays: these would kill pct once more, as the run did twice; or it has no
 * token. */
bool pct_recorder_never_replays(const struct pct_store_finding *finding);

/* Whether something failed, or was cut, that is none of the file's runs yet: of a campaign that was interrupted. runs:
 * how many it has. */
bool pct_recorder_is_open(struct pct_store *store, uint64_t runs);

/* Take the numbers of the runs in the file into c. For recorders and reports. Returns 0 or a negative errno. */
int pct_recorder_restore(struct pct_store *store, struct pct_campaign *c);

#endif
