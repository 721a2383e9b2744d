/* The race detector: accesses. races_order.c has what orders them, and races.h what this is. */
#include "races_state.h"

enum {
    GIVE_UP = PCT_ACCESS_PLAIN | PCT_ACCESS_WRITE | PCT_ACCESS_GIVES_UP | PCT_ACCESS_KNOWN | PCT_ACCESS_TOLD,
    KNOWN_PLAIN = PCT_ACCESS_PLAIN | PCT_ACCESS_KNOWN
};

static void *reserve(struct pct_sched *s, size_t size)
{
    return s->host->map(size);
}

struct pct_races *pct_races_start(struct pct_sched *s)
{
    struct pct_races *r = reserve(s, sizeof *r);
    const size_t directory = sizeof(void *) << (PCT_ADDRESS_LOG - PCT_CHUNK_LOG);
    if (!r)
        return NULL;
    /* Address space: what is not touched takes no memory. */
    *r = (struct pct_races){ .sched = s,
                             .memory.map = s->host->map,
                             .seen = s->record,
                             .locations = reserve(s, directory),
                             .syncs_at = reserve(s, directory),
                             .entries = reserve(s, sizeof *r->entries * RACES_ENTRIES),
                             .syncs = reserve(s, sizeof *r->syncs * RACES_SYNCS),
                             .calls = reserve(s, sizeof *r->calls * RACES_CALLS),
                             .sets = reserve(s, sizeof *r->sets << RACES_SETS_LOG),
                             .threads = reserve(s, sizeof *r->threads * PCT_MAX_THREADS),
                             .objects = reserve(s, sizeof *r->objects * RACES_OBJECT_CHUNKS),
                             .entries_used = 1,
                             .syncs_used = 1,
                             .calls_used = 1 };
    if (!r->locations || !r->syncs_at || !r->entries || !r->syncs || !r->calls || !r->sets || !r->threads ||
        !r->objects)
        return NULL;
    s->races = r;
    return r;
}

/* --- Calls: a tree, so that where an access was made is one number ------------------------------------------------ */

void pct_races_call(struct pct_races *r, uint32_t thread, uintptr_t pc, uintptr_t frame)
{
    struct race_thread *t = &r->threads[thread];
    while (t->depth && t->frames[t->depth - 1] <= frame)
        pct_races_return(r, thread);
    if (t->depth == RACES_DEPTH)
        return;
    uint32_t *link = &r->calls[t->call].first, call = *link;
    while (call && r->calls[call].pc != pc) {
        link = &r->calls[call].sibling;
        call = *link;
    }
    if (!call) {
        if (r->calls_used == RACES_CALLS)
            return;
        *link = call = r->calls_used++;
        r->calls[call] = (struct race_call){ .pc = pc, .parent = t->call };
    }
    t->frames[t->depth++] = frame;
    t->call = call;
}

void pct_races_return(struct pct_races *r, uint32_t thread)
{
    struct race_thread *t = &r->threads[thread];
    if (!t->depth)
        return;
    t->depth--;
    t->call = r->calls[t->call].parent;
}

/* --- Accesses ----------------------------------------------------------------------------------------------------- */

static struct race_entry *new_entry(struct pct_races *r, uint32_t *index)
{
    if (r->entries_free) {
        *index = r->entries_free;
        r->entries_free = r->entries[*index].next;
    } else if (r->entries_used < RACES_ENTRIES) {
        *index = r->entries_used++;
    } else {
        return NULL;
    }
    return &r->entries[*index];
}

static void free_entry(struct pct_races *r, uint32_t index)
{
    r->entries[index].next = r->entries_free;
    r->entries_free = index;
}

/* Whether whoever races with an access of kind b also races with one of kind a that comes later. */
static bool covers(unsigned a, unsigned b)
{
    return (a & b) == b;
}

/* Whether two unordered accesses of these kinds are a race. */
static bool conflict(unsigned a, unsigned b)
{
    return ((a | b) & PCT_ACCESS_WRITE) && ((a | b) & PCT_ACCESS_PLAIN);
}

