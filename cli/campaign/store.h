/* The campaign file: one SQLite database with the runs and findings of a campaign. docs/CAMPAIGN-FILE.md has the tables
 * and why they are written the way they are. All of SQLite is behind this interface.
 *
 * Order of calls, for a campaign: pct_store_look(); pct_store_create() or not; pct_store_open(..., true);
 * pct_store_add_*() ... pct_store_commit() ...; pct_store_close(). For readers: pct_store_open(..., false),
 * pct_store_each_*(), pct_store_close(). The functions that return int return 0, or a negative errno after which
 * pct_store_error() has one line for the user: -ENOSPC when the disk is full, -EBUSY when another campaign writes to
 * the file, -EINVAL when the file is foreign, newer or damaged, -EIO otherwise. */
#ifndef PCT_CLI_STORE_H
#define PCT_CLI_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCT_STORE_APPLICATION 0x70637463u /* "pctc" */
#define PCT_STORE_VERSION 1

/* What is at a path. */
enum pct_store_state {
    PCT_STORE_ABSENT, /* nothing: pct_store_create() may make it */
    PCT_STORE_OURS,   /* a campaign file, as far as its first bytes say */
    PCT_STORE_FOREIGN,
    PCT_STORE_NEWER
};

/* Look at the first bytes of the file, without SQLite. On FOREIGN and NEWER, error has one line with the way out,
 * without the file's name. */
enum pct_store_state pct_store_look(const char *path, char *error, size_t size);

struct pct_store_fact {
    const char *key, *value;
};

/* Make a file with these facts (ended by a NULL key). It appears under its name when it is whole; one that is there
 * already is never replaced. Returns 0 or a negative errno after a message in error. */
int pct_store_create(const char *path, const struct pct_store_fact *facts, char *error, size_t size);

struct pct_store;

/* What belongs to a file of SQLite by its name alone: a new file of this name would be taken for the old one, with what
 * that has not moved into it yet. log: the name of what is there. */
bool pct_store_has_log(const char *path, char *log, size_t size);

/* Open and check a campaign file. write: for adding to it. NULL: a line in error says why, and the way out; the file
 * was not changed; errno is EBUSY if another campaign writes to it. */
struct pct_store *pct_store_open(const char *path, bool write, char *error, size_t size);

/* Of a writer: remember what the file has now; and have it so again, whatever was committed since: then the store can
 * only be closed. */
int pct_store_remember(struct pct_store *store);
int pct_store_recall(struct pct_store *store);

/* Close it; a writer's last commit must have been made, what was added since is forgotten. */
void pct_store_close(struct pct_store *store);

/* Why the last call failed. Valid until the next one. */
const char *pct_store_error(const struct pct_store *store);

/* --- Parts -------------------------------------------------------------------------------------------------------- */

/* A file of explorations has a part for each input; that of a campaign is one part. All other functions are about the
 * part that was chosen last: first the first one. */
unsigned pct_store_parts(struct pct_store *store);      /* how many there are */
unsigned pct_store_part(const struct pct_store *store); /* which is chosen, from 1 */

/* The first part that has these facts (ended by a NULL key); 0: none has. */
unsigned pct_store_find_part(struct pct_store *store, const struct pct_store_fact *facts);

/* Choose a part, from 1 to pct_store_parts(); before pct_store_begin_session() and what has rows of its own. */
int pct_store_choose(struct pct_store *store, unsigned part);

/* Of a writer: a further part with these facts (ended by a NULL key), which is chosen then. */
int pct_store_add_part(struct pct_store *store, const struct pct_store_fact *facts);

/* --- Facts -------------------------------------------------------------------------------------------------------- */

/* The value of a fact, "" if there is none; valid until the store is closed. */
const char *pct_store_fact(struct pct_store *store, const char *key);
uint64_t pct_store_number(struct pct_store *store, const char *key);

/* --- Writing ------------------------------------------------------------------------------------------------------ */

struct pct_store_run {
    uint64_t seed, k, depth;
    int code;
    int64_t finding; /* 0: it did not fail */
    uint64_t steps, points, spins, switches, preemptions;
    uint32_t threads;
    bool complete;
    bool other;      /* it had other scheduling points than the campaign's, */
    bool systematic; /* or was not drawn, */
    bool forced;     /* or was to force a cycle of locks, */
    bool directed;   /* or an iRoot: none of these counts for the guarantee */
    uint64_t hash;
};

