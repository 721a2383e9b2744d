/* The iRoots that a file says were exposed: the file of a campaign that looks at them, or what `pct coverage --json`
 * has written. Places are source lines, so that those of two builds can be compared. */
#ifndef PCT_CLI_COVERED_H
#define PCT_CLI_COVERED_H

#include <cli/trace/accesses.h>

struct pct_covered {
    const char *path;
    struct pct_iroots exposed; /* `first`: the run, from 1, if it has_runs */
    bool has_runs;
    struct pct_iroots predicted, missed; /* exposed or not; and what six tries each have missed */
    struct pct_iroots guessed,
        combined;            /* what maple has guessed and tried, exposed or not; of three threads, exposed */
    struct pct_iroots pairs; /* reads-from pairs (cli/trace/reads_from.h), if it has_pairs: */
    bool has_pairs;
    uint64_t runs, newest; /* and the last of them that has exposed a new one, from 1; 0: none has */
    uint32_t window;       /* --window */
    uint32_t idioms;       /* that were looked for: idiom 1 and so on */
    bool cut;              /* there were too many to count */
};

/* covered->path is given. The file may be anybody's. Returns 0, or an exit status after a message. In any case
 * pct_covered_free(). */
int pct_covered_read(struct pct_covered *covered, struct pct_access_places *places);
void pct_covered_free(struct pct_covered *covered);

#endif
