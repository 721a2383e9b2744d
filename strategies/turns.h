/* Threads that take turns, in the ring of their ids: for strategies that say only when a turn is over besides. A turn
 * is over, too, when its thread is disabled, even if it becomes enabled again before the next pick, and when it spins,
 * but see lockstep.h. A file's `struct state` has its struct pct_turns as the member `turns`. */
#ifndef PCT_STRATEGIES_TURNS_H
#define PCT_STRATEGIES_TURNS_H

#include "base.h"
#include "lockstep.h"

/* Begin with zeroes. */
struct pct_turns {
    uint32_t turn; /* whose turn it is, plus 1; 0: nobody's yet */
    bool over;
    uint64_t spins;              /* in the run so far */
    struct pct_rank_set enabled; /* thread ids */
};

static inline void pct_turns_end(struct pct_turns *turns, uint32_t thread)
{
    turns->over |= turns->turn == thread + 1;
}

static inline void pct_turns_next(struct pct_turns *turns)
{
    uint32_t next =
        turns->turn ? pct_rank_set_after(&turns->enabled, turns->turn - 1) : pct_rank_set_lowest(&turns->enabled);
    turns->turn = next + 1;
    turns->over = false;
}

/* enable(), disable() and spinning() of the strategy. */
#define PCT_TURNS                                                                                                      \
    static void enable(void *state, uint32_t thread)                                                                   \
    {                                                                                                                  \
        pct_rank_set_insert(&((struct state *)state)->turns.enabled, thread);                                          \
    }                                                                                                                  \
    static void disable(void *state, uint32_t thread)                                                                  \
    {                                                                                                                  \
        struct pct_turns *turns = &((struct state *)state)->turns;                                                     \
        pct_rank_set_remove(&turns->enabled, thread);                                                                  \
        pct_turns_end(turns, thread);                                                                                  \
    }                                                                                                                  \
    static void spinning(void *state, uint32_t thread, uint64_t spins)                                                 \
    {                                                                                                                  \
        (void)spins;                                                                                                   \
        struct pct_turns *turns = &((struct state *)state)->turns;                                                     \
        if (!pct_lockstep_keeps(&turns->spins))                                                                        \
            pct_turns_end(turns, thread);                                                                              \
    }                                                                                                                  \
    PCT_ENABLE_ALL

#endif
