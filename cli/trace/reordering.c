/* Reordered runs: see reordering.h. A state is how many of their accesses the two threads have made; of the ways to
 * come to it the one is kept by which the fewest reads see another write than in the run, and of these one with few
 * switches. A lock that the one holds, the other cannot take; and between two accesses of which the second is to
 * depend on the first, nothing is made that conflicts. What another write would make of a thread is not known: it is
 * only counted. */
#include "reordering.h"
#include <pct/operations.h>
#include <pct/trace.h>
#include <string.h>

enum {
    MOST = 64,   /* accesses of a thread that are reordered, and one */
    SPAN = 1024, /* accesses and steps of the run that are looked through */
    NONE = UINT16_MAX
};

/* Two accesses, of which the second is to depend on the first. */
struct pair {
    uint32_t role[2], at[2]; /* whose, and the how manieth of its own, from 0 */
};

struct search {
    const struct pct_reordering *r;
    uint32_t from;                /* this access of the run is the first that may come at another time; plus 1 */
    uint32_t access[2][MOST];     /* of each role, what it makes, by index plus 1; then what it would make next */
    uint32_t count[2], enough[2]; /* of these: how many; and how many when all accesses of the iRoot are made */
    struct pair pair[2];
    uint32_t pairs;
    uint16_t value[MOST][MOST]; /* of a state: reads that see another write, times 256, and switches */
    uint8_t came[MOST][MOST];   /* whose access was made last */
};

static const struct pct_access *at(const struct search *s, uint32_t access)
{
    return &s->r->links->access[access - 1];
}

static bool takes_exclusively(uint32_t op)
{
    return pct_operation_locks(op) && op != PCT_OP_RWLOCK_RDLOCK && op != PCT_OP_RWLOCK_TRYRDLOCK;
}

/* Whether the other thread has the lock that this access is to take. */
static bool is_blocked(const struct search *s, const struct pct_access *access, uint32_t other)
{
    const struct pct_orderings *o = s->r->orderings;
    if (!other || !takes_exclusively(access->op))
        return false;
    const struct pct_lockset *set = &o->locksets[o->lockset[other - 1]];
    for (uint32_t i = 0; i < set->count; i++)
        if (set->section[i].lock == access->object)
            return true;
    return false;
}

/* Whether the next access of this role, where these were made, comes too early or in between. */
static bool is_misplaced(const struct search *s, const uint32_t made[2], uint32_t role)
{
    const struct pct_access *access = at(s, s->access[role][made[role]]);
    for (uint32_t i = 0; i < s->pairs; i++) {
        const struct pair *pair = &s->pair[i];
        const bool first = made[pair->role[0]] > pair->at[0], second = made[pair->role[1]] > pair->at[1];
        const bool is_second = role == pair->role[1] && made[role] == pair->at[1];
        const struct pct_access *from = at(s, s->access[pair->role[0]][pair->at[0]]);
        const struct pct_access *to = at(s, s->access[pair->role[1]][pair->at[1]]);
        if (is_second && !first)
            return true;
        const bool hides = access->writes || (to->writes && (from->writes || access->thread == from->thread));
        if (first && !second && !is_second && access->object == from->object && hides)
            return true;
    }
    return false;
}

/* Whether what an operation sees decides where its thread goes. */
static bool sees(uint32_t op)
{
    return op != PCT_OP_STORE && op != PCT_OP_ATOMIC_STORE && !pct_operation_locks(op) &&
           (pct_operation_accesses(op) || !pct_operation_gives(op));
}

/* The last write that comes before this access, made in this state. By its index plus 1; 0: there is none. */
static uint32_t find_write(const struct search *s, const struct pct_access *access, const uint32_t state[2])
{
    uint32_t made[2] = { state[0], state[1] }, write = s->r->links->write[access - s->r->links->access];
    while (made[0] || made[1]) {
        const uint32_t role = s->came[made[0]][made[1]];
        const uint32_t last = s->access[role][--made[role]];
        if (at(s, last)->object == access->object && at(s, last)->writes)
            return last;
    }
    for (unsigned k = 0; write >= s->from && k < SPAN; k++)
        write = s->r->links->write[write - 1];
    return write;
}

