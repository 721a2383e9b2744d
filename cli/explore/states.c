/* Hashes with numbers: see states.h. */
#include "states.h"
#include <errno.h>

int pct_states_note(struct pct_states *t, uint64_t hash, unsigned number)
{
    t->least.size = sizeof(uint8_t);
    const size_t known = t->least.count;
    uint8_t *least = pct_table_add(&t->least, hash);
    if (!least)
        return -ENOMEM;
    if (t->least.count == known && *least <= number)
        return 0;
    *least = (uint8_t)number;
    return 1;
}

size_t pct_states_count(const struct pct_states *t, unsigned number)
{
    size_t count = 0;
    const uint8_t *least;
    for (size_t at = 0; (least = pct_table_next(&t->least, &at, NULL));)
        count += *least == number;
    return count;
}

void pct_states_free(struct pct_states *t)
{
    pct_table_free(&t->least);
}