/* Whether one of these accesses is surely not atomic. */
static bool surely_plain(const struct race_entry *a, const struct race_entry *b)
{
    return (a->kind & KNOWN_PLAIN) == KNOWN_PLAIN || (b->kind & KNOWN_PLAIN) == KNOWN_PLAIN;
}

static void describe(const struct pct_races *r, struct pct_snap_access *access, const struct race_entry *entry,
                     uintptr_t address, bool sure)
{
    unsigned first = (unsigned)__builtin_ctz(entry->mask);
    *access = (struct pct_snap_access){
        .thread = entry->thread,
        .write = entry->kind & PCT_ACCESS_GIVES_UP ? PCT_SNAP_GIVES_UP : !!(entry->kind & PCT_ACCESS_WRITE),
        .atomic = sure || entry->kind & PCT_ACCESS_TOLD ? !(entry->kind & PCT_ACCESS_PLAIN) : PCT_SNAP_UNTOLD,
        .size = (uint8_t)(32 - __builtin_clz(entry->mask) - (int)first),
        .address = (address & ~(uintptr_t)7) + first,
        .step = entry->step
    };
    unsigned count = 0;
    access->frames[count++] = entry->pc;
    for (uint32_t call = entry->call; call && count <= PCT_RACE_FRAMES; call = r->calls[call].parent)
        access->frames[count++] = r->calls[call].pc;
    const struct race_locks *set = &r->sets[entry->locks];
    access->lock_count = (uint8_t)set->count;
    for (uint32_t i = 0; i < set->count; i++)
        access->lock[i] = set->lock[i];
}

/* A race that the user does not want to hear of. */
static void count_suppressed(struct pct_races *r, const struct race_entry *old, const struct race_entry *new)
{
    r->suppressed++;
    for (uint32_t i = 0; i < r->pairs_count; i++)
        if ((r->pairs[i].first == old->pc && r->pairs[i].second == new->pc) ||
            (r->pairs[i].first == new->pc && r->pairs[i].second == old->pc))
            return;
    if (r->pairs_count < PCT_RACES_MOST)
        r->pairs[r->pairs_count++] = (struct race_pair){ old->pc, new->pc };
}

/* Where the race of these two places in the code is to stand, unless it is known already; NULL: nowhere. */
static struct pct_snap_race *room_for(struct pct_races *r, const struct race_entry *old, const struct race_entry *new,
                                      bool sure)
{
    struct pct_snap_race *possible = NULL;
    for (uint32_t i = 0; i < r->found_count; i++) {
        struct pct_snap_race *race = &r->found[i];
        uint64_t a = race->access[0].frames[0], b = race->access[1].frames[0];
        bool known_sure = pct_races_sure(race);
        if ((a == old->pc && b == new->pc) || (a == new->pc &&b == old->pc))
            return sure && !known_sure ? race : NULL;
        if (!known_sure)
            possible = race;
    }
    if (r->found_count < PCT_RACES_MOST)
        return &r->found[r->found_count];
    return sure ? possible : NULL;
}

/* The first byte that both of these accesses touch, of the location at this address. */
static uintptr_t first_met(const struct race_entry *old, const struct race_entry *new, uintptr_t address)
{
    return (address & ~(uintptr_t)7) + (unsigned)__builtin_ctz(old->mask & new->mask);
}

/* Whether accesses that are possibly a race are not worth a word: the place is one that threads synchronise by. */
static bool synchronise(struct pct_races *r, const struct race_entry *old, const struct race_entry *new,
                        uintptr_t address)
{
    return !surely_plain(old, new) &&
           (!(old->kind & new->kind &PCT_ACCESS_PLAIN) || pct_races_synchronises(r, first_met(old, new, address)));
}

