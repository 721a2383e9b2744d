/* Which events use what: see users.h. */
#include "users.h"
#include <errno.h>
#include <stdlib.h>

enum { BITS = 64, GLOBAL = 63, WORD = 64 };

static void mark(uint64_t *set, uint32_t index)
{
    set[index / WORD] |= UINT64_C(1) << index % WORD;
}

int pct_users_open(struct pct_users *u, const struct pct_execution *x)
{
    *u = (struct pct_users){ .threads = x->threads, .words = x->count / WORD + 1 };
    u->set = calloc((BITS + (size_t)x->threads) * u->words, sizeof *u->set);
    u->first = calloc((size_t)x->threads + 1 + x->count, sizeof *u->first);
    if (!u->set || !u->first) {
        pct_users_close(u);
        return -ENOMEM;
    }
    u->event = u->first + x->threads + 1;
    for (uint32_t i = 0; i < x->count; i++)
        u->first[x->event[i].thread + 1]++;
    for (uint32_t t = 0; t < x->threads; t++)
        u->first[t + 1] += u->first[t];
    for (uint32_t i = 0; i < x->count; i++)
        u->event[u->first[x->event[i].thread] + x->event[i].number - 1] = i;
    return 0;
}

void pct_users_close(struct pct_users *u)
{
    free(u->set);
    free(u->first);
    *u = (struct pct_users){ 0 };
}

void pct_users_add(struct pct_users *u, uint32_t index, uint16_t thread, uint64_t uses)
{
    mark(u->set + (BITS + (size_t)thread) * u->words, index);
    for (; uses; uses &= uses - 1)
        mark(u->set + (size_t)__builtin_ctzll(uses) * u->words, index);
}

/* Of this word, those that the event may depend on. */
static uint64_t look(const struct pct_users_left *left, size_t word)
{
    const struct pct_users *u = left->users;
    uint64_t all = left->uses >> GLOBAL ? UINT64_MAX : u->set[GLOBAL * u->words + word];
    for (uint64_t uses = left->uses; uses && all != UINT64_MAX; uses &= uses - 1)
        all |= u->set[(size_t)__builtin_ctzll(uses) * u->words + word];
    return all & ~u->set[(BITS + (size_t)left->thread) * u->words + word];
}

void pct_users_pass(struct pct_users_left *left, const uint32_t *clock)
{
    const struct pct_users *u = left->users;
    uint32_t lowest = UINT32_MAX;
    for (uint32_t t = 0; t < u->threads; t++) {
        uint32_t place = u->first[t] + clock[t];
        if (t != left->thread && place < u->first[t + 1] && u->event[place] < lowest)
            lowest = u->event[place];
    }
    left->last = lowest / WORD;
    if (left->last > left->word)
        left->here = 0;
}

struct pct_users_left pct_users_before(const struct pct_users *u, uint32_t end, uint32_t thread, uint64_t uses,
                                       const uint32_t *clock)
{
    struct pct_users_left left = { .users = u, .uses = uses, .thread = thread, .word = end / WORD };
    left.here = look(&left, left.word) & ((UINT64_C(1) << end % WORD) - 1);
    pct_users_pass(&left, clock);
    return left;
}

uint32_t pct_users_next(struct pct_users_left *left)
{
    while (!left->here) {
        if (left->word <= left->last)
            return 0;
        left->here = look(left, --left->word);
    }
    uint32_t bit = (uint32_t)(WORD - 1 - __builtin_clzll(left->here));
    left->here ^= UINT64_C(1) << bit;
    return (uint32_t)left->word * WORD + bit + 1;
}