struct pct_store_finding {
    int64_t id;         /* 0 for pct_store_add_finding(), which gives it one */
    uint64_t signature; /* 0 is none */
    const char *verdict, *title, *message, *token, *replay, *report, *uncontrolled, *file;
    const void *output;
    size_t output_size;
    int code, line;
    uint64_t seed;
    uint64_t count; /* of its runs, and of those whose schedule was drawn; reading only */
    uint64_t drawn;
    unsigned replays, same, other, identical;
};

struct pct_store_frame {
    int64_t finding;
    unsigned stack, level, thread;
    const char *doing, *function, *file, *module;
    int line;
    uint64_t offset;
};

/* Set a fact, new or not. */
int pct_store_set_fact(struct pct_store *store, const char *key, const char *value);

struct pct_store_session {
    int64_t started; /* seconds since 1970 */
    double seconds;
    uint64_t runs;
    unsigned jobs;
};
int pct_store_add_session(struct pct_store *store, const struct pct_store_session *session);

/* A new session: when it began. Its seconds and runs are written with each commit. */
int pct_store_begin_session(struct pct_store *store, int64_t started, unsigned jobs);

/* Returns -EEXIST when there is a run with this seed. */
int pct_store_add_run(struct pct_store *store, const struct pct_store_run *run);

int pct_store_add_finding(struct pct_store *store, struct pct_store_finding *finding);
int pct_store_add_frame(struct pct_store *store, const struct pct_store_frame *frame);
int pct_store_add_pair(struct pct_store *store, uint64_t pair, uint64_t seed);
int pct_store_add_uncontrolled(struct pct_store *store, unsigned kind, const char *name, uint64_t count);

/* What came of confirming this finding: replays, same, other, identical and uncontrolled; and report, if not NULL, is
 * text that goes before the report, file and line another place. */
int pct_store_confirm(struct pct_store *store, const struct pct_store_finding *finding);

/* A run of an exploration (cli/explore/keep.h), in the order in which the search took them. */
struct pct_store_explored {
    uint64_t number;  /* from 0 */
    uint64_t plan;    /* a hash of what it was to begin with */
    uint64_t failure; /* its finding's signature, if it failed */
    uint32_t flags, threads, doubts, assumes;
    const void *log; /* packed */
    size_t size;
};

/* The file is one of an exploration: before the others of these. */
int pct_store_begin_explored(struct pct_store *store);
bool pct_store_has_explored(struct pct_store *store); /* merged ones do not */
int pct_store_add_explored(struct pct_store *store, const struct pct_store_explored *run);
int pct_store_each_explored(struct pct_store *store, int (*each)(void *data, const struct pct_store_explored *run),
                            void *data);

/* Of a campaign that looks at iRoots (directed.h): a place in the code, and an iRoot of such places, with the first
 * runs (from 1) that have predicted and exposed it; 0: none has. number: among the predicted ones, in their order,
 * from 1. Adding one that is there adds what it says. */
struct pct_store_place {
    uint32_t number, op, code;
    int line, begins; /* of the place, and of its function; 0: not known */
    const char *function, *file;
};
struct pct_store_iroot {
    bool further; /* it was guessed, or is a combined one */
    uint32_t idiom, place[4];
    uint64_t number, predicted, exposed;
};
struct pct_store_chance {
    uint64_t number; /* of the iRoot */
    uint64_t run, step[3];
    uint32_t thread[2], first;
    uint64_t visits;   /* of A in the lowest byte, then of B, C, D; then how many reads change */
    uint64_t segments; /* the first in the lowest byte */
};
int pct_store_begin_iroots(struct pct_store *store); /* before the others that add */
bool pct_store_has_iroots(struct pct_store *store);  /* its runs were looked at */
bool pct_store_is_directed(struct pct_store *store); /* what they were was decided by that (directed.h) */
int pct_store_add_place(struct pct_store *store, const struct pct_store_place *place);
int pct_store_add_iroot(struct pct_store *store, const struct pct_store_iroot *root);
int pct_store_add_chance(struct pct_store *store, const struct pct_store_chance *chance);
int pct_store_each_place(struct pct_store *store, int (*each)(void *data, const struct pct_store_place *place),
                         void *data);
int pct_store_each_iroot(struct pct_store *store, int (*each)(void *data, const struct pct_store_iroot *root),
                         void *data);

