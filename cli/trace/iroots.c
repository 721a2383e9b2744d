/* iRoots of runs: see iroots.h. First the dependencies, by the accesses to each object; then pairs of them. */
#include "iroots.h"
#include "conflicts.h"
#include <cli/base/grow.h>
#include <common/bisect.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MOST = 1 << 18, MOST_OFFERED = 16 /* chances of an iRoot that are looked at in one run */ };
enum { OFTEN = 1 << 12, INSTANCES = 4, NEAR = 32 /* dependencies before one */ };

/* --- The set ------------------------------------------------------------------------------------------------------ */

static bool is_same(const struct pct_iroot *a, const struct pct_iroot *b)
{
    return a->idiom == b->idiom && !memcmp(a->place, b->place, sizeof a->place);
}

/* Of all that it is: every pair of dependencies of every run is looked up. */
static uint64_t hash_of(const struct pct_iroot *root)
{
    const uint64_t half = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (root->place[0] | (uint64_t)root->place[1] << 32) * half;
    return ((hash ^ hash >> 32) + (root->place[2] | (uint64_t)root->place[3] << 32) + root->idiom) * half;
}

static struct pct_iroot *insert(struct pct_iroots *roots, const struct pct_iroot *wanted)
{
    roots->alike.size = sizeof(struct pct_iroot *);
    const bool fits = PCT_GROW(roots->item, roots->count, roots->room);
    struct pct_iroot **alike = fits ? pct_table_add(&roots->alike, hash_of(wanted)) : NULL;
    struct pct_iroot *root = alike ? malloc(sizeof *root) : NULL;
    if (!root)
        return NULL;
    *root = *wanted;
    root->alike = *alike;
    *alike = root;
    roots->item[roots->count++] = root;
    roots->by_idiom[root->idiom]++;
    return root;
}

struct pct_iroot *pct_iroots_find(const struct pct_iroots *roots, const struct pct_iroot *wanted)
{
    struct pct_iroot **alike = pct_table_find(&roots->alike, hash_of(wanted)), *root = alike ? *alike : NULL;
    while (root && !is_same(root, wanted))
        root = root->alike;
    return root;
}

static int compare(const void *a, const void *b)
{
    const struct pct_iroot *x = *(const struct pct_iroot *const *)a, *y = *(const struct pct_iroot *const *)b;
    if (x->idiom != y->idiom)
        return x->idiom < y->idiom ? -1 : 1;
    return memcmp(x->place, y->place, sizeof x->place);
}

const struct pct_iroot **pct_iroots_sorted(const struct pct_iroots *roots)
{
    const struct pct_iroot **sorted = calloc(roots->count + 1, sizeof(const struct pct_iroot *));
    for (size_t i = 0; sorted && i < roots->count; i++)
        sorted[i] = roots->item[i];
    if (sorted)
        qsort((void *)sorted, roots->count, sizeof(const struct pct_iroot *), compare);
    return sorted;
}

uint64_t pct_iroots_newest(const struct pct_iroots *roots)
{
    return roots->newest;
}

struct pct_iroot *pct_iroots_find_either(const struct pct_iroots *roots, const struct pct_iroot *wanted)
{
    const uint32_t *at = wanted->place;
    const struct pct_iroot swapped = { .idiom = 5, .place = { at[2], at[3], at[0], at[1] } };
    struct pct_iroot *one = pct_iroots_find(roots, wanted);
    struct pct_iroot *other = wanted->idiom == 5 ? pct_iroots_find(roots, &swapped) : NULL;
    return !one || (other && other->first < one->first) ? other : one;
}

/* The one that is like this, of which a run more is known. NULL: there is no memory, or (roots->full) no room. */
static struct pct_iroot *count_run(struct pct_iroots *roots, const struct pct_iroot *wanted, uint64_t run)
{
    struct pct_iroot *root = pct_iroots_find(roots, wanted);
    if (!root && roots->count == (roots->most ? roots->most : MOST)) {
        roots->full = true;
        return NULL;
    }
    if (!root) {
        root = insert(roots, wanted);
        if (!root)
            return NULL;
        root->first = root->last = run;
        roots->newest = run > roots->newest ? run : roots->newest;
        root->runs = 1;
    } else if (root->last != run) {
        root->offered = 0;
        root->runs++;
        root->last = run;
    }
    return root;
}

int pct_iroots_insert(struct pct_iroots *roots, const struct pct_iroot *wanted, uint64_t run)
{
    return count_run(roots, wanted, run) || roots->full ? 0 : -ENOMEM;
}