/* A race between these two places in the code, unless it is known already, or does not matter. */
static const struct pct_snap_race *report(struct pct_races *r, const struct race_entry *old,
                                          const struct race_entry *new, uintptr_t address, uint64_t arrived)
{
    /* What was made at the same step as the new one's thread came may have been made before. */
    const bool at_once = arrived != UINT64_MAX && old->step > arrived;
    const bool sure = old->kind & new->kind &PCT_ACCESS_TOLD || (surely_plain(old, new) && at_once);
    if (r->watcher)
        r->watcher(old->pc, new->pc);
    struct pct_snap_race *room = room_for(r, old, new, sure);
    if (!room || (!sure && synchronise(r, old, new, address)))
        return NULL;
    const uintptr_t met = first_met(old, new, address);
    for (uint32_t i = 0; i < r->benign_count; i++)
        if (met >= r->benign[i].from && met < r->benign[i].to)
            return NULL;
    struct pct_snap_race race;
    describe(r, &race.access[0], old, address, sure);
    describe(r, &race.access[1], new, address, sure);
    if (r->suppresses && r->suppresses(&race)) {
        if (sure) /* one that is only possible ends no run, so no replay needs to know */
            count_suppressed(r, old, new);
        return NULL;
    }
    *room = race;
    if (room == &r->found[r->found_count])
        r->found_count++;
    return room;
}

/* Whether this thread knows of that access. Who knows of a thread may know of those that had its id before, too, or
 * not: it is taken to. */
static bool is_ordered(const struct pct_races *r, const struct race_entry *old, uint32_t thread)
{
    const struct race_thread *owner = &r->threads[old->thread];
    if (old->thread == thread)
        return old->clock >= owner->born || old->clock <= owner->seen;
    return old->clock <= pct_clock_get(&r->threads[thread].now, old->thread);
}

/* The part of an access that lies in one location. */
static const struct pct_snap_race *check(struct pct_races *r, const struct race_entry *new, uintptr_t address,
                                         uint64_t arrived)
{
    const struct pct_snap_race *race = NULL;
    uint32_t *head = pct_memory_entry(r->locations, address, sizeof *head, r->memory.map);
    if (!head)
        return NULL;
    const struct race_entry *last = &r->entries[*head];
    if (*head && last->thread == new->thread && last->clock == new->clock &&covers(last->kind, new->kind) &&
        !(new->mask & ~last->mask))
        return NULL;
    for (uint32_t *link = head; *link;) {
        struct race_entry *old = &r->entries[*link];
        bool ordered = is_ordered(r, old, new->thread);
        if (!ordered && old->mask & new->mask &&conflict(old->kind, new->kind) && !race)
            race = report(r, old, new, address, arrived);
        if (ordered && covers(new->kind, old->kind) && !(old->mask & ~new->mask)) {
            uint32_t gone = *link;
            *link = old->next;
            free_entry(r, gone);
        } else {
            link = &old->next;
        }
    }
    uint32_t index;
    struct race_entry *entry = new_entry(r, &index);
    if (entry) {
        *entry = *new;
        entry->next = *head;
        *head = index;
    }
    return race;
}

/* An access of this kind that the thread makes now. */
static struct race_entry entry_of(struct pct_races *r, struct race_thread *t, uint32_t thread, uintptr_t pc,
                                  uint8_t kind)
{
    return (struct race_entry){ .pc = pc,
                                .step = pct_steps(r->sched) & ((UINT64_C(1) << 44) - 1),
                                .locks = pct_races_locks(r, t) & ((1u << 20) - 1),
                                .clock = pct_clock_get(&t->now, thread),
                                .call = t->call,
                                .thread = (uint16_t)thread,
                                .mask = 0xff,
                                .kind = kind };
}

bool pct_races_repeated(struct pct_races *r, uint32_t thread, uintptr_t address, size_t size, unsigned kind)
{
    const uint32_t *chunk = pct_memory_chunk(r->locations, address);
    if (PCT_UNLIKELY(!chunk) || PCT_UNLIKELY(r->seen < r->sched->record))
        return false;
    const uint32_t clock = pct_clock_get(&r->threads[thread].now, thread);
    const unsigned mask = (0xffu >> (8 - size)) << (address & 7);
    /* What others have done since could race with it. */
    for (uint32_t i = chunk[pct_memory_index(address)]; i && r->entries[i].thread == thread; i = r->entries[i].next)
        if (r->entries[i].clock == clock && covers(r->entries[i].kind, kind) && !(mask & ~r->entries[i].mask))
            return true;
    return false;
}

