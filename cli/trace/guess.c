/* Guessing patterns: see guess.h. */
#include "guess.h"
#include "conflicts.h"
#include <errno.h>
#include <stdlib.h>

enum {
    MOST_PLACES = 1024, /* of a program: with more there would be too many to try */
    LOOKS = 1 << 14,    /* patterns that a run is looked at for, at most */
    PAIRS = 4,          /* of accesses of a thread at the same two places: this many are looked at */
    INSTANCES = 6,      /* accesses at a place, */
    OF_THREAD = 2,      /* and of each thread: likewise */
    THREADS = 3
};

/* What is known of a place. */
struct place {
    uint32_t *other[2]; /* the places of the other side of dependencies whose first access is here; whose second is */
    uint32_t others[2];
    const struct pct_access *instance[INSTANCES];
    uint32_t instances;
};

struct reader {
    struct pct_iroots *guessed;
    const struct pct_iroots *exposed;
    const struct pct_access_places *places;
    const struct pct_orderings *orderings;
    const struct pct_access *access;
    uint32_t count, window, place_count;
    uint64_t run;
    struct place *place; /* from 0 */
    uint32_t *other;     /* what their lists are parts of */
    uint8_t *met;        /* by two places: how often a thread was seen to make the one, and then the other */
    uint32_t *before;    /* by access: the one of its thread before it, plus 1 */
    uint32_t *met_all;   /* by thread and place: the last access there whose pairs had all been looked at, plus 1 */
    uint32_t looks;
};

/* Whether it matters that an access at the one of these places comes before one at the other. */
static bool matters(const struct pct_access_places *places, const uint32_t place[2])
{
    return pct_conflict(places->item[place[0] - 1]->op, places->item[place[1] - 1]->op);
}

/* --- Swapped ones ------------------------------------------------------------------------------------------------- */

struct swapping {
    struct pct_iroots *guessed;
    const struct pct_iroots *exposed, *predicted;
    const struct pct_access_places *places;
    uint64_t run;
    int failed;
};

static bool is_exposed(const struct swapping *s, const uint32_t place[2])
{
    const struct pct_iroot root = { .idiom = 1, .place = { place[0], place[1] } };
    return pct_iroots_find(s->exposed, &root);
}

/* The iRoot with its first dependency (1), its second one (2) or both (3) the other way round: 4 and 6 are that of each
 * other. False: there is none that is worth a try. */
static bool swap(const struct swapping *s, struct pct_iroot *swapped, const struct pct_iroot *root, unsigned which)
{
    const uint32_t first = which & 1, second = which >> 1, *at = root->place;
    *swapped = (struct pct_iroot){ .idiom = root->idiom, .place = { at[first], at[!first] } };
    if (root->idiom == 1)
        return which == 1 && matters(s->places, swapped->place);
    if (root->idiom != 4 && root->idiom != 6)
        return false;
    swapped->idiom = which == 3 ? root->idiom : 10 - root->idiom;
    swapped->place[2] = at[2 + second];
    swapped->place[3] = at[2 + !second];
    return matters(s->places, swapped->place) && matters(s->places, swapped->place + 2) &&
           is_exposed(s, swapped->place) && is_exposed(s, swapped->place + 2);
}

static void swap_all(struct swapping *s, const struct pct_iroot *root)
{
    struct pct_iroot swapped;
    for (unsigned which = 1; which <= 3 && !s->failed; which++)
        if (swap(s, &swapped, root, which) && !pct_iroots_find(s->exposed, &swapped) &&
            !pct_iroots_find(s->predicted, &swapped))
            s->failed = pct_iroots_insert(s->guessed, &swapped, s->run);
}

int pct_guess_swapped(struct pct_iroots *guessed, const struct pct_iroots *exposed, const struct pct_iroots *predicted,
                      const struct pct_access_places *places, uint64_t run)
{
    struct swapping s = { guessed, exposed, predicted, places, run, 0 };
    const struct pct_iroot **sorted = pct_iroots_sorted(exposed);
    s.failed = sorted ? 0 : -ENOMEM;
    for (size_t i = 0; i < exposed->count && !s.failed; i++)
        swap_all(&s, sorted[i]);
    free((void *)sorted);
    return s.failed;
}

/* --- Combined ones: what is known of places ----------------------------------------------------------------------- */

