/* Threads in lists, of which each thread is in one at most: the first of a list, and who comes behind, in O(1). All
 * lists have one table: a table of each list's own would be a page more that every run touches. A member of a
 * strategy's state, zeroed at first. */
#ifndef PCT_STRATEGIES_THREAD_LISTS_H
#define PCT_STRATEGIES_THREAD_LISTS_H

#include <pct/layout.h>
#include <stdbool.h>

enum { PCT_THREAD_LISTS = 8 /* with list 0, whose threads are in none */ };

struct pct_listed {
    uint16_t next, before; /* plus 1; 0: none */
    uint16_t in;
};

struct pct_thread_lists {
    uint16_t first[PCT_THREAD_LISTS]; /* plus 1; 0: the list is empty */
    struct pct_listed *of;            /* by thread */
};

/* For this many threads. */
static inline void pct_thread_lists_lay_out(struct pct_thread_lists *lists, struct pct_layout *layout, uint32_t threads)
{
    lists->of = pct_layout_take(layout, threads, sizeof *lists->of);
}

/* The one behind this one, both plus 1; 0: it is the last. */
static inline uint32_t pct_thread_lists_next(const struct pct_thread_lists *lists, uint32_t at)
{
    return lists->of[at - 1].next;
}

static inline bool pct_thread_lists_has(const struct pct_thread_lists *lists, uint32_t thread, uint32_t list)
{
    return lists->of[thread].in == list;
}

/* The thread is in this list from now on, as the first if it was not there, and in no other. 0: in none. */
static inline void pct_thread_lists_put(struct pct_thread_lists *lists, uint32_t thread, uint32_t list)
{
    struct pct_listed *t = &lists->of[thread];
    if (t->in == list)
        return;
    if (t->in) {
        *(t->before ? &lists->of[t->before - 1].next : &lists->first[t->in]) = t->next;
        if (t->next)
            lists->of[t->next - 1].before = t->before;
    }
    *t = (struct pct_listed){ .in = (uint16_t)list };
    if (!list)
        return;
    t->next = lists->first[list];
    lists->first[list] = (uint16_t)(thread + 1);
    if (t->next)
        lists->of[t->next - 1].before = (uint16_t)(thread + 1);
}

#endif
