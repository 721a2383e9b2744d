/* Predicting iRoots: see predict.h. The accesses to an object are condensed first (Maple, section 3.5.2): those of one
 * thread, at one place, with the same clock and locks, are as good as one. Then pairs of them: of idiom 1 each pair of
 * two threads that may follow each other; of the others, two accesses of one thread that are near each other, with one
 * or two of another thread in between. */
#include "predict.h"
#include "access_links.h"
#include "conflicts.h"
#include "reordering.h"
#include "sorted_accesses.h"
#include <cli/base/grow.h>
#include <cli/base/cli.h>
#include <common/bisect.h>
#include <errno.h>
#include <pct/operations.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    MOST_ENTRIES = 2048, /* of an object; others are left out */
    MOST_PAIRS = 1 << 14,
    ALIKE = 3,     /* pairs that are as good as one: this many are kept */
    INSTANCES = 8, /* accesses that are one entry: this many are looked at for pairs */
    INSTANCES_KEPT = 3,
    MET = 256,
    MOST_STATES = 1 << 17 /* of reordered runs that are looked at */
};

/* A lock under which an access was made. */
enum {
    SHARED = 1,
    FIRST = 2, /* of its section, to the object */
    LAST = 4,
    NO_WRITE_BEFORE = 8, /* of its thread's, to the object, in its section */
    NO_WRITE_AFTER = 16
};
struct guard {
    uint64_t lock, how; /* how: a set of these */
};

struct entry {
    const struct pct_access *access; /* the last one */
    uint32_t clock;
    uint32_t looked; /* this many of its accesses were looked at for pairs */
    uint64_t hash;   /* of its place, object and guards */
    uint32_t guards;
    struct guard guard[PCT_SECTIONS_MOST];
};

/* Two accesses of a thread, near each other, in this order. */
struct pair {
    const struct entry *first, *second;
    uint64_t within[PCT_SECTIONS_MOST]; /* locks that the thread held all the time between them */
    uint32_t withins;
    const struct pct_access *early[2]; /* the first two such ones, */
    const struct pct_access *far[2];   /* the first one, and the last second one that is near it, */
    const struct pct_access *made[2];  /* and the last first one, with the second that is near it */
    bool alone;                        /* their thread makes no other access to their objects in between */
};

/* Pairs that differ by nothing but their thread, or its clock. */
struct alike {
    uint32_t count, pair[ALIKE];
};

struct reader {
    struct pct_iroots *predicted;
    uint64_t first; /* the number of the trace's first step */
    struct pct_orderings orderings;
    const struct pct_access *access;
    const struct pct_access **sorted; /* by object, thread and time */
    size_t count;
    uint32_t window;
    uint64_t run;
    struct entry *entry;   /* by object */
    size_t entries, begin; /* begin: where those of the object that is looked at begin */
    uint32_t *entry_of;    /* by access, plus 1; 0: it was left out */
    struct pct_access_links links;
    struct pct_reordering reordering;
    struct pair *pair;
    size_t pairs, room;     /* room: for pairs, a power of two */
    struct pct_table alike; /* struct alike */
    uint32_t met[MET];      /* pairs that were looked up last, plus 1, by their entries; 0: none */
};

/* --- What an access is condensed to ------------------------------------------------------------------------------- */

static const struct pct_lockset *locks_of(const struct reader *r, const struct pct_access *access)
{
    return &r->orderings.locksets[r->orderings.lockset[access - r->access]];
}

/* Whether the other access, if it is one of the same thread, is in that section. */
static bool is_in(const struct reader *r, const struct pct_access *other, const struct pct_access *access, uint32_t id)
{
    if (!other || other->thread != access->thread)
        return false;
    const struct pct_lockset *set = locks_of(r, other);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->section[i].id == id)
            return true;
    return false;
}