static bool is_dependency(const struct reader *r, const struct pct_iroot *root)
{
    return root->idiom == 1 && matters(r->places, root->place);
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* In the order of places: a set that was read from a file has another order than one that runs have filled. */
static void find_dependencies(struct reader *r)
{
    size_t end = 0;
    for (size_t i = 0; i < r->exposed->count; i++)
        for (unsigned side = 0; side < 2 && is_dependency(r, r->exposed->item[i]); side++)
            r->place[r->exposed->item[i]->place[side] - 1].others[side]++;
    for (uint32_t i = 0; i < r->place_count; i++)
        for (unsigned side = 0; side < 2; side++) {
            struct place *place = &r->place[i];
            place->other[side] = &r->other[end];
            end += place->others[side];
            place->others[side] = 0;
        }
    for (size_t i = 0; i < r->exposed->count; i++) {
        const struct pct_iroot *root = r->exposed->item[i];
        for (unsigned side = 0; side < 2 && is_dependency(r, root); side++) {
            struct place *place = &r->place[root->place[side] - 1];
            place->other[side][place->others[side]++] = root->place[!side];
        }
    }
    for (uint32_t i = 0; i < r->place_count; i++)
        for (unsigned side = 0; side < 2; side++)
            if (r->place[i].others[side])
                qsort(r->place[i].other[side], r->place[i].others[side], sizeof(uint32_t), ascending);
}

static void find_instances(struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (!r->access[i].place)
            continue;
        struct place *place = &r->place[r->access[i].place - 1];
        uint32_t own = 0;
        for (uint32_t k = 0; k < place->instances; k++)
            own += place->instance[k]->thread == r->access[i].thread;
        if (place->instances < INSTANCES && own < OF_THREAD)
            place->instance[place->instances++] = &r->access[i];
    }
}

/* Of each access, the one of its thread before it; *threads: how many make some. False: there is no memory. */
static bool find_threads(struct reader *r, uint32_t *threads)
{
    uint32_t *last = calloc(r->orderings->threads + 1, sizeof *last);
    *threads = 0;
    for (uint32_t i = 0; last && i < r->count; i++) {
        uint32_t *of = &last[r->access[i].thread];
        *threads += !*of;
        r->before[i] = *of;
        *of = i + 1;
    }
    const bool fine = last;
    free(last);
    return fine;
}

/* --- What is possible --------------------------------------------------------------------------------------------- */

static const struct pct_lockset *locks_of(const struct reader *r, const struct pct_access *access)
{
    return &r->orderings->locksets[r->orderings->lockset[access - r->access]];
}

/* Whether something but locks makes the second come before the first in any schedule. */
static bool is_late(const struct reader *r, const struct pct_access *first, const struct pct_access *second)
{
    return first->thread != second->thread &&
           pct_orderings_before(r->orderings, second->thread, second->number, r->orderings->clock[first - r->access]);
}

/* Whether the other access needs a lock that this thread does not give up from the one to the other. */
static bool is_kept_out(const struct reader *r, const struct pct_access *from, const struct pct_access *to,
                        const struct pct_access *other)
{
    const struct pct_lockset *a = locks_of(r, from), *b = locks_of(r, to), *c = locks_of(r, other);
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            for (uint32_t n = 0; n < c->count && a->section[i].id == b->section[k].id; n++)
                if (c->section[n].lock == a->section[i].lock && !(c->section[n].shared && a->section[i].shared))
                    return true;
    return false;
}

/* Whether these accesses, of three threads, can be made in this order. */
static bool is_possible(const struct reader *r, const struct pct_access *const made[PCT_IROOT_PLACES])
{
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        for (unsigned k = i + 1; k < PCT_IROOT_PLACES; k++) {
            if (is_late(r, made[i], made[k]))
                return false;
            for (unsigned n = i + 1; n < k && made[i]->thread == made[k]->thread; n++)
                if (is_kept_out(r, made[i], made[k], made[n]))
                    return false;
        }
    return true;
}

/* --- Combined ones ------------------------------------------------------------------------------------------------ */

/* Whether this run has accesses at these places, by two more threads, for the sides that the shared thread does not
 * make. */
static bool find_others(const struct reader *r, const struct pct_access *made[PCT_IROOT_PLACES], unsigned one,
                        unsigned two, uint32_t at_one, uint32_t at_two, uint32_t shared)
{
    const struct place *first = &r->place[at_one - 1], *second = &r->place[at_two - 1];
    for (uint32_t i = 0; i < first->instances; i++)
        for (uint32_t k = 0; k < second->instances; k++) {
            made[one] = first->instance[i];
            made[two] = second->instance[k];
            if (made[one]->thread != shared && made[two]->thread != shared && made[one]->thread != made[two]->thread &&
                is_possible(r, made))
                return true;
        }
    return false;
}

