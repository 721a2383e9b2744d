/* Reads-from pairs of runs: see reads_from.h. */
#include "reads_from.h"
#include <errno.h>
#include <pct/operations.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is known of an object. */
struct object {
    uint64_t number;
    uint32_t thread; /* the first that has used it, plus 1; 0: the slot is free */
    uint32_t place;  /* of the last write; 0: there was none */
    bool shared;     /* others have used it, too */
};

static struct object *find(struct object *table, size_t size, uint64_t number)
{
    size_t at = XXH3_64bits(&number, sizeof number) & (size - 1);
    while (table[at].thread && table[at].number != number)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void find_shared(struct object *table, size_t size, const struct pct_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct object *object = find(table, size, accesses[i].object);
        if (!object->thread)
            *object = (struct object){ .number = accesses[i].object, .thread = accesses[i].thread + 1 };
        object->shared |= object->thread != accesses[i].thread + 1;
    }
}

int pct_reads_from_add(struct pct_iroots *pairs, const struct pct_access *accesses, size_t count, uint64_t run)
{
    size_t size = 64;
    int failed = 0;
    while (size < 2 * count)
        size *= 2;
    struct object *table = calloc(size, sizeof *table);
    if (!table)
        return -ENOMEM;
    find_shared(table, size, accesses, count);
    for (size_t i = 0; i < count && !failed; i++) {
        const struct pct_access *access = &accesses[i];
        struct object *object = find(table, size, access->object);
        if (!object->shared || !pct_operation_accesses(access->op))
            continue;
        const struct pct_iroot pair = { .idiom = 1, .place = { object->place, access->place } };
        if (access->op != PCT_OP_STORE && access->op != PCT_OP_ATOMIC_STORE)
            failed = pct_iroots_insert(pairs, &pair, run);
        if (access->writes)
            object->place = access->place;
    }
    free(table);
    return failed;
}
