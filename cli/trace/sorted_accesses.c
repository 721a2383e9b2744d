/* Sorting accesses: see sorted_accesses.h. By counting: there are few objects and threads, and each run is sorted. */
#include "sorted_accesses.h"
#include <cli/base/table.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Where the accesses to each object begin, by the objects' numbers. False: there is no memory. */
static bool place_objects(const struct pct_access *accesses, size_t accesses_count, struct pct_table *at)
{
    size_t count = 0, begin = 0;
    for (size_t i = 0; i < accesses_count; i++) {
        size_t *those = pct_table_add(at, accesses[i].object);
        if (!those)
            return false;
        ++*those;
    }
    uint64_t *object = malloc((at->count + 1) * sizeof *object);
    if (!object)
        return false;
    for (size_t slot = 0; pct_table_next(at, &slot, &object[count]);)
        count++;
    qsort(object, count, sizeof *object, by_number);
    for (size_t i = 0; i < count; i++) {
        size_t *next = pct_table_find(at, object[i]), those = *next;
        *next = begin;
        begin += those;
    }
    free(object);
    return true;
}

/* begin: a zero for each thread, and one more. */
static void sort_by_thread(const struct pct_access *accesses, size_t count, uint32_t threads, size_t *begin,
                           const struct pct_access **sorted)
{
    for (size_t i = 0; i < count; i++)
        begin[accesses[i].thread + 1]++;
    for (uint32_t i = 1; i < threads; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < count; i++)
        sorted[begin[accesses[i].thread]++] = &accesses[i];
}

bool pct_accesses_sort(const struct pct_access *accesses, size_t count, uint32_t threads,
                       const struct pct_access **sorted)
{
    struct pct_table at = PCT_TABLE(size_t); /* by object: where its next access is to stand */
    const struct pct_access **by_thread = malloc((count + 1) * sizeof(const struct pct_access *));
    size_t *begin = calloc(threads + 1, sizeof *begin);
    const bool fine = by_thread && begin && place_objects(accesses, count, &at);
    if (fine) {
        sort_by_thread(accesses, count, threads, begin, by_thread);
        /* Each object keeps the order that was. */
        for (size_t i = 0; i < count; i++)
            sorted[(*(size_t *)pct_table_find(&at, by_thread[i]->object))++] = by_thread[i];
    }
    pct_table_free(&at);
    free((void *)by_thread);
    free(begin);
    return fine;
}

const struct pct_access *pct_accesses_own_write(const struct pct_access *const *sorted, size_t count, size_t at,
                                                int direction)
{
    enum { NEAR = 8 };
    const struct pct_access *access = sorted[at];
    for (unsigned i = 0; i < NEAR && (direction < 0 ? at > 0 : at + 1 < count); i++) {
        const struct pct_access *other = sorted[at = direction < 0 ? at - 1 : at + 1];
        if (other->object != access->object || other->thread != access->thread)
            break;
        if (other->writes)
            return other;
    }
    return NULL;
}
