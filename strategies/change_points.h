/* The random points of a run at which a strategy does something: the k_1 .. k_(d-1) of figure 7 of Burckhardt et al.,
 * ASPLOS 2010, independent and uniform over 1 .. k, so that some may be equal. Called by strategies; a member of their
 * state, zeroed at first.
 *
 * Three optional parameters name the neighbours of a schedule, for `pct check`: the same points, but this many steps
 * later or earlier, all of them or only one. A point that would come before the first step comes at the first. */
#ifndef PCT_STRATEGIES_CHANGE_POINTS_H
#define PCT_STRATEGIES_CHANGE_POINTS_H

#include <pct/random.h>
#include <pct/strategy.h>

enum { PCT_MAX_CHANGES = 63 };

#define PCT_SHIFT_MAX UINT64_C(1000000000000)

/* In the table of parameters: `later` has the number `at`, the others follow. */
#define PCT_SHIFT_PARAMS(at)                                                                                           \
    [at] = { .name = "later",                                                                                          \
             .max = PCT_SHIFT_MAX,                                                                                     \
             .help = "moves the random steps later by this many",                                                      \
             .quiet = true },                                                                                          \
    [(at) + 1] = { .name = "earlier",                                                                                  \
                   .max = PCT_SHIFT_MAX,                                                                               \
                   .help = "moves the random steps earlier by this many",                                              \
                   .quiet = true },                                                                                    \
    [(at) + 2] = { .name = "only",                                                                                     \
                   .max = PCT_MAX_CHANGES,                                                                             \
                   .zero = "all",                                                                                      \
                   .help = "later and earlier move only the random step of this number",                               \
                   .quiet = true }

struct pct_changes {
    uint64_t later, earlier;
    uint64_t only; /* 0: all are moved */
    uint32_t next, count;
    struct pct_change {
        uint64_t at; /* k_i */
        uint32_t i;
    } change[PCT_MAX_CHANGES]; /* in order; of several at one point, by i */
};

/* Move the points that will be drawn from now on. shift: the values of the parameters, from that of `later` on. */
static inline void pct_changes_shift(struct pct_changes *c, const uint64_t *shift)
{
    c->later = shift[0];
    c->earlier = shift[1];
    c->only = shift[2];
}

/* Where a point comes that was drawn at `at` as the i-th one. */
static inline uint64_t pct_changes_place(const struct pct_changes *c, uint32_t i, uint64_t at)
{
    if (c->only && c->only != i)
        return at;
    at += c->later;
    return at > c->earlier ? at - c->earlier : 1;
}

/* Draw `count` points among 1 .. k; other ones for each round. */
static inline void pct_changes_draw(struct pct_changes *c, uint64_t seed, uint64_t round, uint32_t count, uint64_t k)
{
    c->next = 0;
    c->count = 0;
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t place = round << 8 | i;
        uint64_t at = pct_random_below(seed, PCT_STREAM_CHANGE, place, k) + 1;
        struct pct_change change = { .at = pct_changes_place(c, i, at), .i = i };
        uint32_t to = c->count++;
        for (; to && c->change[to - 1].at > change.at; to--)
            c->change[to] = c->change[to - 1];
        c->change[to] = change;
    }
}

/* Where the next one is; PCT_UNLIMITED if none is left. */
static inline uint64_t pct_changes_next(const struct pct_changes *c)
{
    return c->next < c->count ? c->change[c->next].at : PCT_UNLIMITED;
}

/* Steps from this one to the next. */
static inline uint64_t pct_changes_budget(const struct pct_changes *c, uint64_t step)
{
    uint64_t next = pct_changes_next(c);
    return next == PCT_UNLIMITED ? next : next - step;
}

/* Take the next one: its i. */
static inline uint32_t pct_changes_take(struct pct_changes *c)
{
    return c->change[c->next++].i;
}

#endif
