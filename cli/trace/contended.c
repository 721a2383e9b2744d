/* See contended.h. */
#include "contended.h"
#include "accesses.h"
#include "orderings.h"
#include <pct/operations.h>
#include <stdlib.h>

enum { BACK = 64 /* accesses of a variable that are compared with the next one */ };

static bool is_atomic(unsigned op)
{
    return op >= PCT_OP_ATOMIC_LOAD && op <= PCT_OP_ATOMIC_TRY;
}

static int by_object(const void *a, const void *b)
{
    const struct pct_access *x = *(const struct pct_access *const *)a, *y = *(const struct pct_access *const *)b;
    return x->object != y->object ? (x->object < y->object ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

/* The later one of the trace is `b`; both are numbers of accesses. */
static bool meet(const struct pct_orderings *o, const struct pct_access *accesses, size_t a, size_t b)
{
    const struct pct_access *x = &accesses[a], *y = &accesses[b];
    return x->thread != y->thread && (x->writes || y->writes) &&
           !pct_orderings_before(o, x->thread, x->number, o->clock[b]) &&
           !pct_locksets_exclude(&o->locksets[o->lockset[a]], &o->locksets[o->lockset[b]]);
}

/* Whether threads meet in one of these accesses to one object. */
static bool is_contended(const struct pct_orderings *o, const struct pct_access *accesses,
                         const struct pct_access *const *sorted, size_t count)
{
    bool atomic = false;
    for (size_t i = 0; i < count && !atomic; i++)
        atomic = is_atomic(sorted[i]->op);
    for (size_t i = 1; atomic && i < count; i++)
        for (size_t j = i > BACK ? i - BACK : 0; j < i; j++)
            if (meet(o, accesses, (size_t)(sorted[j] - accesses), (size_t)(sorted[i] - accesses)))
                return true;
    return false;
}

size_t pct_contended_atomics(const struct pct_trace *trace)
{
    struct pct_orderings orderings = { 0 };
    struct pct_access *accesses;
    size_t count, contended = 0;
    int failed = pct_accesses_read(NULL, trace, &accesses, &count);
    const struct pct_access **sorted = failed ? NULL : calloc(count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = &accesses[i];
    if (sorted && !pct_orderings_read(&orderings, trace, accesses, count)) {
        qsort(sorted, count, sizeof *sorted, by_object);
        for (size_t from = 0, to; from < count; from = to) {
            for (to = from; to < count && sorted[to]->object == sorted[from]->object;)
                to++;
            contended += pct_operation_accesses(sorted[from]->op) &&
                         is_contended(&orderings, accesses, sorted + from, to - from);
        }
        pct_orderings_free(&orderings);
    }
    free(sorted);
    free(accesses);
    return contended;
}