int pct_iroots_expose(struct pct_iroots *roots, const struct pct_iroot *exposed, uint64_t run)
{
    const struct pct_iroot *known = exposed->idiom == 5 ? pct_iroots_find_either(roots, exposed) : NULL;
    return pct_iroots_insert(roots, known ? known : exposed, run);
}

/* The fewest changes of these chances. */
static uint8_t fewest_changes(const struct pct_iroot *root, unsigned kind)
{
    uint8_t fewest = UINT8_MAX;
    for (uint32_t i = 0; i < root->chances[kind]; i++)
        fewest = root->chance[kind][i].changes < fewest ? root->chance[kind][i].changes : fewest;
    return fewest;
}

int pct_iroots_insert_open(struct pct_iroots *roots, const struct pct_iroot *wanted, uint64_t run, unsigned kind,
                           struct pct_iroot **open)
{
    struct pct_iroot *root = count_run(roots, wanted, run);
    *open = NULL;
    if (!root)
        return roots->full ? 0 : -ENOMEM;
    const uint32_t chances = root->chances[kind];
    const struct pct_iroot_chance *last = chances ? &root->chance[kind][chances - 1] : NULL;
    const bool same = last && last->run == run;
    const bool perfect = same ? !last->changes : chances >= PCT_IROOT_FIRST_CHANCES && !fewest_changes(root, kind);
    if (!roots->unfollowed && !perfect && root->offered++ < MOST_OFFERED)
        *open = root;
    return 0;
}

struct pct_iroot_chance *pct_iroot_offer(struct pct_iroot *root, const struct pct_iroot_chance *chance)
{
    const unsigned kind = chance->first;
    uint32_t *chances = &root->chances[kind];
    struct pct_iroot_chance *those = root->chance[kind], *last = *chances ? &those[*chances - 1] : NULL;
    struct pct_iroot_chance *kept = NULL;
    /* Of each run the one that changes least; of these the last one: the more of the run is followed, the less can come
     * otherwise. */
    if (last && last->run == chance->run) {
        const bool later = chance->changes == last->changes && last->step[0] < chance->step[0];
        kept = chance->changes < last->changes || later ? last : NULL;
    } else if (*chances < PCT_IROOT_FIRST_CHANCES ||
               (*chances < PCT_IROOT_CHANCES && chance->changes <= fewest_changes(root, kind) / 2)) {
        kept = &those[(*chances)++];
    }
    if (kept)
        *kept = *chance;
    return kept;
}

void pct_iroots_free(struct pct_iroots *roots)
{
    for (size_t i = 0; i < roots->count; i++)
        free(roots->item[i]);
    free(roots->item);
    pct_table_free(&roots->alike);
    *roots = (struct pct_iroots){ .count = 0 };
}

unsigned pct_idiom_accesses(uint32_t idiom)
{
    return idiom == 1 ? 2 : idiom == 2 ? 3 : 4;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

/* What is known of an access. Others by their index plus 1; 0: none. */
struct links {
    uint32_t before; /* the one before it on its object */
    uint32_t write;  /* the last one before it there that writes */
    uint32_t own;    /* the one of its own thread before it there, */
    uint32_t next;   /* and the one behind it */
};

struct dependency {
    uint32_t from, to; /* indices of accesses */
};

struct object {
    uint32_t number; /* from 1, in the order of the first accesses to them */
    uint32_t last;   /* the index of the last access to it, plus 1 */
};

struct reader {
    struct pct_iroots *roots, *combined;
    const struct pct_access *access;
    uint32_t count, window, threads;
    uint64_t run;
    struct links *links;
    struct pct_table objects; /* struct object */
    struct pct_table own;     /* by the number of an object and a thread: the index of its last one there, plus 1 */
    uint32_t *seen;           /* by thread: the write, plus 1, before which a read of its own was met already */
    struct dependency *item;
    size_t items, room;
    uint32_t *incoming; /* dependencies, by the thread that they lead to, in their order */
    size_t *begin;      /* by thread, and one more: where its part of these begins */
    uint8_t *often;     /* by a hash of two places: dependencies that were looked at for combined patterns */
};

/* The access at this index is the last one to its object, and of its thread to it. False: there is no memory. */
static bool note_last(struct reader *r, uint32_t index)
{
    const struct pct_access *access = &r->access[index];
    struct links *links = &r->links[index];
    struct object *object = pct_table_add(&r->objects, access->object);
    if (object && !object->number)
        object->number = (uint32_t)r->objects.count;
    uint32_t *own = object ? pct_table_add(&r->own, (uint64_t)object->number << 32 | access->thread) : NULL;
    if (!own)
        return false;
    links->before = object->last;
    links->write =
        links->before && !r->access[links->before - 1].writes ? r->links[links->before - 1].write : links->before;
    links->own = *own;
    if (*own)
        r->links[*own - 1].next = index + 1;
    object->last = *own = index + 1;
    return true;
}

static bool add_dependency(struct reader *r, uint32_t from, uint32_t to)
{
    const struct pct_access *first = &r->access[from], *second = &r->access[to];
    if (first->thread == second->thread || !pct_conflict(first->op, second->op))
        return true;
    if (!PCT_GROW(r->item, r->items, r->room))
        return false;
    r->item[r->items++] = (struct dependency){ from, to };
    return true;
}

/* What the access at this index depends on: the last write, or the reads behind it, of each thread the last. */
static bool look_back(struct reader *r, uint32_t index)
{
    bool reads = false, fine = true;
    uint32_t at = r->access[index].writes ? r->links[index].before : r->links[index].write;
    for (; at && !r->access[at - 1].writes && fine; at = r->links[at - 1].before) {
        uint32_t *seen = &r->seen[r->access[at - 1].thread];
        reads = true;
        if (*seen != index + 1)
            fine = add_dependency(r, at - 1, index);
        *seen = index + 1;
    }
    return fine && (!at || reads || add_dependency(r, at - 1, index));
}

static bool find_dependencies(struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!note_last(r, i) || !look_back(r, i))
            return false;
    return true;
}

