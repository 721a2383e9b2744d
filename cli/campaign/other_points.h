/* Runs of a campaign that have other scheduling points than the rest, where nobody has said which there shall be: what
 * more points find that fewer cannot, and what fewer find sooner.
 *
 *   - Of a program that tells of its memory accesses (pct-cc), from run PCT_OTHER_CALLS_FROM on, one run in
 *     PCT_OTHER_CALLS has points at calls only: more points dilute chance. Not where threads call nothing but what
 *     begins and ends them, as the first of these runs shows: without preemptions, few schedules are left.
 *   - Of one that does not, from run PCT_OTHER_MEMORY_FROM on, one run in PCT_OTHER_MEMORY is patched
 *     (--memory=globals), if its memory accesses are such as calls do not order. That is found out by the first of
 *     these runs: the race detector sees two of them unordered, threads meet on an atomic variable, or the run fails.
 *   - If accesses through pointers are such, too, half of these runs, or all where those to globals are not, have
 *     --memory=all. That is found out by the first of these, which may have at most PCT_OTHER_WIDE_POINTS points.
 *     Before that, a run without the detector, which is slow, counts every access: there may be at most
 *     PCT_OTHER_WIDE_ACCESSES. These are numbers, and not times, so campaigns of the same seeds have the same runs.
 *
 * A detector sees one schedule, and what one does not show another may. So of runs that could be the first of those
 * with memory accesses up to PCT_OTHER_TRIES are tried, with the next seeds; and one more whenever the number of runs
 * has doubled, until one shows it.
 *
 * Which runs these are is drawn from their seeds; their tokens say it. They are of another program to the theorem: they
 * do not count for the guarantee, and teach nothing of k. Their own k, and what is known of objects, is from the first
 * of each kind. */
#ifndef PCT_CLI_OTHER_POINTS_H
#define PCT_CLI_OTHER_POINTS_H

#include <common/config.h>

enum { PCT_OTHER_CALLS = 3, PCT_OTHER_CALLS_FROM = 16, PCT_OTHER_MEMORY = 4, PCT_OTHER_MEMORY_FROM = 16 };
enum { PCT_OTHER_WIDE_POINTS = 1000, PCT_OTHER_WIDE_ACCESSES = 10000, PCT_OTHER_TRIES = 3 };

struct pct_campaign;
struct pct_object_counts;
struct pct_run_spec;

/* What runs of a kind that were tried have shown, at most. */
struct pct_other_shown {
    bool fails;
    size_t unordered, contended; /* places and variables; of runs that had points at memory accesses */
    uint64_t steps;
};

/* The runs that have the same points, but for the first of them. */
struct pct_other_kind {
    bool may; /* there can be such runs */
    bool on;  /* there are */
    struct pct_other_shown shown;
    uint64_t from;                     /* the number of the first */
    struct pct_config first, config;   /* of the first, and of the others, but for their seeds */
    struct pct_object_counts *objects; /* for these others; NULL: nothing is known */
};

struct pct_other_points {
    bool may;                     /* nobody has said which points there shall be: before the first run */
    bool quiet;                   /* what is not said */
    bool chosen;                  /* which kinds there can be, */
    uint64_t due;                 /* and before which run it is asked again whether there are any */
    bool memory;                  /* with points at memory accesses; else at calls only */
    uint64_t runs;                /* that were looked at */
    struct pct_other_kind narrow; /* at calls only, or at accesses to globals */
    struct pct_other_kind wide;   /* at all accesses */
};

/* Before the run of this number, when nothing is under way: find out whether there are such runs from now on, which may
 * take some. Returns 0, or an exit status after a message. */
int pct_other_points_decide(struct pct_campaign *c, uint64_t next);

/* Whether the run of this number is one of them. */
bool pct_other_points_has(const struct pct_campaign *c, uint64_t index);

/* What is known of objects for this one of them; NULL: nothing. */
const struct pct_object_counts *pct_other_points_objects(const struct pct_campaign *c, uint64_t index);

/* The configuration of this one of them, but for its seed. */
const struct pct_config *pct_other_points_config(const struct pct_campaign *c, uint64_t index);

void pct_other_points_free(struct pct_other_points *other);

#endif