const struct pct_snap_race *pct_races_access(struct pct_races *r, const struct pct_access *access)
{
    const struct pct_snap_race *race = NULL;
    const uintptr_t address = access->address, end = address + access->size;
    pct_races_follow(r->sched);
    struct race_thread *t = &r->threads[access->thread];
    if (t->ignore || !pct_races_know(r, access->thread))
        return NULL;
    struct race_entry new = entry_of(r, t, access->thread, access->pc, (uint8_t)access->kind);
    for (uintptr_t at = address & ~(uintptr_t)7; at < end; at += 8) {
        unsigned mask = 0xff;
        if (at < address)
            mask &= 0xffu << (address - at);
        if (at + 8 > end)
            mask &= 0xffu >> (at + 8 - end);
        new.mask = (uint8_t)mask;
        const struct pct_snap_race *here = check(r, &new, at, access->arrived);
        race = race ? race : here;
    }
    return race;
}

const struct pct_snap_race *pct_races_give_up(struct pct_races *r, uint32_t thread, uintptr_t from, uintptr_t to,
                                              uintptr_t pc)
{
    const struct pct_snap_race *race = NULL;
    pct_races_follow(r->sched);
    struct race_thread *t = &r->threads[thread];
    if (t->ignore || !pct_races_know(r, thread))
        return NULL;
    const struct race_entry new = entry_of(r, t, thread, pc, GIVE_UP);
    for (uintptr_t at = from & ~(uintptr_t)7; at < to;) {
        const uint32_t *chunk = pct_memory_chunk(r->locations, at);
        uintptr_t end = (at | (((uintptr_t)1 << PCT_CHUNK_LOG) - 1)) + 1;
        end = chunk || at < from + PCT_RACES_GIVEN ? end : to;
        for (end = end < to ? end : to; at < end; at += 8)
            if (at < from + PCT_RACES_GIVEN || (chunk && chunk[pct_memory_index(at)])) {
                const struct pct_snap_race *here = check(r, &new, at, UINT64_MAX);
                race = race ? race : here;
            }
    }
    return race;
}

void pct_races_fresh(struct pct_races *r, uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = from & ~(uintptr_t)7; at < to;) {
        uint32_t *chunk = pct_memory_chunk(r->locations, at);
        uintptr_t end = (at | (((uintptr_t)1 << PCT_CHUNK_LOG) - 1)) + 1;
        for (end = end < to ? end : to; chunk && at < end; at += 8) {
            uint32_t *head = &chunk[pct_memory_index(at)];
            while (*head) {
                uint32_t gone = *head;
                *head = r->entries[gone].next;
                free_entry(r, gone);
            }
        }
        at = end;
    }
    pct_races_drop_syncs(r, from, to);
}

void pct_races_ignore(struct pct_races *r, uint32_t thread, int change)
{
    r->threads[thread].ignore += change;
}

void pct_races_benign(struct pct_races *r, uintptr_t from, uintptr_t to)
{
    if (r->benign_count < RACES_BENIGN)
        r->benign[r->benign_count++] = (struct race_range){ from, to };
}

void pct_races_suppress(struct pct_races *r, pct_races_filter *filter)
{
    r->suppresses = filter;
}

void pct_races_watch(struct pct_races *r, pct_races_watcher *watcher)
{
    r->watcher = watcher;
}

uint64_t pct_races_suppressed(const struct pct_races *r, uint32_t *pairs)
{
    *pairs = r->pairs_count;
    return r->suppressed;
}

const struct pct_snap_race *pct_races_found(const struct pct_races *r, uint32_t *count, uint32_t *sure)
{
    *count = r->found_count;
    *sure = 0;
    for (uint32_t i = 0; i < r->found_count; i++)
        *sure += pct_races_sure(&r->found[i]);
    return r->found;
}
