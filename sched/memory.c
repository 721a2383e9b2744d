/* Which memory accesses are scheduling points: see memory.h. */
#include "memory.h"
#include "internal.h"
#include "log.h"
#include "record.h"
#include <errno.h>

enum { PLACES_FIRST_LOG = 10 };

/* A chunk begins this many bytes behind the start of a page. Otherwise a cell would stand at the same place of its page
 * as its location does, and a processor that compares no more than that makes the look at the cell wait for a store to
 * the location. */
enum { CHUNK_SHIFT = 2112 };

/* Behind the last cell stand zeros: who looks at a cell may look at the next two without asking whether there are any.
 */
enum { CHUNK_MORE = 64 };

int pct_memory_start(struct pct_memory *m, void **table, void *(*map)(size_t size), bool all)
{
    *m = (struct pct_memory){ .map = map, .all = all, .places_log = PLACES_FIRST_LOG };
    m->places = map(sizeof *m->places << PLACES_FIRST_LOG);
    if (m->places)
        m->cells = table ? table : map(sizeof *m->cells << (PCT_ADDRESS_LOG - PCT_CHUNK_LOG));
    return m->cells ? 0 : -ENOMEM;
}

static size_t chunk_bytes(size_t size)
{
    return (size << (PCT_CHUNK_LOG - 3)) + CHUNK_SHIFT + CHUNK_MORE;
}

void *pct_memory_extent(void *chunk, size_t size, size_t *bytes)
{
    *bytes = chunk_bytes(size);
    return (char *)chunk - CHUNK_SHIFT;
}

void *pct_memory_entry(void **directory, uintptr_t address, size_t size, void *(*map)(size_t size))
{
    char *chunk = pct_memory_chunk(directory, address);
    if (PCT_UNLIKELY(!chunk)) {
        chunk = map(chunk_bytes(size));
        if (!chunk)
            return NULL;
        chunk += CHUNK_SHIFT;
        directory[pct_memory_slot(address)] = chunk;
    }
    return chunk + pct_memory_index(address) * size;
}

void pct_memory_clear(void **directory, uintptr_t from, uintptr_t to, size_t size)
{
    const uintptr_t reach = (uintptr_t)1 << PCT_CHUNK_LOG;
    for (uintptr_t at = from & ~(uintptr_t)7; at < to;) {
        uintptr_t end = (at & ~(reach - 1)) + reach;
        if (end > to)
            end = to;
        char *chunk = pct_memory_chunk(directory, at);
        size_t count = (end - at + 7) / 8;
        if (chunk)
            __builtin_memset(chunk + pct_memory_index(at) * size, 0, count * size);
        at = end;
    }
}

static struct pct_place_budget *find_place(struct pct_memory *m, uintptr_t pc)
{
    size_t mask = ((size_t)1 << m->places_log) - 1, i = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - m->places_log);
    while (m->places[i].pc && m->places[i].pc != pc)
        i = (i + 1) & mask;
    return &m->places[i];
}

/* Twice the places. */
static bool grow(struct pct_memory *m)
{
    struct pct_place_budget *old = m->places;
    size_t count = (size_t)1 << m->places_log;
    struct pct_place_budget *places = m->map(sizeof *places * 2 * count);
    if (!places)
        return false;
    m->places = places;
    m->places_log++;
    for (size_t i = 0; i < count; i++)
        if (old[i].pc)
            *find_place(m, old[i].pc) = old[i];
    return true;
}

/* Whether this place in the code has not had all of its points on memory of one thread's own. */
static bool may_spend(struct pct_memory *m, uintptr_t pc)
{
    struct pct_place_budget *place = find_place(m, pc);
    if (!place->pc) {
        if (2 * (m->places_count + 1) > (uint32_t)1 << m->places_log) {
            if (!grow(m))
                return false;
            place = find_place(m, pc);
        }
        place->pc = pc;
        m->places_count++;
    }
    return place->used < PCT_MEMORY_PER_PLACE && ++place->used;
}

enum { OWNERS = 0xffff };
static const uint64_t owner_mask = PCT_CELL_OWNER(OWNERS - 1);

/* Whose the location is, as a cell has it; 0: nobody's. */
static uint64_t owner_of(struct pct_sched *s, uint64_t *cell)
{
    uint64_t owner = *cell & owner_mask;
    if (!owner || s->thread_at((uint32_t)(owner >> 32) - 1)->state != PCT_STATE_FINISHED)
        return owner;
    *cell &= PCT_CELL_NUMBER; /* its owner is gone: as good as new */
    return 0;
}

