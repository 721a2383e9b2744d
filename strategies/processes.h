/* Between the strategy `processes` and the shim: which process of a family this is, and the board on which they wait
 * for one another. All is called on the turn of the thread that holds the baton, inside the scheduler. */
#ifndef PCT_STRATEGIES_PROCESSES_H
#define PCT_STRATEGIES_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

/* Names of posts are numbers below this, or this: that is never posted. */
enum { PCT_BOARD_POSTS = 256 };

struct pct_board {
    /* The process, by the ordinals of the forks from the first one to it, as in "1.2"; "": the first; NULL: not known.
     */
    const char *path;
    uint32_t image; /* programs that the process was before, by exec */
    void (*post)(uint32_t name);
    /* Returns when it is posted, or nobody is left who could do that. */
    void (*await)(uint32_t name);
    /* This process, which is not the first, has a part in the list. */
    void (*begin)(void);
};

/* No thread can go on, before the process waits for something outside: what it posts or waits for behind this many
 * steps is done. state: of the strategy `processes`. */
void pct_strategy_processes_rests(void *state, uint64_t step);

/* A thread has come back from outside, behind this many steps: whether the list has anything here. Then the strategy is
 * to be asked. state: of the strategy `processes`. */
bool pct_strategy_processes_returned(const void *state, uint64_t step);

/* What the list says of the end of this process: it makes this many steps, and these are the low 32 bits of the hash
 * over them. False: nothing. state: of the strategy `processes`. */
bool pct_strategy_processes_end(const void *state, uint64_t *steps, uint32_t *hash);

/* How many processes the list has parts for, without the first; each program that one becomes counts. state: of the
 * strategy `processes`. */
uint32_t pct_strategy_processes_parts(const void *state);

#endif
