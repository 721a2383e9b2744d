/* Threads in lists, of which each thread is in one at most: the first of a list, and who comes behind, in O(1). All
 * lists have one place in what the strategy knows of a thread: a table of their own would be a page more that every run
 * touches. A member of a strategy's state, zeroed at first. */
#ifndef PCT_STRATEGIES_THREAD_LISTS_H
#define PCT_STRATEGIES_THREAD_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PCT_THREAD_LISTS = 8 /* with list 0, whose threads are in none */ };

struct pct_listed {
    uint16_t next, before; /* plus 1; 0: none */
    uint16_t in;
};

struct pct_thread_lists {
    uint16_t first[PCT_THREAD_LISTS]; /* plus 1; 0: the list is empty */
    char *of;                         /* where the struct pct_listed of the first thread is, */
    uint32_t each;                    /* and the next one's is this many bytes behind it */
};

/* A thread's struct pct_listed stands at this offset of its entry in this table, of entries of `each` bytes. */
static inline void pct_thread_lists_begin(struct pct_thread_lists *lists, void *table, size_t offset, size_t each)
{
    lists->of = table ? (char *)table + offset : NULL;
    lists->each = (uint32_t)each;
}

static inline struct pct_listed *pct_thread_listed(const struct pct_thread_lists *lists, uint32_t thread)
{
    return (void *)(lists->of + (size_t)thread * lists->each);
}

/* The one behind this one, both plus 1; 0: it is the last. */
static inline uint32_t pct_thread_lists_next(const struct pct_thread_lists *lists, uint32_t at)
{
    return pct_thread_listed(lists, at - 1)->next;
}

static inline bool pct_thread_lists_has(const struct pct_thread_lists *lists, uint32_t thread, uint32_t list)
{
    return pct_thread_listed(lists, thread)->in == list;
}

/* The thread is in this list from now on, as the first if it was not there, and in no other. 0: in none. */
static inline void pct_thread_lists_put(struct pct_thread_lists *lists, uint32_t thread, uint32_t list)
{
    struct pct_listed *t = pct_thread_listed(lists, thread);
    if (t->in == list)
        return;
    if (t->in) {
        *(t->before ? &pct_thread_listed(lists, t->before - 1u)->next : &lists->first[t->in]) = t->next;
        if (t->next)
            pct_thread_listed(lists, t->next - 1u)->before = t->before;
    }
    *t = (struct pct_listed){ .in = (uint16_t)list };
    if (!list)
        return;
    t->next = lists->first[list];
    lists->first[list] = (uint16_t)(thread + 1);
    if (t->next)
        pct_thread_listed(lists, t->next - 1u)->before = (uint16_t)(thread + 1);
}

#endif
