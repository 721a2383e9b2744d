/* iRoots: in which ways two threads have come in between each other (Yu, Narayanasamy, Pereira, Pokam: Maple, OOPSLA
 * 2012, section 2). An iRoot is an idiom and the places in the code that fill it, so that it is the same in all runs;
 * which ones the runs of a program have exposed is a measure of what its tests have covered.
 *
 * A dependency A => B: A and B are accesses of two threads to one object, at least one of them writes (of locks and the
 * like: conflicts.h), and nothing that conflicts with them came in between. The idioms, of the threads T0 and T1:
 *
 *     1  A => B
 *     2  A => B => C       one object; A and C are T0's
 *     3  A => B, C => D    one object; T0 makes A before D, T1 B before C
 *     4  A => B, C => D    two objects; T0 makes A before D, T1 B before C
 *     5  A => B, C => D    two objects; T0 makes A before D, T1 C before B
 *     6  A => B, C => D    two objects; T0 makes A before C, T1 B before D
 *
 * In 2 to 6 two accesses of one thread are at most `window` of its steps apart (the paper's vulnerability window).
 * Between the two of T0 in 2, 3 and 4, T0 makes no other access to their objects; T1 may between B and C (sections 2.1
 * and 4.7).
 *
 * Two dependencies of three threads are combined patterns, which the paper has not. Of four different accesses, A, B, C
 * and D are made in this order, and A => B, C => D: what the first has left may be what the second needs.
 *
 *     7  T0 => T1, T0 => T2        8  T0 => T1, T2 => T0        9  T0 => T1, T1 => T2       10  T0 => T1, T2 => T1
 * Pure functions, with memory from malloc. */
#ifndef PCT_CLI_IROOTS_H
#define PCT_CLI_IROOTS_H

#include <cli/base/table.h>
#include <strategies/iroot.h>

enum {
    PCT_IDIOMS = 6,
    PCT_COMBINED = 10, /* the last idiom of combined ones */
    PCT_IROOT_PLACES = 4
};

/* An access, in the order in which they were made. */
struct pct_access {
    uint64_t object;         /* any number that it alone has in this run */
    uint32_t thread, number; /* the thread's own step, from 1 */
    uint32_t place;          /* in the code, and what was done there: the same number in all runs; 0: it is not known,
                                and no iRoot has it */
    uint32_t index;          /* of its record in the trace */
    uint8_t op;              /* enum pct_op */
    bool writes;
};

/* Where a run could expose an iRoot: behind this many of its steps. 0: it has no such place. */
enum pct_iroot_behind {
    PCT_BEHIND_NEXT,  /* the first of the accesses comes, or the lock under which the other one could not come first */
    PCT_BEHIND_WRITE, /* what that one's thread wrote last before it comes: the other one may go another way behind that
                       */
    PCT_BEHIND_AGAIN, /* A comes, if what came before it comes once more */
    PCT_BEHINDS
};

struct pct_iroot_chance {
    uint64_t run, step[PCT_BEHINDS];
    uint32_t thread[2];              /* by role */
    uint32_t first;                  /* whose access is the first: a role */
    uint8_t visit[PCT_IROOT_PLACES]; /* behind PCT_BEHIND_NEXT, its thread comes to the place of this access so often,
                                        up to it; 0: more often than is counted, or there is no such access */
    uint8_t changes;                 /* this many reads would see another write than in the run (reordering.h), */
    uint8_t segment[PCT_IROOT_SEGMENTS]; /* where these steps, of the roles 0 and 1 in turn, make the accesses */
};

enum { PCT_IROOT_FIRST_CHANCES = 3, PCT_IROOT_CHANCES = 6 /* of a kind */ };

struct pct_iroot {
    uint32_t idiom;                   /* 1 to PCT_IDIOMS; of combined ones to PCT_COMBINED */
    uint32_t place[PCT_IROOT_PLACES]; /* A, B, C, D; 0: the idiom has no such access */
    uint64_t runs;                    /* that have exposed it */
    uint64_t first, last;             /* of them, as the caller numbers them */
    /* Of the first runs that had one, and of later ones each that changes half as much as those before: A before the
     * other thread's first access, and behind it. */
    struct pct_iroot_chance chance[2][PCT_IROOT_CHANCES];
    uint32_t chances[2];
    uint32_t offered;        /* in the last run */
    struct pct_iroot *alike; /* the next one with its hash */
};

struct pct_iroots {
    struct pct_iroot **item; /* in the order in which they were exposed first */
    size_t count, room;
    size_t by_idiom[PCT_COMBINED + 1];
    size_t most;            /* are taken in; 0: 2^18 */
    uint64_t newest;        /* the last run that has added one; 0: none has */
    bool full;              /* there are as many as there may be: no more are taken in */
    bool unfollowed;        /* no run can follow the one that is looked at: its chances are not kept */
    struct pct_table alike; /* by a hash of what they are, the first of those that have it: struct pct_iroot * */
};

/* Take in what this run has exposed. Runs have different numbers. combined: gets its combined patterns; NULL: nobody
 * asks for these. Of what a run does often not all that is combined is found. Returns 0, or -ENOMEM. */
int pct_iroots_add(struct pct_iroots *roots, struct pct_iroots *combined, const struct pct_access *accesses,
                   size_t count, uint32_t window, uint64_t run);
void pct_iroots_free(struct pct_iroots *roots);

/* The run has exposed (or whatever the set is of) this one: its idiom and its places, of which those that it has not
 * are 0. Runs come in their order. Returns 0, or -ENOMEM. */
int pct_iroots_insert(struct pct_iroots *roots, const struct pct_iroot *root, uint64_t run);

/* The same, of a run that had a chance of this kind. *open: the iRoot, which that is to be offered; NULL: no chance is
 * kept. */
int pct_iroots_insert_open(struct pct_iroots *roots, const struct pct_iroot *wanted, uint64_t run, unsigned kind,
                           struct pct_iroot **open);

/* As pct_iroots_insert(), of a set of exposed or predicted ones: those of idiom 5 are one, whichever dependency is the
 * first. */
int pct_iroots_expose(struct pct_iroots *roots, const struct pct_iroot *root, uint64_t run);

/* Where this chance is kept, for the caller to complete; NULL: it is not. */
struct pct_iroot_chance *pct_iroot_offer(struct pct_iroot *root, const struct pct_iroot_chance *chance);

/* The one with this idiom and these places; NULL: it is not in the set. */
struct pct_iroot *pct_iroots_find(const struct pct_iroots *roots, const struct pct_iroot *wanted);

/* The same where of idiom 5 either dependency may be the first: of the two, the one that is in the set for longer. */
struct pct_iroot *pct_iroots_find_either(const struct pct_iroots *roots, const struct pct_iroot *wanted);

/* All, in the order of what they are: that of `item` is another one when they come from a file. NULL: there is no
 * memory. To be freed. */
const struct pct_iroot **pct_iroots_sorted(const struct pct_iroots *roots);

/* The last run that has added to them; 0: none has. */
uint64_t pct_iroots_newest(const struct pct_iroots *roots);

/* How many accesses an iRoot of this idiom has. */
unsigned pct_idiom_accesses(uint32_t idiom);

#endif
