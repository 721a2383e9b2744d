/* Random contracts, for the tests that compare what they mean with enumeration. */
#ifndef PCT_TESTS_DEMON_RANDOM_H
#define PCT_TESTS_DEMON_RANDOM_H

#include <demon/spec.h>
#include <stdlib.h>

static uint64_t seed = 1;

/* A number below this one. */
static inline unsigned draw(unsigned below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

/* Give back an expression that was grown. */
static inline void cut(struct demon_expr *e)
{
    if (!e)
        return;
    cut(e->a);
    cut(e->b);
    free(e);
}

/* How many of them the environment asks for; SEED: other ones. */
static inline unsigned contracts_wanted(unsigned otherwise)
{
    const char *asked = getenv("CONTRACTS"), *other = getenv("SEED");
    seed = other ? strtoull(other, NULL, 10) : seed;
    return asked ? (unsigned)strtoul(asked, NULL, 10) : otherwise;
}

#endif
