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

/* The counter of its first dependency, or of its last one. */
static uint32_t counter_of(const struct pct_directed *d, const struct pct_iroot *root, bool last)
{
    const uint32_t *number = root->place + (last ? pct_idiom_accesses(root->idiom) - 2 : 0);
    uint32_t both[2][2];
    for (unsigned i = 0; i < 2; i++) {
        const struct pct_access_place *place = d->sets.places.item[number[i] - 1];
        both[i][0] = place->op;
        both[i][1] = place->code;
    }
    return XXH3_64bits(both, sizeof both) % PCT_DIRECTED_KIN;
}

uint32_t pct_directed_kin(const struct pct_directed *d, const struct pct_iroot *root)
{
    return (uint32_t)d->begun_with[counter_of(d, root, false)] + d->begun_with[counter_of(d, root, true)];
}

void pct_directed_begin_kin(struct pct_directed *d, const struct pct_iroot *root)
{
    d->begun_with[counter_of(d, root, false)]++;
    d->begun_with[counter_of(d, root, true)]++;
}
