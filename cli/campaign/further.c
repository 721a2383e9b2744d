/* Which of the guessed patterns (cli/trace/guess.h) a directed campaign tries: see directed_state.h. Each is tried
 * twice: with younger threads first, then with older ones. Which one goes first is drawn: to begin with what was
 * exposed late, as the other queue does, found the bug of producer-consumer later (docs/experiments/MAPLE.md). */
#include "directed.h"
#include "directed_state.h"
#include <cli/base/cli.h>
#include <cli/trace/guess.h>
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 14, FEW = 64 };
enum { TRIES = 2, YOUNGEST = 2, OLDEST = 1 /* the parameter `order` */ };

void pct_further_begin(struct pct_directed *d)
{
    d->sets.guessed.most = d->sets.combined.most = MOST;
}

int pct_further_guess(struct pct_directed *d, const struct pct_orderings *orderings, const struct pct_access *accesses,
                      size_t count, uint64_t run, bool first)
{
    struct pct_iroot_sets *sets = &d->sets;
    int failed = pct_guess_combined(&sets->guessed, &sets->exposed, orderings, &sets->places, accesses, count,
                                    PCT_DIRECTED_WINDOW, run);
    if (!failed && (first || sets->exposed.newest == run))
        failed = pct_guess_swapped(&sets->guessed, &sets->exposed, &sets->predicted, &sets->places, run);
    return failed;
}

/* Combined ones have a set of their own. */
static const struct pct_iroot *find_exposed(const struct pct_directed *d, const struct pct_iroot *root)
{
    return root->idiom > PCT_IDIOMS ? pct_iroots_find(&d->sets.combined, root)
                                    : pct_iroots_find_either(&d->sets.exposed, root);
}

bool pct_further_is_exposed(const struct pct_directed *d, size_t i)
{
    return find_exposed(d, d->sets.guessed.item[i]) != NULL;
}

/* Lower goes first. A number of its own, so that a campaign that is resumed draws the same. */
static uint64_t rank_of(const struct pct_directed *d, size_t i)
{
    const struct pct_iroot *root = d->sets.guessed.item[i];
    uint64_t all = root->idiom;
    for (unsigned k = 0; k < PCT_IROOT_PLACES; k++)
        all = all << 14 ^ root->place[k];
    return (uint64_t)d->further[i].tries << 48 | pct_random_below(d->run[0].seed, PCT_STREAM_CHOOSE, all, 1u << 24);
}

size_t pct_further_choose(struct pct_directed *d, uint64_t known)
{
    for (;;) {
        size_t best = SIZE_MAX;
        uint64_t lowest = UINT64_MAX;
        for (size_t i = 0; i < d->sets.guessed.count && d->sets.guessed.item[i]->first <= known; i++) {
            const struct pct_further *further = &d->further[i];
            const uint64_t rank = rank_of(d, i);
            if (further->tries == TRIES || further->known || rank >= lowest ||
                (further->exposed && further->exposed->first <= known))
                continue;
            best = i;
            lowest = rank;
        }
        if (best == SIZE_MAX)
            return best;
        struct pct_further *further = &d->further[best];
        const struct pct_iroot *root = d->sets.guessed.item[best];
        further->known = d->memo.count && pct_directed_is_known(d, root);
        if (!further->exposed)
            further->exposed = find_exposed(d, root);
        if (!further->known && (!further->exposed || further->exposed->first > known))
            return best;
    }
}

bool pct_further_is_turn(const struct pct_directed *d, uint64_t index)
{
    uint64_t made = 0;
    for (size_t i = 0; i < d->sets.guessed.count; i++)
        made += d->further[i].tries;
    return index % 4 == 2 || (index % 4 == 3 && made < FEW);
}

uint32_t pct_further_order(struct pct_further *further)
{
    static const uint8_t orders[TRIES] = { YOUNGEST, OLDEST };
    return orders[further->tries++];
}

void pct_further_say(const struct pct_directed *d)
{
    size_t forced[2] = { 0 }, exposed[2] = { 0 };
    for (size_t i = 0; i < d->sets.guessed.count; i++) {
        const struct pct_iroot *root = d->sets.guessed.item[i];
        const bool combined = root->idiom > PCT_IDIOMS, was = d->further[i].tried;
        forced[combined] += was;
        exposed[combined] += was && find_exposed(d, root);
    }
    if (forced[0] || forced[1])
        pct_cli_say("then %zu combined patterns, of which %zu were exposed, and %zu swapped ones: %zu", forced[1],
                    exposed[1], forced[0], exposed[0]);
}
