/* Hashes with numbers: see states.h. */
#include "states.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static size_t place_of(const struct pct_states *t, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->room - 1);
    while (t->key[i] && t->key[i] != key)
        i = (i + 1) & (t->room - 1);
    return i;
}

static bool grow(struct pct_states *t)
{
    struct pct_states more = { .room = t->room ? 2 * t->room : 1024, .count = t->count };
    more.key = calloc(more.room, sizeof *more.key);
    more.least = calloc(more.room, sizeof *more.least);
    if (!more.key || !more.least) {
        pct_states_free(&more);
        return false;
    }
    for (size_t i = 0; i < t->room; i++)
        if (t->key[i]) {
            size_t at = place_of(&more, t->key[i]);
            more.key[at] = t->key[i];
            more.least[at] = t->least[i];
        }
    pct_states_free(t);
    *t = more;
    return true;
}

int pct_states_note(struct pct_states *t, uint64_t hash, unsigned number)
{
    hash += !hash;
    if (2 * (t->count + 1) > t->room && !grow(t))
        return -ENOMEM;
    size_t at = place_of(t, hash);
    if (t->key[at] && t->least[at] <= number)
        return 0;
    t->count += !t->key[at];
    t->key[at] = hash;
    t->least[at] = (uint8_t)number;
    return 1;
}

size_t pct_states_count(const struct pct_states *t, unsigned number)
{
    size_t count = 0;
    for (size_t i = 0; i < t->room; i++)
        count += t->key[i] && t->least[i] == number;
    return count;
}

void pct_states_free(struct pct_states *t)
{
    free(t->key);
    free(t->least);
    *t = (struct pct_states){ 0 };
}