static bool sort_incoming(struct reader *r)
{
    r->incoming = calloc(r->items + 1, sizeof *r->incoming);
    r->begin = calloc(r->threads + 2, sizeof *r->begin);
    if (!r->incoming || !r->begin)
        return false;
    for (size_t i = 0; i < r->items; i++)
        r->begin[r->access[r->item[i].to].thread + 2]++;
    for (uint32_t t = 2; t < r->threads + 2; t++)
        r->begin[t] += r->begin[t - 1];
    for (uint32_t i = 0; i < r->items; i++)
        r->incoming[r->begin[r->access[r->item[i].to].thread + 1]++] = i;
    return true;
}

static int expose_places(struct reader *r, uint32_t idiom, const uint32_t *index)
{
    struct pct_iroot root = { .idiom = idiom };
    for (unsigned i = 0; i < pct_idiom_accesses(idiom); i++) {
        root.place[i] = r->access[index[i]].place;
        if (!root.place[i])
            return 0;
    }
    return pct_iroots_expose(idiom > PCT_IDIOMS ? r->combined : r->roots, &root, r->run);
}

/* The thread that both have, of three, and its access of each; the idiom. 0: they are no combined pattern. */
static uint32_t combined_idiom(const struct reader *r, const struct dependency *e, const struct dependency *f)
{
    const uint32_t first[2] = { e->from, e->to }, second[2] = { f->from, f->to };
    uint32_t shared = 0, idiom = 0;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const struct pct_access *one = &r->access[first[i]], *other = &r->access[second[k]];
            if (one->thread != other->thread)
                continue;
            shared++;
            if (other->number - one->number <= r->window)
                idiom = PCT_IDIOMS + 1 + 2 * i + k;
        }
    return shared == 1 ? idiom : 0;
}

/* This dependency as the second of combined patterns, with those that end before it begins. */
static int combine(struct reader *r, size_t second)
{
    const struct dependency *f = &r->item[second];
    const uint32_t place[2] = { r->access[f->from].place, r->access[f->to].place };
    uint8_t *often = &r->often[XXH3_64bits(place, sizeof place) % OFTEN];
    int failed = 0;
    if (*often == INSTANCES || r->combined->full)
        return 0;
    ++*often;
    const size_t end = PCT_BISECT(i, 0, second, r->item[i].to < f->from);
    for (size_t i = end > NEAR ? end - NEAR : 0; i < end && !failed; i++) {
        const struct dependency *e = &r->item[i];
        const uint32_t idiom = combined_idiom(r, e, f), all[PCT_IROOT_PLACES] = { e->from, e->to, f->from, f->to };
        failed = idiom ? expose_places(r, idiom, all) : 0;
    }
    return failed;
}

/* Whether the thread of these two, in this order, makes no other access to their objects in between. */
static bool is_alone(const struct reader *r, uint32_t first, uint32_t second)
{
    const uint32_t next = r->links[first].next;
    return r->links[second].own <= first + 1 && (!next || next > second);
}

