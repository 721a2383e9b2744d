/* Queries about schedules, each answered by one or more runs, in a given order: "does this one fail?", "and this
 * one?". While there are workers for it, the next runs begin before the last ones have ended, as if each query
 * before were answered in the expected way; but they are looked at in their order, one after the other, and what turns
 * out not to be needed is forgotten. So no answer depends on how many workers there are, or on which run ends first. */
#ifndef PCT_CLI_QUERIES_H
#define PCT_CLI_QUERIES_H

#include "query_run.h"

struct pct_query {
    struct pct_try what;
    bool spread;       /* each run has a seed of its own: what.seed, what.seed + 1, ... */
    unsigned expected; /* it will take this many runs, as far as one knows: these go on at the same time, any others one
                          by one */
    void *data;        /* the asker's, allocated; freed with the query */
};

enum pct_answer {
    PCT_ANSWER_MORE, /* the query takes one more run */
    PCT_ANSWER_NEXT, /* it is answered as expected: on to the next */
    PCT_ANSWER_STOP  /* it is answered, and the queries behind it, if they were asked already, do not matter any more
                      */
};

struct pct_queries {
    /* The query of this number, from 0: asked in their order, and early. Fill in *query, which is zeroed. Returns
     * 1, or 0: there is none, or a negative errno. */
    int (*ask)(void *context, size_t number, struct pct_query *query);
    /* Look at the next run of this query. It is closed afterwards, unless the answerer has set run->taken and
     * keeps a copy. */
    enum pct_answer (*answer)(void *context, size_t number, struct pct_query *query, struct pct_query_run *run);
    void *context;
    bool must;  /* also when the time is over, but for the grace: nothing can go on without the answer */
    bool shows; /* likewise, and not ended by the first signal that tells us to: what was found so far is shown by it.
                   A run that this signal ended has no answer, so it is to be made again */
};

/* Returns 0 when all is answered, or when the time is over (runs->late); or runs->status. */
int pct_queries_run(struct pct_query_runs *runs, const struct pct_queries *queries);

/* One run by the strategy `schedule` or `order` with this list, and this seed. sites: PCT_SITES, or NULL. Also when the
 * time is over, but for the grace. Returns 0: *run is it, and to be closed; or runs->status. */
int pct_query_run_make(struct pct_query_runs *runs, struct pct_query_run *run, const char *strategy, const char *list,
                       uint64_t seed, const char *sites);
/* The same by the configuration that failed, with this strategy's own parameters. */
int pct_query_run_again(struct pct_query_runs *runs, struct pct_query_run *run);

/* A new step of the work begins, of at most this many queries (0: not known); for the line that says how far it is.
 */
void pct_queries_step(struct pct_query_runs *runs, const char *what, uint64_t queries);

#endif