/* The cell with a number for its location. */
static uint64_t number_anew(struct pct_sched *s, uint64_t cell, uintptr_t address)
{
    cell |= pct_object_number(&s->objects);
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log, (struct pct_log_entry){ .kind = PCT_LOG_NAME,
                                                    .value = (uint32_t)(cell & PCT_CELL_NUMBER),
                                                    .key = PCT_OBJECT_KEY(address & ~(uintptr_t)7, PCT_CLASS_MEMORY) });
    return cell;
}

bool pct_memory_counts(struct pct_sched *s, struct pct_memory *m, const struct pct_thread *self, uintptr_t address,
                       uintptr_t pc, enum pct_memory_use use, uint32_t *number)
{
    const uint64_t touch = PCT_CELL_NUMBER + 1, touches = 7 * touch;
    uint64_t *entry = pct_memory_entry(m->cells, address, sizeof *entry, m->map);
    if (!entry)
        return false;
    uint64_t cell = *entry, mine = PCT_CELL_OWNER(self->id);
    if (!(cell & PCT_CELL_SHARED)) {
        uint64_t owner = (cell & owner_mask) == mine ? mine : owner_of(s, &cell);
        if (m->all || use == PCT_USE_ATOMIC || (owner && owner != mine))
            cell = (cell & PCT_CELL_NUMBER) | PCT_CELL_SHARED;
        else if (!owner && use == PCT_USE_STACK)
            cell = mine | PCT_CELL_SETTLED;
        else if (!(cell & PCT_CELL_SETTLED) && ((cell & touches) == PCT_MEMORY_TOUCHES * touch || !may_spend(m, pc)))
            cell = (cell & PCT_CELL_NUMBER) | mine | PCT_CELL_SETTLED;
        else
            cell = (cell & ~owner_mask) | mine;
        *entry = cell;
        if (cell & PCT_CELL_SETTLED)
            return false;
        if (!(cell & PCT_CELL_SHARED))
            *entry = cell += touch;
    }
    if (!(cell & PCT_CELL_NUMBER))
        *entry = cell = number_anew(s, cell, address);
    *number = (uint32_t)(cell & PCT_CELL_NUMBER);
    return true;
}

void pct_memory_touch(struct pct_sched *s, struct pct_memory *m, const struct pct_thread *self, uintptr_t address,
                      enum pct_memory_use use)
{
    const uint64_t pass = (uint64_t)1 << 28, passes = (PCT_MEMORY_PASSES - 1) * pass;
    uint64_t *entry = pct_memory_entry(m->cells, address, sizeof *entry, m->map), mine = PCT_CELL_OWNER(self->id);
    if (!entry || *entry & PCT_CELL_SHARED)
        return;
    uint64_t cell = *entry, owner = (cell & owner_mask) == mine ? mine : owner_of(s, &cell);
    if (owner == mine)
        cell = (cell & passes) == passes ? cell | PCT_CELL_SETTLED : cell + pass;
    else if (owner || use == PCT_USE_ATOMIC)
        cell = (cell & PCT_CELL_NUMBER) | PCT_CELL_SHARED;
    else
        cell |= use == PCT_USE_STACK ? mine | PCT_CELL_SETTLED : mine;
    *entry = cell;
}

void pct_memory_behind(struct pct_sched *s, struct pct_thread *self, struct pct_memory_recent *recent, enum pct_op op,
                       struct pct_object *location, bool may_switch)
{
    /* Before it is recorded, so that this very access is where others go first. */
    if (op == PCT_OP_LOAD)
        pct_progress_look(s, self, recent, self->stamp | PCT_RECORD(0, op, 0, location->number));
    else
        pct_memory_progress(s, recent);
    pct_sched_behind(s, self, op, location, may_switch);
}

void pct_memory_step(struct pct_sched *s, struct pct_thread *self, struct pct_memory_recent *recent, enum pct_op op,
                     uint32_t number, bool looks)
{
    uint64_t record = pct_memory_record(s, self, op, number);
    if (!looks) {
        pct_memory_progress(s, recent);
        return;
    }
    pct_progress_look(s, self, recent, record);
}
