/* What a campaign knows of interleavings (cli/trace/iroots.h): places in the code, by instruction, and the iRoots of
 * these that its runs have predicted and exposed. In the campaign file these are the tables `iroot_places` and
 * `iroots`, which have when each was predicted first and exposed first; and `iroot_further`, likewise, of patterns that
 * are guessed (cli/trace/guess.h). */
#ifndef PCT_CLI_IROOT_SETS_H
#define PCT_CLI_IROOT_SETS_H

#include <cli/trace/accesses.h>
#include <cli/trace/iroots.h>

struct pct_store;
struct pct_code_files;

struct pct_iroot_sets {
    struct pct_access_places places;
    struct pct_iroots predicted, exposed; /* `first`: the run, from 1 */
    struct pct_iroots guessed, combined;  /* likewise: what was guessed, and which combined patterns were exposed */
    struct {
        size_t places, predicted, exposed, guessed, combined;
        uint64_t run;             /* the last one whose chances are */
    } saved;                      /* this many are in the file */
    struct pct_code_files *files; /* where the places' code is; NULL: nobody asks */
};

/* Write down what is new since the last time. After pct_store_begin_iroots(). Returns 0 or a negative errno:
 * pct_store_error(). */
int pct_iroot_sets_save(struct pct_iroot_sets *sets, struct pct_store *store);

/* Take over what the file has, into sets that are empty; runs: it has this many. Returns likewise, but -EINVAL: the
 * tables contradict themselves. */
int pct_iroot_sets_load(struct pct_iroot_sets *sets, struct pct_store *store, uint64_t runs);

void pct_iroot_sets_free(struct pct_iroot_sets *sets);

/* The iRoots of several files in one. to: a writer that has their runs already; a run is known again by its seed.
 * Returns 0, or a negative errno: pct_store_error() of one of them; -EINVAL where none has an error: the tables of one
 * contradict themselves. merge_iroots.c */
int pct_iroot_sets_merge(struct pct_store *to, struct pct_store *const *from, size_t count);

#endif
