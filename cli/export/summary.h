/* What the exporters of a campaign say, read from its file once and as a whole: the same numbers in every format. */
#ifndef PCT_CLI_SUMMARY_H
#define PCT_CLI_SUMMARY_H

#include <cli/base/wilson.h>
#include <cli/campaign/store.h>
#include <stdio.h>

enum { PCT_SUMMARY_POINTS = 400 }; /* of a curve, at most */

/* How often something had happened after this many runs. */
struct pct_curve_point {
    uint64_t runs, schedules, pairs, failures, findings, iroots /* exposed */;
};

/* A place in a source file. path: relative to the root of the sources where it is below it. */
struct pct_summary_place {
    char *path; /* NULL: not known */
    int line;
    bool below_root;
};

struct pct_summary_frame {
    struct pct_store_frame frame;
    struct pct_summary_place place;
};

/* All strings are well-formed UTF-8 without control characters but tab and line end. */
struct pct_summary_finding {
    struct pct_store_finding finding;
    char *output_text;
    char *cause;                    /* in a sentence, or NULL */
    char *held;                     /* that a thread kept others from running, or NULL */
    struct pct_wilson rate;         /* of its runs among all */
    struct pct_summary_place place; /* of the cause, else the innermost frame in the own sources, else the finding's */
    struct pct_summary_frame *frames;
    size_t frame_count;
};

struct pct_summary {
    struct pct_store *store;
    struct pct_store_totals totals;
    struct pct_summary_systematic {
        uint64_t runs, failures, schedules /* different ones */;
    } systematic;    /* of the runs that were not drawn */
    bool has_iroots; /* a campaign of maple, */
    struct pct_store_iroot_totals iroots;
    struct pct_summary_finding *findings; /* in the order in which they were found */
    size_t count;
    struct pct_curve_point *curve; /* in the order of runs; the last point is after all of them */
    size_t points;
    struct pct_summary_uncontrolled {
        char *name;
        uint64_t count;
    } * uncontrolled; /* what pct could not order, in all runs together */
    size_t uncontrolled_count;
    char *command, *program;
    const char *guarantee; /* what a clean campaign is worth, or why there is no guarantee, in a sentence; or NULL */
    char root[4096];       /* of the sources, without a slash at its end */
};

/* Read it. root: the directory that holds the sources, NULL: the current one. Returns 0, or a negative errno with a
 * line in error. The store must stay open; in any case pct_summary_free(). */
int pct_summary_read(struct pct_summary *summary, struct pct_store *store, const char *root, char *error, size_t size);
void pct_summary_free(struct pct_summary *summary);

/* What the target wrote, all of it: its zeros are control characters like others. To be freed; NULL: out of memory. */
char *pct_summary_output(const struct pct_store_finding *finding);

/* The line that replays a finding, as it is typed: with `pct` in front. To be freed. */
char *pct_summary_replay(const struct pct_summary_finding *finding);

/* "12 of 1,000 runs (1.2 %; 95 %: 0.69 to 2.1 %)". Returns buffer. */
const char *pct_summary_format_rate(char *buffer, size_t size, const struct pct_summary *summary,
                                    const struct pct_summary_finding *finding);

/* "confirmed: 10 of 10 replays failed in the same way". Returns buffer. */
const char *pct_summary_format_replays(char *buffer, size_t size, const struct pct_summary_finding *finding);

/* "42 exposed, the last new one in run 412 of 5000; 60 predicted, 18 of them not exposed; 7 combined patterns exposed",
 * and whether the campaign ended there; runs: it has this many. Returns buffer, of which 320 bytes do. */
const char *pct_summary_format_iroots(char *buffer, size_t size, const struct pct_store_iroot_totals *iroots,
                                      uint64_t runs);

#endif