/* The access at this place of the sorted ones. */
static void make_entry(const struct reader *r, size_t at, struct entry *entry)
{
    const struct pct_access *access = r->sorted[at];
    const struct pct_access *before = at ? r->sorted[at - 1] : NULL;
    const struct pct_access *after = at + 1 < r->count ? r->sorted[at + 1] : NULL;
    before = before && before->object == access->object ? before : NULL;
    after = after && after->object == access->object ? after : NULL;
    const struct pct_lockset *set = locks_of(r, access);
    const struct pct_access *written[2] = { pct_accesses_own_write(r->sorted, r->count, at, -1),
                                            pct_accesses_own_write(r->sorted, r->count, at, 1) };
    *entry = (struct entry){ .access = access, .clock = r->orderings.clock[access - r->access] };
    for (uint32_t i = 0; i < set->count; i++) {
        const struct pct_section *section = &set->section[i];
        if (section->lock == access->object)
            continue; /* it is what gives it back */
        const uint64_t how = (section->shared ? SHARED : 0u) | (is_in(r, before, access, section->id) ? 0u : FIRST) |
                             (is_in(r, after, access, section->id) ? 0u : LAST) |
                             (is_in(r, written[0], access, section->id) ? 0u : NO_WRITE_BEFORE) |
                             (is_in(r, written[1], access, section->id) ? 0u : NO_WRITE_AFTER);
        entry->guard[entry->guards++] = (struct guard){ section->lock, how };
    }
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    bool same = a->access->thread == b->access->thread && a->access->place == b->access->place &&
                a->clock == b->clock && a->guards == b->guards && a->access->writes == b->access->writes;
    for (uint32_t i = 0; same && i < a->guards; i++)
        same = a->guard[i].lock == b->guard[i].lock && a->guard[i].how == b->guard[i].how;
    return same;
}

static uint64_t hash_entry(const struct entry *entry)
{
    uint64_t hash = XXH3_64bits_withSeed(entry->guard, sizeof entry->guard, entry->access->place);
    return XXH3_64bits_withSeed(&entry->access->object, sizeof entry->access->object, hash);
}

static void add_entry(struct reader *r, size_t at)
{
    struct entry entry;
    uint32_t *of = &r->entry_of[r->sorted[at] - r->access];
    make_entry(r, at, &entry);
    for (size_t i = r->entries; i > r->begin && r->entry[i - 1].access->thread == entry.access->thread; i--)
        if (is_same(&r->entry[i - 1], &entry)) {
            r->entry[i - 1].access = entry.access;
            *of = (uint32_t)i;
            return;
        }
    if (r->entries - r->begin == MOST_ENTRIES)
        return;
    entry.hash = hash_entry(&entry);
    r->entry[r->entries++] = entry;
    *of = (uint32_t)r->entries;
}

/* --- What is possible --------------------------------------------------------------------------------------------- */

static bool conflict(const struct pct_access *a, const struct pct_access *b)
{
    return pct_conflict(a->op, b->op);
}

/* Whether mutual exclusion forbids that the one comes right before the other: what conflicts with them, of their own
 * threads in these sections, would be in between. */
static bool exclude(const struct entry *a, const struct entry *b)
{
    const uint64_t last = a->access->writes && !b->access->writes ? NO_WRITE_AFTER : LAST;
    const uint64_t first = a->access->writes && b->access->writes ? FIRST : NO_WRITE_BEFORE;
    for (uint32_t i = 0; i < a->guards; i++)
        for (uint32_t k = 0; k < b->guards; k++)
            if (a->guard[i].lock == b->guard[k].lock && !(a->guard[i].how & b->guard[k].how & SHARED) &&
                !(a->guard[i].how & last && b->guard[k].how & first))
                return true;
    return false;
}

static bool is_possible(const struct reader *r, const struct entry *a, const struct entry *b)
{
    return conflict(a->access, b->access) && !exclude(a, b) &&
           !pct_orderings_before(&r->orderings, b->access->thread, b->access->number, a->clock);
}

/* Where the one is made, the other cannot be: before this access of its thread it can. */
static const struct pct_access *find_before_section(const struct reader *r, const struct pct_access *made,
                                                    const struct pct_access *other)
{
    const struct pct_lockset *a = locks_of(r, made), *b = locks_of(r, other);
    const struct pct_access *from = made;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++) {
            const struct pct_section *section = &a->section[i];
            const bool excludes = section->lock == b->section[k].lock && !(section->shared && b->section[k].shared);
            if (excludes && &r->access[section->by] < from)
                from = &r->access[section->by];
        }
    return from;
}

/* One more, of these accesses: A, B, C, D; NULL: the idiom has no such one. Of idiom 5 that dependency stays the first
 * that was it when this one was predicted before: which one is, objects decide, whose numbers are of one run. */
