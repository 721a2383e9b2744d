/* What strategies do alike, so that the file of each says what it decides. Macros define the functions of struct
 * pct_strategy (<pct/strategy.h>) for a file's `struct state`, whose seed is its member `seed`.
 *
 *     PCT_STATE                               state_size() of a state of fixed size
 *     PCT_STATE_OF_TABLES                     state_size() of one with tables, after lay_out() (<pct/layout.h>); and
 *                                             begin(), for start()
 *     PCT_ENABLED(MEMBER, KIND)               enable(), disable(): MEMBER, a set of this kind (<pct/sets.h>), has the
 *                                             enabled threads
 *     PCT_ENABLED_OR_EARLY(MEMBER, WAITING)   the same of two sets of ranks, and early(): WAITING has those whose
 *                                             deadline is near
 *     PCT_ENABLE_ALL                          enable_all(), disable_all(): after enable() and disable(), one call for
 *                                             many threads
 *     PCT_CHOOSE                              choose(): each waiter is as likely as any other
 *     PCT_BASE                                in the table of functions: those that every strategy here has */
#ifndef PCT_STRATEGIES_BASE_H
#define PCT_STRATEGIES_BASE_H

#include <pct/layout.h>
#include <pct/random.h>
#include <pct/sets.h>
#include <pct/strategy.h>

#define PCT_STATE                                                                                                      \
    static uint32_t state_size(const struct pct_run *run)                                                              \
    {                                                                                                                  \
        (void)run;                                                                                                     \
        return sizeof(struct state);                                                                                   \
    }

#define PCT_STATE_OF_TABLES                                                                                            \
    static uint32_t state_size(const struct pct_run *run)                                                              \
    {                                                                                                                  \
        return PCT_LAYOUT_SIZE(struct state, lay_out, run);                                                            \
    }                                                                                                                  \
    static struct state *begin(void *state, const struct pct_run *run)                                                 \
    {                                                                                                                  \
        struct state *s = state;                                                                                       \
        struct pct_layout layout = { .base = state, .used = sizeof *s };                                               \
        lay_out(s, &layout, run);                                                                                      \
        s->seed = run->seed;                                                                                           \
        return s;                                                                                                      \
    }

#define PCT_ENABLED(member, kind)                                                                                      \
    static void enable(void *state, uint32_t thread)                                                                   \
    {                                                                                                                  \
        kind##_insert(&((struct state *)state)->member, thread);                                                       \
    }                                                                                                                  \
    static void disable(void *state, uint32_t thread)                                                                  \
    {                                                                                                                  \
        kind##_remove(&((struct state *)state)->member, thread);                                                       \
    }                                                                                                                  \
    PCT_ENABLE_ALL

#define PCT_ENABLED_OR_EARLY(member, waiting)                                                                          \
    static void enable(void *state, uint32_t thread)                                                                   \
    {                                                                                                                  \
        pct_rank_set_remove(&((struct state *)state)->waiting, thread);                                                \
        pct_rank_set_insert(&((struct state *)state)->member, thread);                                                 \
    }                                                                                                                  \
    static void early(void *state, uint32_t thread)                                                                    \
    {                                                                                                                  \
        pct_rank_set_insert(&((struct state *)state)->waiting, thread);                                                \
    }                                                                                                                  \
    static void disable(void *state, uint32_t thread)                                                                  \
    {                                                                                                                  \
        pct_rank_set_remove(&((struct state *)state)->waiting, thread);                                                \
        pct_rank_set_remove(&((struct state *)state)->member, thread);                                                 \
    }                                                                                                                  \
    PCT_ENABLE_ALL

#define PCT_ENABLE_ALL                                                                                                 \
    static void enable_all(void *state, const uint16_t *threads, uint32_t count)                                       \
    {                                                                                                                  \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            enable(state, threads[i]);                                                                                 \
    }                                                                                                                  \
    static void disable_all(void *state, const uint16_t *threads, uint32_t count)                                      \
    {                                                                                                                  \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            disable(state, threads[i]);                                                                                \
    }

#define PCT_CHOOSE                                                                                                     \
    static uint32_t choose(void *state, uint32_t waiters, uint64_t step)                                               \
    {                                                                                                                  \
        return pct_random_waiter(((const struct state *)state)->seed, waiters, step);                                  \
    }

#define PCT_BASE PCT_BASE_BEGUN_BY(start)
#define PCT_BASE_BEGUN_BY(start_)                                                                                      \
    .abi = PCT_STRATEGY_ABI, .state_size = state_size, .start = start_, .enable = enable, .disable = disable,          \
    .enable_all = enable_all, .disable_all = disable_all, .pick = pick

/* In the table of parameters: k of a strategy that does something at random steps. help: what is spread over them. */
#define PCT_K_PARAM(at, value, text)                                                                                   \
    [at] = { .name = "k", .default_value = (value), .min = 1, .max = UINT64_C(1000000000000), .help = (text) }

/* Numbers for the draws of picks, each used once. A chosen thread may find its operation disabled, and the pick is made
 * again at the same step: with a number of its own, for the old one is known to have led to that thread. */
struct pct_draws {
    uint64_t step;   /* of the last pick */
    uint32_t redraw; /* picks at that step before the last one */
};

static inline uint64_t pct_draws_next(struct pct_draws *draws, uint64_t step)
{
    draws->redraw = step == draws->step ? draws->redraw + 1 : 0;
    draws->step = step;
    return step << 16 | (draws->redraw & 0xffff);
}

#endif
