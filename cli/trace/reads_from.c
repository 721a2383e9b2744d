/* Reads-from pairs of runs: see reads_from.h. */
#include "reads_from.h"
#include <cli/base/table.h>
#include <errno.h>
#include <pct/operations.h>

/* What is known of an object. */
struct object {
    uint32_t thread; /* the first that has used it, plus 1 */
    uint32_t place;  /* of the last write; 0: there was none */
    bool shared;     /* others have used it, too */
};

/* False: there is no memory. */
static bool find_shared(struct pct_table *objects, const struct pct_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct object *object = pct_table_add(objects, accesses[i].object);
        if (!object)
            return false;
        if (!object->thread)
            object->thread = accesses[i].thread + 1;
        object->shared |= object->thread != accesses[i].thread + 1;
    }
    return true;
}

int pct_reads_from_add(struct pct_iroots *pairs, const struct pct_access *accesses, size_t count, uint64_t run)
{
    struct pct_table objects = PCT_TABLE(struct object);
    int failed = find_shared(&objects, accesses, count) ? 0 : -ENOMEM;
    for (size_t i = 0; i < count && !failed; i++) {
        const struct pct_access *access = &accesses[i];
        struct object *object = pct_table_find(&objects, access->object);
        if (!object->shared || !pct_operation_accesses(access->op))
            continue;
        const struct pct_iroot pair = { .idiom = 1, .place = { object->place, access->place } };
        if (access->op != PCT_OP_STORE && access->op != PCT_OP_ATOMIC_STORE)
            failed = pct_iroots_insert(pairs, &pair, run);
        if (access->writes)
            object->place = access->place;
    }
    pct_table_free(&objects);
    return failed;
}