static int predict(struct reader *r, uint32_t idiom, const struct pct_access *const accesses[PCT_IROOT_PLACES])
{
    const struct pct_access *made[PCT_IROOT_PLACES] = { accesses[0], accesses[1], accesses[2], accesses[3] };
    struct pct_iroot root = { .idiom = idiom };
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++) {
        root.place[i] = made[i] ? made[i]->place : 0;
        if (made[i] && !root.place[i])
            return 0;
    }
    const struct pct_iroot *known = idiom == 5 ? pct_iroots_find_either(r->predicted, &root) : NULL;
    if (known && memcmp(known->place, root.place, sizeof root.place) != 0)
        for (unsigned i = 0; i < PCT_IROOT_PLACES; i++) {
            made[i] = accesses[(i + 2) % PCT_IROOT_PLACES];
            root.place[i] = made[i]->place;
        }
    const struct pct_access *a = made[0], *other = made[idiom == 5 ? 2 : 1];
    const bool swapped = other->index < a->index;
    const uint32_t wrote = r->links.wrote[(swapped ? other : a) - r->access];
    struct pct_iroot *open;
    const int failed = pct_iroots_insert_open(r->predicted, &root, r->run, swapped, &open);
    if (!open)
        return failed;
    const struct pct_access *from = swapped ? find_before_section(r, other, a) : a;
    struct pct_iroot_chance chance = {
        .run = r->run,
        .step = { r->first + from->index, wrote ? r->first + r->access[wrote - 1].index : 0,
                  swapped ? r->first + a->index : 0 },
        .first = swapped,
        .thread = { a->thread, other->thread },
    };
    pct_reordering_find(&r->reordering, idiom, made, from, &chance);
    struct pct_iroot_chance *kept = pct_iroot_offer(open, &chance);
    for (unsigned i = 0; kept && i < PCT_IROOT_PLACES; i++)
        kept->visit[i] = made[i] ? pct_access_links_visits(&r->links, made[i], from->index) : 0;
    return 0;
}

/* Of the accesses that are this entry, the first one behind `access`; or the last one. */
static const struct pct_access *find_early(const struct reader *r, const struct entry *entry,
                                           const struct pct_access *access)
{
    const struct pct_access *found = entry->access;
    for (unsigned k = 0; k < INSTANCES; k++) {
        const uint32_t before = r->links.earlier[found - r->access];
        if (!before || r->entry_of[before - 1] != (uint32_t)(entry - r->entry) + 1 ||
            r->access[before - 1].index < access->index)
            break;
        found = &r->access[before - 1];
    }
    return found;
}

/* Idiom 1, of the object whose entries begin at r->begin. */
static int predict_first(struct reader *r)
{
    int failed = 0;
    for (size_t i = r->begin; i < r->entries && !failed; i++)
        for (size_t k = r->begin; k < r->entries && !failed; k++) {
            const struct pct_access *a = r->entry[i].access, *b = r->entry[k].access;
            if (a->thread == b->thread || !is_possible(r, &r->entry[i], &r->entry[k]))
                continue;
            const struct pct_access *early = find_early(r, &r->entry[k], a);
            failed = predict(r, 1, (const struct pct_access *[PCT_IROOT_PLACES]){ a, b });
            if (!failed && early != b)
                failed = predict(r, 1, (const struct pct_access *[PCT_IROOT_PLACES]){ a, early });
        }
    return failed;
}

static int read_objects(struct reader *r)
{
    bool fine = pct_accesses_sort(r->access, r->count, r->orderings.threads, r->sorted);
    fine = fine && pct_access_links_read(&r->links, r->access, r->count, r->orderings.threads, r->sorted);
    int failed = fine ? 0 : -ENOMEM;
    for (size_t i = 0; i < r->count && !failed; i++) {
        add_entry(r, i);
        if (i + 1 < r->count && r->sorted[i + 1]->object == r->sorted[i]->object)
            continue;
        failed = predict_first(r);
        r->begin = r->entries;
    }
    return failed;
}

/* --- Pairs of a thread -------------------------------------------------------------------------------------------- */

/* The locks that the thread held from the one to the other, but for those that they are on. Returns how many. */
static uint32_t find_within(const struct reader *r, const struct pct_access *first, const struct pct_access *second,
                            uint64_t within[PCT_SECTIONS_MOST])
{
    const struct pct_lockset *set = locks_of(r, first);
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->section[i].lock != first->object && set->section[i].lock != second->object &&
            is_in(r, second, first, set->section[i].id))
            within[count++] = set->section[i].lock;
    return count;
}

