/* The random points of a run at which a strategy does something: the k_1 .. k_(d-1) of figure 7 of Burckhardt et al.,
 * ASPLOS 2010, independent and uniform over 1 .. k, so that some may be equal. Called by strategies; a member of their
 * state. */
#ifndef PCT_STRATEGIES_CHANGES_H
#define PCT_STRATEGIES_CHANGES_H

#include <pct/random.h>
#include <pct/strategy.h>

enum { PCT_MAX_CHANGES = 63 };

struct pct_changes {
    uint32_t next, count;
    struct pct_change {
        uint64_t at; /* k_i */
        uint32_t i;
    } change[PCT_MAX_CHANGES]; /* in order; of several at one point, by i */
};

/* Draw `count` points among 1 .. k; other ones for each round. */
static inline void pct_changes_draw(struct pct_changes *c, uint64_t seed, uint64_t round, uint32_t count, uint64_t k)
{
    c->next = 0;
    c->count = 0;
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t place = round << 8 | i;
        struct pct_change change = { .at = pct_random_below(seed, PCT_STREAM_CHANGE, place, k) + 1, .i = i };
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
