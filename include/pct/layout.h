/* How a strategy divides its block of state among tables whose length is known only when a run begins: by the threads
 * that there can be (pct_run.threads), by a parameter.
 *
 * The same function of the strategy asks for its tables twice, in the same order: in state_size(), of no memory, to
 * learn how much that is, and in start(), of the state itself. A table that a run uses but the beginning of costs
 * memory only for that beginning. Header only, without libc; called by strategies, on the turn of the thread that holds
 * the baton. */
#ifndef PCT_LAYOUT_H
#define PCT_LAYOUT_H

#include <pct/strategy.h>
#include <stddef.h>
#include <stdint.h>

struct pct_layout {
    char *base;    /* the state, or NULL: only its size is asked for */
    uint32_t used; /* bytes so far: begins with those of the strategy's own struct, which comes first */
};

/* The next `count` entries of `size` bytes, aligned to 16; NULL without memory. */
static inline void *pct_layout_take(struct pct_layout *layout, uint32_t count, size_t size)
{
    uint32_t at = (layout->used + 15) & ~15u;
    layout->used = at + count * (uint32_t)size;
    return layout->base ? layout->base + at : NULL;
}

/* What state_size() returns: of a state of this type whose tables `lay_out(type *, struct pct_layout *, const struct
 * pct_run *)` takes. What it fills for that is not on the stack: a thread that forks may have a small one. */
#define PCT_LAYOUT_SIZE(type, lay_out, run)                                                                            \
    ({                                                                                                                 \
        static type pct_none_;                                                                                         \
        struct pct_layout pct_layout_ = { .used = sizeof pct_none_ };                                                  \
        lay_out(&pct_none_, &pct_layout_, run);                                                                        \
        pct_layout_.used;                                                                                              \
    })

/* How many threads there can be in this run. */
static inline uint32_t pct_layout_threads(const struct pct_run *run)
{
    return run->threads ? run->threads : PCT_MAX_THREADS;
}

#endif