static bool make_pair_room(struct reader *r)
{
    if (r->pairs < r->room || r->room == MOST_PAIRS)
        return true;
    return PCT_GROW(r->pair, r->pairs, r->room);
}

/* These two are the pair, once more. */
static void note_pair(struct pair *pair, const struct pct_access *first, const struct pct_access *second)
{
    if (first->index > pair->made[0]->index) {
        pair->made[0] = first;
        pair->made[1] = second;
    }
    if (first == pair->far[0])
        pair->far[1] = second;
}

/* Where this pair is noted, if it was looked up lately. */
static uint32_t *find_met(struct reader *r, const struct entry *a, const struct entry *b)
{
    return &r->met[((size_t)(a - r->entry) * 31 + (size_t)(b - r->entry)) % MET];
}

/* One more pair, unless there are enough like it. False: there is no memory. */
static bool add_pair(struct reader *r, const struct pct_access *first, const struct pct_access *second,
                     const struct entry *a, const struct entry *b, bool alone)
{
    uint32_t *met = find_met(r, a, b);
    uint64_t within[PCT_SECTIONS_MOST];
    const uint32_t withins = find_within(r, first, second, within);
    struct pair *last = *met ? &r->pair[*met - 1] : NULL;
    if (last && last->first == a && last->second == b && last->alone == alone && last->withins == withins &&
        !memcmp(last->within, within, withins * sizeof *within)) {
        note_pair(last, first, second);
        return true;
    }
    if (!make_pair_room(r))
        return false;
    struct pair pair = { .first = a,
                         .second = b,
                         .withins = withins,
                         .early = { first, second },
                         .far = { first, second },
                         .made = { first, second },
                         .alone = alone };
    memcpy(pair.within, within, withins * sizeof *within);
    const uint64_t all[3] = { a->hash, b->hash, alone };
    const uint64_t key = XXH3_64bits_withSeed(all, sizeof all, XXH3_64bits(pair.within, sizeof pair.within));
    struct alike *alike = r->pairs < MOST_PAIRS ? pct_table_add(&r->alike, key) : pct_table_find(&r->alike, key);
    if (!alike)
        return r->pairs == MOST_PAIRS;
    bool enough = alike->count == ALIKE || r->pairs == MOST_PAIRS;
    for (uint32_t i = 0; i < alike->count; i++) {
        struct pair *known = &r->pair[alike->pair[i]];
        bool same = known->first == a && known->second == b;
        enough |= same;
        if (!same)
            continue;
        note_pair(known, first, second);
        *met = alike->pair[i] + 1;
    }
    if (enough)
        return true;
    *met = (uint32_t)r->pairs + 1;
    alike->pair[alike->count++] = (uint32_t)r->pairs;
    r->pair[r->pairs++] = pair;
    return true;
}

/* False: there is no memory. */
static bool find_pairs_of(struct reader *r, const struct pct_access *first)
{
    struct entry *entry = &r->entry[r->entry_of[first - r->access] - 1];
    bool met = false; /* another access of the thread to that object */
    if (entry->looked++ >= INSTANCES)
        return true;
    for (uint32_t at = r->links.next[first - r->access]; at; at = r->links.next[at - 1]) {
        const struct pct_access *second = &r->access[at - 1];
        const bool alone = !met && r->links.own[at - 1] <= (uint32_t)(first - r->access) + 1;
        if (second->number - first->number > r->window)
            return true;
        if (r->entry_of[at - 1] && !add_pair(r, first, second, entry, &r->entry[r->entry_of[at - 1] - 1], alone))
            return false;
        met |= second->object == first->object;
    }
    return true;
}

