/* What the strategy maple knows of a run: see maple.c. */
#ifndef PCT_STRATEGIES_MAPLE_STATE_H
#define PCT_STRATEGIES_MAPLE_STATE_H

#include "base.h"
#include "iroot.h"
#include "maple_order.h"
#include "owners.h"
#include "priorities.h"
#include "thread_lists.h"
#include <stddef.h>

struct maple_thread {
    struct pct_operation next;
    uint32_t met;   /* accesses of the iRoot that it came to */
    uint8_t at;     /* those that `next` may be, by its place and operation: a set */
    uint8_t access; /* and the one that it is, as long as this thread is held */
    uint8_t sorted; /* where it stands, plus 1, if it is enabled */
    bool enabled;
    bool passes; /* this operation is none of the iRoot's */
    bool ends;   /* the process */
    struct pct_listed stands;
};

struct state {
    uint64_t seed;
    uint8_t order;
    bool skips;                   /* accesses are passed over by chance */
    uint8_t skip[PCT_IROOT_MOST]; /* with order=4: this many threads that come to this access first are passed over */
    uint32_t created;
    uint32_t threads;              /* that there have been: ids are below it */
    const struct pct_idiom *idiom; /* NULL: nobody is held (any more) */
    struct pct_iroot_event event[PCT_IROOT_MOST];
    struct pct_iroot_phase phase[PCT_IROOT_PHASES]; /* the last one first */
    uint32_t phases;                                /* that are still to come */
    uint32_t given[PCT_IROOT_ROLES];                /* by role: who alone can have it, plus 1; 0: anybody */
    uint8_t first[PCT_IROOT_MOST];                  /* of these, which visit to its place may be the access */
    uint8_t counted;                                /* accesses whose visits matter: a set */
    uint8_t visits[PCT_IROOT_MOST];                 /* that there were in this phase; none is counted behind the last */
    bool prefers;                                   /* those go on before others */
    uint32_t done;                                  /* accesses that were made: a set */
    uint32_t role[PCT_IROOT_ROLES];                 /* threads that have made one, plus 1 */
    uint32_t object[2];                             /* and what they were on; 0: not known yet */
    uint8_t due;                                    /* accesses that may be made next: a set */
    uint8_t waiting;                                /* roles that these are not of: a set */
    bool goes_on;                                   /* the last access is left to what others do before it: order 9 */
    uint32_t guarded[2];                            /* objects to which nothing that conflicts may be done; 0: none */
    bool guards_reads[2];                           /* nor may these be read */
    uint32_t guarded_last;                          /* and to this one the thread of A may do nothing */
    uint8_t segment[PCT_IROOT_SEGMENTS], segments;  /* steps that are still to be made; and how many there are */
    uint32_t near[PCT_IROOT_MOST];                  /* this many threads are about to make this access */
    bool look;                                      /* the next access may be there */
    bool reluctant;                                 /* what the outside may do was waited for, */
    uint8_t vain;                                   /* so often in vain */
    uint32_t making;                                /* the access that the thread chosen last is to make, plus 1 */
    uint32_t previous;                              /* that thread, plus 1 */
    struct pct_operation last;                      /* what it was about to do */
    uint32_t no_progress;                           /* steps since one was let go */
    uint32_t low_in_a_row, wanted_in_a_row; /* times in a row that it was one at the low priority, or who owns */
    uint32_t let_go;                        /* times that one was */
    uint32_t spins;                         /* since the last pick */
    uint32_t spun;                          /* spins of all since one that comes last was let go for them */
    uint32_t spins_in_all;                  /* in the run, while there was an iRoot to be made */
    struct pct_draws draws;
    uint32_t mean;                    /* steps between two changes, about; 0: priorities do not change */
    uint64_t began;                   /* the step behind which the phase did */
    struct pct_priorities priorities; /* its enabled ones are those who are free */
    struct pct_thread_lists stand;    /* the enabled threads that are not */
    struct maple_thread *of;          /* by thread */
    struct pct_owners owners;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    s->of = pct_layout_take(layout, threads, sizeof *s->of);
    pct_thread_lists_begin(&s->stand, s->of, offsetof(struct maple_thread, stands), sizeof *s->of);
    pct_owners_lay_out(&s->owners, layout);
    pct_priorities_lay_out(&s->priorities, layout, threads);
}

#endif