/* Whether this access sees another write than in the run if it is made in this state. */
static bool is_changed(const struct search *s, uint32_t number, const uint32_t state[2])
{
    const struct pct_access *access = at(s, number);
    return sees(access->op) && find_write(s, access, state) != s->r->links->write[number - 1];
}

/* Likewise the last access of this role, which it has made on the way to this state: only if it goes on that matters.
 */
static bool is_last_changed(const struct search *s, const uint32_t state[2], uint32_t role)
{
    uint32_t made[2] = { state[0], state[1] };
    while (made[role] >= s->enough[role])
        made[s->came[made[0]][made[1]]]--;
    return is_changed(s, s->access[role][made[role]], made);
}

/* Look at the state that this one becomes when the thread of this role makes its next access. */
static void look_at(struct search *s, const uint32_t made[2], uint32_t role)
{
    const uint32_t number = s->access[role][made[role]];
    const struct pct_access *access = at(s, number);
    const uint32_t to[2] = { made[0] + !role, made[1] + role };
    uint32_t value = s->value[made[0]][made[1]];
    if (value == NONE || is_blocked(s, access, s->access[!role][made[!role]]) || is_misplaced(s, made, role))
        return;
    value += (made[0] || made[1]) && s->came[made[0]][made[1]] != role;
    if (to[role] < s->enough[role] ? is_changed(s, number, made)
                                   : made[role] == s->enough[role] && made[role] && is_last_changed(s, made, role))
        value += 1u << 8;
    if (value >= s->value[to[0]][to[1]])
        return;
    s->value[to[0]][to[1]] = (uint16_t)value;
    s->came[to[0]][to[1]] = (uint8_t)role;
}

static void search(struct search *s)
{
    for (uint32_t i = 0; i <= s->count[0]; i++)
        for (uint32_t k = 0; k <= s->count[1]; k++)
            s->value[i][k] = NONE;
    s->value[0][0] = 0;
    for (uint32_t i = 0; i <= s->count[0]; i++)
        for (uint32_t k = 0; k <= s->count[1]; k++) {
            const uint32_t made[2] = { i, k };
            for (uint32_t role = 0; role < 2; role++)
                if (made[role] < s->count[role])
                    look_at(s, made, role);
        }
}

/* Whether the thread of this access holds a lock before it. */
static bool is_inside(const struct search *s, uint32_t access)
{
    const struct pct_orderings *o = s->r->orderings;
    return o->locksets[o->lockset[access - 1]].count;
}

/* What each of the two threads makes, up to its last access that counts, and on to where it holds no lock: the other
 * one may wait for that. False: that is too much. */
static bool find_accesses(struct search *s, const struct pct_access *const made[PCT_IROOT_PLACES], uint32_t idiom)
{
    const uint8_t *role = pct_idioms[idiom - 1].role;
    uint32_t last[2] = { 0 };
    for (unsigned i = 0; i < PCT_IROOT_PLACES && made[i]; i++) {
        const uint32_t number = (uint32_t)(made[i] - s->r->links->access) + 1;
        last[role[i]] = number > last[role[i]] ? number : last[role[i]];
    }
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t thread = made[i]->thread;
        uint32_t next = s->from;
        while (next < last[i] && next - s->from < SPAN && at(s, next)->thread != thread)
            next++;
        s->count[i] = s->enough[i] = 0;
        for (; next && (next <= last[i] || is_inside(s, next)); next = s->r->links->next[next - 1]) {
            if (s->count[i] == MOST - 1 || at(s, next)->thread != thread)
                return false;
            s->access[i][s->count[i]++] = next;
            s->enough[i] += next <= last[i];
        }
        s->access[i][s->count[i]] = next;
    }
    return true;
}