static int by_objects(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    const uint64_t one[2] = { x->first->access->object, x->second->access->object };
    const uint64_t other[2] = { y->first->access->object, y->second->access->object };
    for (unsigned i = 0; i < 2; i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static bool find_pairs(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->entry_of[i] && !find_pairs_of(r, &r->access[i]))
            return false;
    if (r->pairs)
        qsort(r->pair, r->pairs, sizeof *r->pair, by_objects);
    return true;
}

/* --- The other idioms --------------------------------------------------------------------------------------------- */

static bool is_on_one(const struct pair *pair)
{
    return pair->first->access->object == pair->second->access->object;
}

/* Whether this access is made under one of the locks that the pair's thread does not give up in between. */
static bool is_kept_out(const struct pair *pair, const struct entry *entry)
{
    for (uint32_t i = 0; i < pair->withins; i++)
        for (uint32_t k = 0; k < entry->guards; k++)
            if (pair->within[i] == entry->guard[k].lock && !(entry->guard[k].how & SHARED))
                return true;
    return false;
}

/* Accesses that are such a pair: up to INSTANCES_KEPT of them. Returns how many. */
static unsigned find_instances(const struct pair *pair, const struct pct_access *const *instance[INSTANCES_KEPT])
{
    unsigned count = 0;
    instance[count++] = pair->made;
    if (pair->early[0] != pair->made[0] || pair->early[1] != pair->made[1])
        instance[count++] = pair->early;
    if (pair->far[1] != pair->early[1] && (pair->far[0] != pair->made[0] || pair->far[1] != pair->made[1]))
        instance[count++] = pair->far;
    return count;
}

/* Idiom 2: an access to the one object of the pair in between. The entries of an object stand together. */
static int predict_second(struct reader *r, const struct pair *pair)
{
    const struct entry *end = r->entry + r->entries, *b = pair->first;
    const uint64_t object = b->access->object;
    const struct pct_access *const *one[INSTANCES_KEPT];
    const unsigned ones = find_instances(pair, one);
    int failed = 0;
    while (b > r->entry && b[-1].access->object == object)
        b--;
    for (; b < end && b->access->object == object && !failed; b++)
        if (b->access->thread != pair->first->access->thread && !is_kept_out(pair, b) &&
            is_possible(r, pair->first, b) && is_possible(r, b, pair->second))
            for (unsigned i = 0; i < 2 * ones && !failed; i++) {
                const struct pct_access *const *near = one[i / 2];
                const struct pct_access *other = i % 2 ? find_early(r, b, near[0]) : b->access;
                const struct pct_access *const made[PCT_IROOT_PLACES] = { near[0], other, near[1] };
                failed = i % 2 && other == b->access ? 0 : predict(r, 2, made);
            }
    return failed;
}

/* Of two pairs, these accesses are A, B, C and D: those of the first pair 0 and 1, those of the other one 2 and 3. */
static int predict_two(struct reader *r, uint32_t idiom, const uint8_t which[PCT_IROOT_PLACES], const struct pair *pair,
                       const struct pair *other)
{
    const struct pct_access *const *one[INSTANCES_KEPT], *const *two[INSTANCES_KEPT];
    const unsigned ones = find_instances(pair, one), twos = find_instances(other, two);
    int failed = 0;
    for (unsigned i = 0; i < ones * twos && !failed; i++) {
        const struct pct_access *const *const both[2] = { one[i % ones], two[i / ones] };
        const struct pct_access *made[PCT_IROOT_PLACES];
        for (unsigned k = 0; k < PCT_IROOT_PLACES; k++)
            made[k] = both[which[k] / 2][which[k] % 2];
        failed = predict(r, idiom, made);
    }
    return failed;
}

/* Idioms 3 and 4: the other pair, on the same objects in the same order, in between. */
static int predict_between(struct reader *r, const struct pair *pair, const struct pair *other)
{
    static const uint8_t which[] = { 0, 2, 3, 1 };
    if (!pair->alone || pair->first->access->thread == other->first->access->thread ||
        is_kept_out(pair, other->first) || is_kept_out(pair, other->second) ||
        !is_possible(r, pair->first, other->first) || !is_possible(r, other->second, pair->second))
        return 0;
    return predict_two(r, is_on_one(pair) ? 3 : 4, which, pair, other);
}

/* Whether locks forbid each order in which the first accesses of both pairs come before the second ones. The one pair's
 * thread may be through between the other's two accesses, which then may be made under its locks: not in between. */
static bool is_kept_apart(const struct pair *pair, const struct pair *other)
{
    const bool in[2] = { is_kept_out(pair, other->first), is_kept_out(pair, other->second) };
    const bool around[2] = { is_kept_out(other, pair->first), is_kept_out(other, pair->second) };
    return (in[0] || in[1]) && (around[0] || around[1]) && (in[0] || around[1]) && (in[1] || around[0]);
}

/* Idiom 5: the other pair, on the same objects the other way round, across it. Once, though both could be called the
 * first. */
static int predict_across(struct reader *r, const struct pair *pair, const struct pair *other)
{
    static const uint8_t which[] = { 0, 3, 2, 1 };
    if (is_on_one(pair) || pair->first->access->thread == other->first->access->thread || is_kept_apart(pair, other) ||
        pair->first->access->object > pair->second->access->object || !is_possible(r, pair->first, other->second) ||
        !is_possible(r, other->first, pair->second))
        return 0;
    return predict_two(r, 5, which, pair, other);
}

/* Idiom 6: the other pair, on the same objects in the same order, behind. */
static int predict_parallel(struct reader *r, const struct pair *pair, const struct pair *other)
{
    static const uint8_t which[] = { 0, 2, 1, 3 };
    if (is_on_one(pair) || pair->first->access->thread == other->first->access->thread ||
        !is_possible(r, pair->first, other->first) || !is_possible(r, pair->second, other->second))
        return 0;
    return predict_two(r, 6, which, pair, other);
}

/* The first of the pairs on these objects. */
static size_t find_on(const struct reader *r, uint64_t first, uint64_t second)
{
    return PCT_BISECT(i, 0, r->pairs,
                      r->pair[i].first->access->object < first ||
                          (r->pair[i].first->access->object == first && r->pair[i].second->access->object < second));
}

typedef int predict_both(struct reader *r, const struct pair *pair, const struct pair *other);

static int predict_on(struct reader *r, const struct pair *pair, uint64_t first, uint64_t second, predict_both *predict)
{
    int failed = 0;
    for (size_t i = find_on(r, first, second); i < r->pairs && !failed; i++) {
        if (r->pair[i].first->access->object != first || r->pair[i].second->access->object != second)
            break;
        failed = predict(r, pair, &r->pair[i]);
    }
    return failed;
}

static int predict_pairs(struct reader *r)
{
    int failed = find_pairs(r) ? 0 : -ENOMEM;
    for (size_t i = 0; i < r->pairs && !failed; i++) {
        const struct pair *pair = &r->pair[i];
        const uint64_t first = pair->first->access->object, second = pair->second->access->object;
        if (pair->alone && is_on_one(pair))
            failed = predict_second(r, pair);
        if (!failed)
            failed = predict_on(r, pair, first, second, predict_between);
        if (!failed)
            failed = predict_on(r, pair, second, first, predict_across);
        if (!failed)
            failed = predict_on(r, pair, first, second, predict_parallel);
    }
    return failed;
}

static bool make_room(struct reader *r)
{
    r->sorted = malloc((r->count + 1) * sizeof(const struct pct_access *));
    r->entry = malloc((r->count + 1) * sizeof *r->entry);
    r->entry_of = calloc(r->count + 1, sizeof *r->entry_of);
    return r->sorted && r->entry && r->entry_of;
}

int pct_predict_ordered(struct pct_iroots *predicted, const struct pct_orderings *orderings,
                        const struct pct_trace *trace, const struct pct_access *accesses, size_t count, uint32_t window,
                        uint64_t run)
{
    struct reader r = { .predicted = predicted,
                        .first = trace->first,
                        .orderings = *orderings,
                        .access = accesses,
                        .count = count,
                        .window = window,
                        .run = run,
                        .alike = PCT_TABLE(struct alike) };
    int failed = make_room(&r) ? 0 : -ENOMEM;
    r.reordering = (struct pct_reordering){ trace, &r.links, &r.orderings, MOST_STATES };
    if (!failed)
        failed = read_objects(&r);
    if (!failed)
        failed = predict_pairs(&r);
    free((void *)r.sorted);
    free(r.entry);
    free(r.entry_of);
    pct_access_links_free(&r.links);
    free(r.pair);
    pct_table_free(&r.alike);
    return failed;
}

int pct_predict_add(struct pct_iroots *predicted, const struct pct_trace *trace, const struct pct_access *accesses,
                    size_t count, uint32_t window, uint64_t run)
{
    struct pct_orderings orderings;
    int failed = pct_orderings_read(&orderings, trace, accesses, count);
    failed = failed ? failed : pct_predict_ordered(predicted, &orderings, trace, accesses, count, window, run);
    pct_orderings_free(&orderings);
    return failed;
}
