/* The trace: see record.h. The hash is chained over blocks of records, so that a step costs one store, and the hash 1
 * ns for every eight bytes; docs/TRACE.md has the definition.
 *
 * A page of fresh memory costs more than the steps that it holds. So from step 28,672 on, records go into the same 32
 * KB again and again, and full blocks are packed (common/pack.h). Shorter runs never pack: that took longer than their
 * memory. The last steps always stand in the record area, so whoever looks back a little (polling, races, reports)
 * need not know. */
#include "internal.h"
#include "record.h"
#include "races.h"
#include <common/hash.h>
#include <common/pack.h>
#include <errno.h>

enum { PCT_RING = 16 * PCT_TRACE_BLOCK };

static bool use_ring(struct pct_sched *s)
{
    uint64_t *ring = s->host->map(PCT_RING * sizeof *ring);
    if (!ring)
        return false;
    s->records = s->record = s->block = ring;
    s->records_max = PCT_RING;
    s->ring = true;
    return true;
}

/* Memory for the next block and, ever more generously, for those behind it. */
static bool extend(struct pct_sched *s)
{
    uint64_t more = s->records_ready < PCT_TRACE_BLOCK ? PCT_TRACE_BLOCK : s->records_ready;
    if (more > 1u << 18)
        more = 1u << 18;
    if (s->records_ready + more > s->records_max)
        more = s->records_max - s->records_ready;
    if (more < PCT_TRACE_BLOCK || !s->host->populate(s->records + s->records_ready, more * sizeof *s->records))
        return false;
    s->records_ready += more;
    return true;
}

int pct_record_start(struct pct_sched *s, struct pct_trace_header *header, uint64_t *records, uint64_t max)
{
    s->header = header;
    s->records = s->record = s->block = records;
    s->records_max = max;
    s->nowhere = s->host->map(PCT_TRACE_BLOCK * sizeof *s->nowhere);
    if (!s->nowhere)
        return -ENOMEM;
    if (max && extend(s))
        return 0;
    return use_ring(s) ? 0 : -ENOMEM;
}

static void say_lost(struct pct_sched *s)
{
    static const char text[] = "no space for the trace: only its first part was recorded";
    if (!s->header->message[0])
        __builtin_memcpy(s->header->message, text, sizeof text);
}

void pct_record_pack(struct pct_sched *s, void *area, size_t size)
{
    if (s->ring || s->records_max != PCT_PACK_AREA)
        return;
    s->packed = area;
    s->packed_ready = area;
    s->packed_end = (char *)area + size;
}

char *pct_record_packed_end(const struct pct_sched *s)
{
    return s->pack ? (char *)(s->packed + 1) : NULL;
}

void pct_record_cut(struct pct_sched *s, char *end)
{
    if (s->packed) {
        s->packed_end = end;
        return;
    }
    s->records_max = (uint64_t)(end - (char *)s->records) / sizeof *s->records;
    s->header->records_size = s->records_max * sizeof *s->records;
}

size_t pct_record_held(const struct pct_sched *s)
{
    char *end = s->packed ? s->packed_ready : (char *)(s->records + s->records_ready);
    return (size_t)(end - (char *)s->header);
}

/* Memory for one more packed block, and a few behind it. */
static bool extend_packed(struct pct_sched *s)
{
    const size_t least = PCT_PACK_LONGEST * sizeof *s->packed, most = 256 << 10;
    /* A reader takes more for damage; blocks of a loop that spins are so small that no memory runs out before. */
    if (pct_steps(s) >= PCT_PACK_STEPS)
        return false;
    if ((size_t)(s->packed_ready - (char *)s->packed) >= least)
        return true;
    size_t done = (size_t)(s->packed_ready - (char *)s->records), more = done < most ? done / 2 : most;
    if (more > (size_t)(s->packed_end - s->packed_ready))
        more = (size_t)(s->packed_end - s->packed_ready);
    if (more < least || !s->host->populate(s->packed_ready, more))
        return false;
    s->packed_ready += more;
    return true;
}

/* Nothing that stands before this in the program comes behind it, for those who read the trace of a process that was
 * killed. */
