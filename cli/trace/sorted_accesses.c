/* Sorting accesses: see sorted_accesses.h. By counting: there are few objects and threads, and each run is sorted. */
#include "sorted_accesses.h"
#include <stdlib.h>

struct on_object {
    uint64_t object;
    size_t at; /* plus 1: where its next access is to stand; 0: the slot is free */
};

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Open addressing; slots: a power of two. */
static struct on_object *find_object(struct on_object *slot, size_t slots, uint64_t object)
{
    size_t at = (object * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (slots - 1);
    while (slot[at].at && slot[at].object != object)
        at = (at + 1) & (slots - 1);
    return &slot[at];
}

/* Where the accesses to each object begin, by the objects' numbers; object: room for these. */
static void place_objects(const struct pct_access *accesses, size_t accesses_count, struct on_object *slot,
                          size_t slots, uint64_t *object)
{
    size_t count = 0, begin = 1;
    for (size_t i = 0; i < accesses_count; i++) {
        struct on_object *on = find_object(slot, slots, accesses[i].object);
        if (!on->at++)
            object[count++] = on->object = accesses[i].object;
    }
    qsort(object, count, sizeof *object, by_number);
    for (size_t i = 0; i < count; i++) {
        size_t *at = &find_object(slot, slots, object[i])->at, those = *at;
        *at = begin;
        begin += those;
    }
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
    size_t slots = 64;
    while (slots < 2 * count)
        slots *= 2;
    struct on_object *slot = calloc(slots, sizeof *slot);
    uint64_t *object = malloc((count + 1) * sizeof *object);
    const struct pct_access **by_thread = malloc((count + 1) * sizeof(const struct pct_access *));
    size_t *begin = calloc(threads + 1, sizeof *begin);
    const bool fine = slot && object && by_thread && begin;
    if (fine) {
        sort_by_thread(accesses, count, threads, begin, by_thread);
        place_objects(accesses, count, slot, slots, object);
        /* Each object keeps the order that was. */
        for (size_t i = 0; i < count; i++)
            sorted[find_object(slot, slots, by_thread[i]->object)->at++ - 1] = by_thread[i];
    }
    free(slot);
    free(object);
    free((void *)by_thread);
    free(begin);
    return fine;
}