/* Those whose shared thread makes these accesses, as this side of the first dependency and that of the second. */
static int combine(struct reader *r, const struct pct_access *here, const struct pct_access *there, unsigned first,
                   unsigned second)
{
    const struct place *one = &r->place[here->place - 1], *two = &r->place[there->place - 1];
    int failed = 0;
    for (uint32_t i = 0; i < one->others[first]; i++)
        for (uint32_t k = 0; k < two->others[second] && !failed; k++) {
            const struct pct_access *made[PCT_IROOT_PLACES];
            const uint32_t at_one = one->other[first][i], at_two = two->other[second][k];
            made[first] = here;
            made[2 + second] = there;
            if (r->looks++ >= LOOKS)
                return 0;
            if (!find_others(r, made, !first, 2 + !second, at_one, at_two, here->thread))
                continue;
            struct pct_iroot root = { .idiom = PCT_IDIOMS + 1 + 2 * first + second };
            for (unsigned n = 0; n < PCT_IROOT_PLACES; n++)
                root.place[n] = made[n]->place;
            failed = pct_iroots_insert(r->guessed, &root, r->run);
        }
    return failed;
}

/* *left: set if such a pair is looked at once more. */
static int combine_all(struct reader *r, const struct pct_access *here, const struct pct_access *there, bool *left)
{
    uint8_t *met =
        here->place && there->place ? &r->met[(size_t)(here->place - 1) * r->place_count + there->place - 1] : NULL;
    int failed = 0;
    if (!met || *met == PAIRS)
        return 0;
    *left |= ++*met < PAIRS;
    for (unsigned i = 0; i < 4 && !failed; i++)
        failed = combine(r, here, there, i / 2, i % 2);
    return failed;
}

/* The pairs of this access with those of its thread before it, as far as the window reaches. Behind one at the same
 * place, of which none was left, there are only such as that one had, too. */
static int combine_with_earlier(struct reader *r, uint32_t i)
{
    const struct pct_access *there = &r->access[i];
    uint32_t *met_all = &r->met_all[(size_t)there->thread * (r->place_count + 1) + there->place];
    bool left = false;
    int failed = 0;
    for (uint32_t at = r->before[i]; at && there->place && !failed; at = r->before[at - 1]) {
        if (there->number - r->access[at - 1].number > r->window)
            break;
        failed = combine_all(r, &r->access[at - 1], there, &left);
        if (at == *met_all)
            break;
    }
    *met_all = left ? 0 : i + 1;
    return failed;
}

static int read_run(struct reader *r)
{
    uint32_t threads;
    int failed = 0;
    if (!r->before || !r->met || !r->met_all || !r->place || !r->other || !find_threads(r, &threads))
        return -ENOMEM;
    if (threads < THREADS)
        return 0;
    find_dependencies(r);
    find_instances(r);
    for (uint32_t i = 0; i < r->count && r->looks < LOOKS && !failed; i++)
        failed = combine_with_earlier(r, i);
    return failed;
}

int pct_guess_combined(struct pct_iroots *guessed, const struct pct_iroots *exposed,
                       const struct pct_orderings *orderings, const struct pct_access_places *places,
                       const struct pct_access *accesses, size_t count, uint32_t window, uint64_t run)
{
    struct reader r = { .guessed = guessed,
                        .exposed = exposed,
                        .places = places,
                        .orderings = orderings,
                        .access = accesses,
                        .count = (uint32_t)count,
                        .window = window,
                        .place_count = (uint32_t)places->count,
                        .run = run };
    if (count >= UINT32_MAX || places->count > MOST_PLACES || guessed->full)
        return 0;
    r.before = calloc(count + 1, sizeof *r.before);
    r.met = calloc(places->count * places->count + 1, sizeof *r.met);
    r.met_all = calloc((orderings->threads + 1) * (places->count + 1), sizeof *r.met_all);
    r.place = calloc(places->count + 1, sizeof *r.place);
    r.other = calloc(2 * exposed->count + 1, sizeof *r.other);
    const int failed = read_run(&r);
    free(r.before);
    free(r.met);
    free(r.met_all);
    free(r.place);
    free(r.other);
    return failed;
}
