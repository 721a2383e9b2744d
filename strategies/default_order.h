/* Who goes on where nothing says so, for strategies whose schedule is given: no preemption. A thread goes on until it
 * blocks, finishes or spins; then the enabled thread with the lowest id does, but for one that is ending the process,
 * which waits for all others (PCT, section 4.2, final wait). A spinning thread is followed by the next one in the ring
 * of ids. Deadlines come last. Where one has spun for long at once, or has kept others from running, whoever blocks is
 * followed by the next one in the ring, too, from then on: two that wake each other would starve those behind them.
 *
 * A run of one of these strategies is replayed by another one of them: so there is one place for it. A member of their
 * state, zeroed at first; pick() notes whom it has chosen. */
#ifndef PCT_STRATEGIES_DEFAULT_ORDER_H
#define PCT_STRATEGIES_DEFAULT_ORDER_H

#include "base.h"

/* Spins that are told of at once: as those of a thread that starves others. */
enum { PCT_DEFAULT_ORDER_SPINS = 256 };

struct pct_default_order {
    uint32_t running; /* whom the last pick chose, plus 1; 0: there was none */
    uint32_t spins;   /* since then: it makes no progress */
    bool ring;
    uint32_t exiting; /* plus 1 */
    struct pct_rank_set enabled, early;
};

/* The thread that goes on; PCT_NO_RANK: there is none. */
static inline uint32_t pct_default_order_next(const struct pct_default_order *o)
{
    uint32_t running = o->running - 1;
    if (o->running && !o->spins && o->exiting != o->running && pct_rank_set_has(&o->enabled, running))
        return running;
    uint32_t next = o->running && (o->spins || o->ring) ? pct_rank_set_after(&o->enabled, running)
                                                        : pct_rank_set_lowest(&o->enabled);
    if (next != PCT_NO_RANK && next + 1 == o->exiting)
        next = pct_rank_set_after(&o->enabled, next);
    return next != PCT_NO_RANK ? next : pct_rank_set_lowest(&o->early);
}

/* This thread was picked. */
static inline void pct_default_order_chose(struct pct_default_order *o, uint32_t thread)
{
    o->running = thread + 1;
    o->spins = 0;
}

/* enable(), disable(), early(), spinning() and final_wait() of a `struct state` whose member this is; and these in the
 * table of functions. */
#define PCT_DEFAULT_ORDER(member)                                                                                      \
    PCT_ENABLED_OR_EARLY(member.enabled, member.early)                                                                 \
    static void spinning(void *state, uint32_t thread, uint64_t spins)                                                 \
    {                                                                                                                  \
        (void)spins;                                                                                                   \
        struct pct_default_order *o = &((struct state *)state)->member;                                                \
        o->spins = o->running == thread + 1 ? o->spins + 1 : 0;                                                        \
        o->ring |= o->spins >= PCT_DEFAULT_ORDER_SPINS;                                                                \
    }                                                                                                                  \
    static void final_wait(void *state, uint32_t thread)                                                               \
    {                                                                                                                  \
        ((struct state *)state)->member.exiting = thread + 1;                                                          \
    }
#define PCT_DEFAULT_ORDER_FUNCTIONS .early = early, .spinning = spinning, .final_wait = final_wait

#endif