static void in_order(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void pack(struct pct_sched *s, uint32_t slot)
{
    uint32_t *head = s->packed, words = pct_pack_block(s->pack, s->records + PCT_PACK_FLAT, slot, head);
    s->packed += 1 + words;
    in_order();
    *head = words;
    in_order();
}

/* The record area is full for the first time: of its ring, all but the newest block are packed. False: there is no
 * space. */
static bool pack_first(struct pct_sched *s)
{
    struct pct_pack *memory = s->host->map(sizeof *memory);
    uint32_t *first = s->packed;
    if (!memory)
        return false;
    s->pack = memory;
    for (uint32_t slot = 0; slot + 1 < PCT_PACK_BLOCKS; slot++) {
        if (!extend_packed(s)) {
            s->pack = NULL;
            s->packed = first;
            return false;
        }
        pack(s, slot);
    }
    s->header->version = PCT_TRACE_PACKED;
    in_order();
    return true;
}

/* The newest block is packed, and the place of the oldest is where records go on: emptied first, so that a reader finds
 * either the newest block in its place, or an empty block behind it. False: there is no space. */
static bool pack_turn(struct pct_sched *s)
{
    if (!s->packed || (!s->pack && !pack_first(s)) || !extend_packed(s))
        return false;
    uint64_t *ring = s->records + PCT_PACK_FLAT;
    uint32_t slot = (uint32_t)((uint64_t)(s->record - ring) / PCT_TRACE_BLOCK) - 1;
    uint64_t *next = ring + (slot + 1) % PCT_PACK_BLOCKS * PCT_TRACE_BLOCK;
    __builtin_memset(next, 0, PCT_TRACE_BLOCK * sizeof *next);
    in_order();
    pack(s, slot);
    s->record = s->block = next;
    return true;
}

/* Room for the block behind the one that is full. False: there is none in the file. */
static bool go_on(struct pct_sched *s)
{
    uint64_t used = (uint64_t)(s->record - s->records);
    if (s->ring) {
        if (used == s->records_max)
            s->record = s->block = s->records;
        return true;
    }
    s->header->recorded = pct_steps(s);
    return (!s->pack && (used + PCT_TRACE_BLOCK <= s->records_ready || extend(s))) || pack_turn(s);
}

/* Nobody looks at the trace any more. */
static void go_nowhere(struct pct_sched *s)
{
    s->block_step += PCT_TRACE_BLOCK;
    s->record = s->block = s->nowhere;
}

void pct_record_close(struct pct_sched *s)
{
    enum { PATIENCE = 1000 };
    /* Not for ever: a crash in the middle of a turn ends up here in the same thread. */
    for (int i = 0; __atomic_exchange_n(&s->turning, 1, __ATOMIC_ACQ_REL) && i < PATIENCE; i++) {
        uint32_t now = 0;
        s->host->sleep(s->host->now() + 100000, &now, 0);
    }
}

/* The hash over all steps up to this record. */
static uint64_t hash_to(const struct pct_sched *s, const uint64_t *end)
{
    size_t left = (size_t)(end - s->block);
    if (s->timed > s->block_step)
        return pct_hash_records(s->block, left, s->hash);
    return left ? pct_hash_plain(s->block, left, s->hash) : s->hash;
}

static void turn(struct pct_sched *s)
{
    if (s->races)
        pct_races_follow(s);
    if (s->sites)
        pct_sites_keep(s);
    s->hash = hash_to(s, s->record);
    s->block_step += PCT_TRACE_BLOCK;
    s->block = s->record;
    if (!go_on(s)) {
        say_lost(s);
        if (!use_ring(s))
            s->host->end(PCT_VERDICT_INTERNAL, "out of memory");
    }
    if (s->races)
        pct_races_turned(s);
}

void pct_record_turn(struct pct_sched *s)
{
    if (__atomic_exchange_n(&s->turning, 1, __ATOMIC_ACQ_REL)) {
        go_nowhere(s);
    } else {
        turn(s);
        __atomic_store_n(&s->turning, 0, __ATOMIC_RELEASE);
    }
}

void pct_record_leave(struct pct_sched *s)
{
    struct pct_trace_header *h = s->header;
    h->threads = s->threads;
    for (int i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        h->uncontrolled[i] = s->uncontrolled[i];
}

void pct_record_finish(struct pct_sched *s)
{
    struct pct_trace_header *h = s->header;
    if (s->sites)
        pct_sites_keep(s);
    /* Once: the holder of the baton may still run. */
    const uint64_t *end = __atomic_load_n(&s->record, __ATOMIC_ACQUIRE);
    h->steps = s->block_step + (uint64_t)(end - s->block);
    if (!s->ring)
        h->recorded = h->steps;
    h->hash = hash_to(s, end);
    s->ends = end;
    h->switches = s->switches;
    h->preemptions = s->preemptions;
    h->virtual_ns = pct_sched_now(s);
    h->threads = s->threads;
    h->withdrawn = s->withdrawn;
    h->max_enabled = s->max_enabled;
    h->objects = s->objects.numbered;
    if (s->strategy->points)
        h->points = s->strategy->points(s->strategy_state, h->steps - s->picked_at);
    for (int i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        h->uncontrolled[i] = s->uncontrolled[i];
    for (int i = 0; i < 16; i++)
        h->uncontrolled_first[i] = s->uncontrolled[i];
    h->choices = s->choices;
    h->spins = s->progress.told;
    h->left = s->left;
    h->deadlines = s->deadlines;
    h->fixed_deadlines = s->fixed_deadlines;
    h->passed_over = s->passed_over;
}

static uint64_t before(const struct pct_sched *s, const uint64_t *end, uint64_t back)
{
    const uint64_t *ring = s->pack && !s->ring ? s->records + PCT_PACK_FLAT : s->records;
    uint64_t used = (uint64_t)(end - ring), size = s->ring ? s->records_max : PCT_PACK_RECORDS;
    return ring[back <= used ? used - back : used + size - back];
}

uint64_t pct_record_before(const struct pct_sched *s, uint64_t back)
{
    return before(s, s->record, back);
}

uint32_t pct_record_last(const struct pct_sched *s, uint64_t *out, uint32_t count)
{
    const uint64_t *end = s->ends ? s->ends : s->record;
    uint64_t used = (uint64_t)(end - s->records);
    /* A ring that has not wrapped round yet ends in zeros: it may have begun in the middle of the run. */
    uint64_t have = s->ring && s->records[s->records_max - 1] ? s->records_max : used;
    if (s->pack && !s->ring)
        have = PCT_PACK_RECORDS - PCT_TRACE_BLOCK;
    if (count > have)
        count = (uint32_t)have;
    for (uint32_t i = 0; i < count; i++)
        out[i] = before(s, end, count - i);
    return count;
}