/* The idiom of these two, of which the second ends in the thread where the first begins; 0: none. */
static uint32_t idiom_of(const struct reader *r, const struct dependency *e, const struct dependency *f)
{
    const struct pct_access *a = &r->access[e->from], *b = &r->access[e->to], *c = &r->access[f->from],
                            *d = &r->access[f->to];
    if (a->thread != d->thread || a->number >= d->number || d->number - a->number > r->window)
        return 0;
    if (a->object != c->object && b->number > c->number)
        return e->from < f->from ? 5 : 0; /* each of the two could be called the first */
    if (b->number > c->number || !is_alone(r, e->from, f->to))
        return 0;
    return e->to == f->from ? 2 : a->object == c->object ? 3 : 4;
}

/* The first of the dependencies that lead to the thread of this access, up to the window before it. */
static size_t find_incoming(const struct reader *r, const struct pct_access *access)
{
    uint32_t least = access->number > r->window ? access->number - r->window : 0;
    return PCT_BISECT(i, r->begin[access->thread], r->begin[access->thread + 1],
                      r->access[r->item[r->incoming[i]].to].number < least);
}

/* The pairs of this dependency as the second, with those that lead to the thread where it ends, from that where it
 * begins: idiom 6. */
static int pair_parallel(struct reader *r, const struct dependency *f)
{
    const struct pct_access *c = &r->access[f->from], *d = &r->access[f->to];
    int failed = 0;
    for (size_t i = find_incoming(r, d); i < r->begin[d->thread + 1] && !failed; i++) {
        const struct dependency *e = &r->item[r->incoming[i]];
        const struct pct_access *a = &r->access[e->from], *b = &r->access[e->to];
        if (b->number >= d->number)
            break;
        if (a->thread != c->thread || a->object == c->object || a->number >= c->number ||
            c->number - a->number > r->window)
            continue;
        const uint32_t all[PCT_IROOT_PLACES] = { e->from, e->to, f->from, f->to };
        failed = expose_places(r, 6, all);
    }
    return failed;
}

/* The pairs of this dependency as the second, with those that lead to the thread where it begins. */
static int pair(struct reader *r, const struct dependency *f)
{
    const struct pct_access *c = &r->access[f->from];
    size_t low = find_incoming(r, c), end = r->begin[c->thread + 1];
    for (int failed; low < end; low++) {
        const struct dependency *e = &r->item[r->incoming[low]];
        if (r->access[e->to].number > (uint64_t)c->number + r->window)
            break;
        uint32_t idiom = idiom_of(r, e, f);
        const uint32_t all[PCT_IROOT_PLACES] = { e->from, e->to, idiom == 2 ? f->to : f->from, f->to };
        failed = idiom ? expose_places(r, idiom, all) : 0;
        if (failed)
            return failed;
    }
    return 0;
}

static int read_run(struct reader *r)
{
    if (!r->links || !r->seen || !r->often || !find_dependencies(r) || !sort_incoming(r))
        return -ENOMEM;
    int failed = 0;
    for (size_t i = 0; i < r->items && !failed; i++) {
        const uint32_t both[2] = { r->item[i].from, r->item[i].to };
        failed = expose_places(r, 1, both);
        if (!failed)
            failed = pair(r, &r->item[i]);
        if (!failed)
            failed = pair_parallel(r, &r->item[i]);
        if (!failed && r->combined)
            failed = combine(r, i);
    }
    return failed;
}

int pct_iroots_add(struct pct_iroots *roots, struct pct_iroots *combined, const struct pct_access *accesses,
                   size_t count, uint32_t window, uint64_t run)
{
    struct reader r = { .roots = roots,
                        .combined = combined,
                        .access = accesses,
                        .count = (uint32_t)count,
                        .window = window,
                        .run = run,
                        .objects = PCT_TABLE(struct object),
                        .own = PCT_TABLE(uint32_t) };
    if (count >= UINT32_MAX / 2)
        return -ENOMEM;
    for (uint32_t i = 0; i < r.count; i++)
        r.threads = accesses[i].thread >= r.threads ? accesses[i].thread + 1 : r.threads;
    r.links = calloc(count + 1, sizeof *r.links);
    r.seen = calloc(r.threads + 1, sizeof *r.seen);
    r.often = calloc(OFTEN, 1);
    int failed = read_run(&r);
    free(r.often);
    free(r.links);
    pct_table_free(&r.objects);
    pct_table_free(&r.own);
    free(r.seen);
    free(r.item);
    free(r.incoming);
    free(r.begin);
    return failed;
}
