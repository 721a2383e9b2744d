/* Hash tables: see table.h. */
#include "table.h"
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 16 /* slots */ };

bool pct_table_reserve(struct pct_table *t, size_t count)
{
    struct pct_table more = { .size = t->size, .count = t->count, .room = FEWEST, .zero = t->zero, .shift = 60 };
    if (2 * count <= t->room)
        return true;
    for (; more.room < 2 * count; more.room *= 2)
        more.shift--;
    more.key = calloc(more.room + 1, sizeof *more.key + t->size);
    if (!more.key)
        return false;
    more.value = (unsigned char *)(more.key + more.room + 1);
    for (size_t i = 0; i <= t->room && t->room; i++) {
        size_t to = i == t->room ? more.room : t->key[i] ? pct_table_slot(&more, t->key[i]) : SIZE_MAX;
        if (to == SIZE_MAX)
            continue;
        more.key[to] = t->key[i];
        memcpy(pct_table_value(&more, to), pct_table_value(t, i), t->size);
    }
    free(t->key);
    *t = more;
    return true;
}

void *pct_table_insert(struct pct_table *t, uint64_t key)
{
    if (2 * (t->count + 1) > t->room && !pct_table_reserve(t, t->count + 1))
        return NULL;
    size_t slot = key ? pct_table_slot(t, key) : t->room;
    t->count++;
    t->zero |= !key;
    t->key[slot] = key;
    return pct_table_value(t, slot);
}

void *pct_table_next(const struct pct_table *t, size_t *at, uint64_t *key)
{
    while (*at < t->room && !t->key[*at])
        ++*at;
    if (!t->room || *at > t->room || (*at == t->room && !t->zero))
        return NULL;
    if (key)
        *key = t->key[*at];
    return pct_table_value(t, (*at)++);
}

void pct_table_free(struct pct_table *t)
{
    free(t->key);
    *t = (struct pct_table){ .size = t->size };
}