/* None where an earlier version wrote the file. */
int pct_store_each_further(struct pct_store *store, int (*each)(void *data, const struct pct_store_iroot *root),
                           void *data);
int pct_store_each_chance(struct pct_store *store, int (*each)(void *data, const struct pct_store_chance *chance),
                          void *data);

/* Of a place's code (pct_store_place.code): where it is, for other builds (code_files.h). And an iRoot that an earlier
 * campaign knew (memo.h), as tokens have it. Those that are there already stay. */
struct pct_code_position;
bool pct_store_has_memo(struct pct_store *store); /* false: an earlier version wrote the file, without these */
int pct_store_add_code(struct pct_store *store, uint32_t code, const struct pct_code_position *position);
int pct_store_each_code(struct pct_store *store,
                        int (*each)(void *data, uint32_t code, const struct pct_code_position *position), void *data);
int pct_store_add_memo(struct pct_store *store, const char *iroot);
int pct_store_each_memo(struct pct_store *store, int (*each)(void *data, const char *iroot), void *data);

struct pct_store_iroot_totals {
    uint64_t exposed, newest; /* the last run that has exposed a new one, from 1; 0: none has */
    uint64_t predicted, left; /* and those of them that were not exposed */
    uint64_t combined;        /* patterns of three threads (cli/trace/iroots.h) that were exposed */
    uint64_t memo;            /* known before, by --memo */
    bool saturated;           /* the campaign has ended here by --until-saturated */
};
/* Of a file without iRoots, all are 0. */
int pct_store_iroot_totals(struct pct_store *store, struct pct_store_iroot_totals *totals);

/* Make all that was added since the last commit durable. seconds: how long this session has gone on. On failure all of
 * it is undone, and the store can only be closed. */
int pct_store_commit(struct pct_store *store, double seconds);

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* Call `each` for all rows, until it returns something else than 0, which is then returned. What the rows point to is
 * valid during the call only. Runs come in the order of their number in the campaign, findings by id, frames by stack
 * and level, pairs in the order of their runs. */
int pct_store_each_run(struct pct_store *store, int (*each)(void *data, const struct pct_store_run *run), void *data);
int pct_store_each_finding(struct pct_store *store, int (*each)(void *data, const struct pct_store_finding *finding),
                           void *data);
int pct_store_each_frame(struct pct_store *store, int64_t finding,
                         int (*each)(void *data, const struct pct_store_frame *frame), void *data);
int pct_store_each_pair(struct pct_store *store, int (*each)(void *data, uint64_t pair, uint64_t seed), void *data);
int pct_store_each_uncontrolled(struct pct_store *store,
                                int (*each)(void *data, unsigned kind, const char *name, uint64_t count), void *data);

int pct_store_each_session(struct pct_store *store, int (*each)(void *data, const struct pct_store_session *session),
                           void *data);

struct pct_store_totals {
    uint64_t runs, failures, findings, schedules /* different ones */, pairs, max_steps;
    uint64_t newest; /* the run, from 1, that brought the last pair; 0: there is none */
    uint64_t drawn;  /* runs whose schedule was drawn: neither systematic nor to force something */
    uint64_t sessions;
    double seconds; /* of all sessions */
    uint32_t max_threads;
};
int pct_store_totals(struct pct_store *store, struct pct_store_totals *totals);

/* --- Merging ------------------------------------------------------------------------------------------------------ */

struct pct_store_source {
    const char *path;
    unsigned part;
};

/* What becomes one part of the new file. */
struct pct_store_group {
    const struct pct_store_source *from;
    size_t count;
    const char *verdict; /* of explorations: what is known of the whole; NULL: they are campaigns */
    bool copied;         /* a single exploration: as it is, so that it can go on */
};

/* Make one file of several. Those of a group are of the same target, judged in the same way, with the same strategy;
 * their runs are put together by their seeds, their findings by their signatures. Runs that are in two files count
 * once; *differing is how many of them ended differently: then the first file's stays. *directed: that says nothing of
 * the program, as what such a run is depends on what its file knows, too. The runs of explorations are put one
 * behind the other. The files in are only read. Returns 0 or a negative errno after a message in error. */
int pct_store_merge(const char *to, const struct pct_store_group *groups, size_t count, uint64_t *differing,
                    bool *directed, char *error, size_t size);

#endif
