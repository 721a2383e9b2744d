/* iRoots that threads hardly tell apart: see directed_state.h. */
#include "directed_state.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The accesses to one object and the locks around them make several iRoots that are the same to threads, so that the
 * order that fails with one of them fails with the others. Without a function, it is the place that counts. */
bool pct_directed_begins_younger(struct pct_directed *d, const struct pct_iroot *root)
{
    XXH64_hash_t hash = root->idiom;
    for (unsigned k = 0; k < pct_idiom_accesses(root->idiom); k++) {
        const struct pct_access_place *place = d->sets.places.item[root->place[k] - 1];
        const char *name = place->function[0] ? place->function : place->file;
        hash = XXH3_64bits_withSeed(name, strlen(name), hash);
    }
    return d->begun[hash % PCT_DIRECTED_KIN]++ % 2;
}