/* The two accesses are such a pair. False: one comes before what is reordered. */
static bool add_pair(struct search *s, const struct pct_access *const made[PCT_IROOT_PLACES], uint32_t idiom,
                     unsigned first, unsigned second)
{
    struct pair *pair = &s->pair[s->pairs++];
    for (unsigned i = 0; i < 2; i++) {
        const unsigned which = i ? second : first;
        const uint32_t number = (uint32_t)(made[which] - s->r->links->access) + 1;
        pair->role[i] = pct_idioms[idiom - 1].role[which];
        uint32_t *at = &pair->at[i];
        for (*at = 0; *at < s->count[pair->role[i]] && s->access[pair->role[i]][*at] != number;)
            ++*at;
        if (*at == s->count[pair->role[i]])
            return false;
    }
    return true;
}

/* The thread's steps from its access before this one on, or, if this is its first, from where all begins. */
static uint32_t count_steps(const struct search *s, uint32_t role, uint32_t which)
{
    const struct pct_access *access = at(s, s->access[role][which]);
    if (which)
        return access->number - at(s, s->access[role][which - 1])->number;
    const uint32_t begin = at(s, s->from)->index;
    uint32_t steps = access->index - begin < SPAN ? 0 : UINT8_MAX + 1; /* too many to be told */
    for (uint32_t i = begin; i <= access->index && !(steps > UINT8_MAX); i++)
        steps += PCT_RECORD_THREAD(s->r->trace->records[i]) == access->thread;
    return steps;
}

/* The best state in which all accesses of the iRoot are made. Returns its value. */
static uint32_t find_end(const struct search *s, uint32_t end[2])
{
    uint32_t least = NONE;
    for (uint32_t i = s->enough[0]; i <= s->count[0]; i++)
        for (uint32_t k = s->enough[1]; k <= s->count[1]; k++)
            if (s->value[i][k] < least) {
                least = s->value[i][k];
                end[0] = i;
                end[1] = k;
            }
    return least;
}

/* The way to this state, as segments. False: there are too many, or they are too long. */
static bool find_segments(const struct search *s, const uint32_t end[2], uint8_t segment[PCT_IROOT_SEGMENTS])
{
    uint32_t made[2] = { end[0], end[1] }, moves = 0, count = 0;
    uint8_t way[2 * MOST] = { 0 };
    while (made[0] || made[1]) {
        way[moves] = s->came[made[0]][made[1]];
        made[way[moves++]]--;
    }
    memset(segment, 0, PCT_IROOT_SEGMENTS);
    while (moves--) {
        const uint32_t role = way[moves];
        count += (count & 1) != role;
        if (count == PCT_IROOT_SEGMENTS)
            return false;
        const uint32_t steps = segment[count] + count_steps(s, role, made[role]++);
        if (steps > UINT8_MAX)
            return false;
        segment[count] = (uint8_t)steps;
    }
    return true;
}

void pct_reordering_find(struct pct_reordering *r, uint32_t idiom,
                         const struct pct_access *const made[PCT_IROOT_PLACES], const struct pct_access *from,
                         struct pct_iroot_chance *chance)
{
    struct search s;
    s.r = r;
    s.from = (uint32_t)(from - r->links->access) + 1;
    s.pairs = 0;
    chance->changes = PCT_REORDERING_NONE;
    if (!find_accesses(&s, made, idiom) || !add_pair(&s, made, idiom, 0, 1))
        return;
    if (idiom > 1 && !add_pair(&s, made, idiom, idiom == 2 ? 1 : 2, idiom == 2 ? 2 : 3))
        return;
    const uint32_t states = (s.count[0] + 1) * (s.count[1] + 1);
    if (states > r->left)
        return;
    r->left -= states;
    search(&s);
    uint32_t end[2];
    const uint32_t value = find_end(&s, end);
    if (value != NONE && value >> 8 < PCT_REORDERING_NONE && find_segments(&s, end, chance->segment))
        chance->changes = (uint8_t)(value >> 8);
}
