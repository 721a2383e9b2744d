/* The trace: see record.h. The hash is chained over blocks of records, so that a step costs one store, and the hash 1 ns
 * for every eight bytes; docs/TRACE.md has the definition. */
#include "internal.h"
#include "record.h"
#include "races.h"
#include <common/hash.h>
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

void pct_record_turn(struct pct_sched *s)
{
    if (s->races)
        pct_races_follow(s);
    s->hash = pct_hash_records(s->block, PCT_TRACE_BLOCK, s->hash);
    s->block_step += PCT_TRACE_BLOCK;
    s->block = s->record;
    uint64_t used = (uint64_t)(s->record - s->records);
    if (s->ring) {
        if (used == s->records_max)
            s->record = s->block = s->records;
        if (s->races)
            pct_races_turned(s);
        return;
    }
    s->header->recorded = pct_steps(s);
    if (used + PCT_TRACE_BLOCK <= s->records_ready || extend(s))
        return;
    say_lost(s);
    if (!use_ring(s))
        s->host->end(PCT_VERDICT_INTERNAL, "out of memory");
    if (s->races)
        pct_races_turned(s);
}

uint64_t pct_record_hash(const struct pct_sched *s)
{
    size_t left = (size_t)(s->record - s->block);
    return left ? pct_hash_records(s->block, left, s->hash) : s->hash;
}

void pct_record_finish(struct pct_sched *s)
{
    struct pct_trace_header *h = s->header;
    if (s->sites)
        pct_sites_keep(s);
    h->steps = pct_steps(s);
    if (!s->ring)
        h->recorded = pct_steps(s);
    h->hash = pct_record_hash(s);
    h->switches = s->switches;
    h->preemptions = s->preemptions;
    h->virtual_ns = pct_sched_now(s);
    h->threads = s->threads;
    h->max_enabled = s->max_enabled;
    h->objects = s->objects.numbered;
    if (s->strategy->points && !s->replay)
        h->points = s->strategy->points(s->strategy_state, h->steps - s->picked_at);
    for (int i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        h->uncontrolled[i] = s->uncontrolled[i];
}

uint32_t pct_record_last(const struct pct_sched *s, uint64_t *out, uint32_t count)
{
    uint64_t used = (uint64_t)(s->record - s->records);
    /* A ring that has not come round yet ends in zeros: it may have begun in the middle of the run. */
    uint64_t have = s->ring && s->records[s->records_max - 1] ? s->records_max : used;
    if (count > have)
        count = (uint32_t)have;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t back = count - i;
        out[i] = s->records[back <= used ? used - back : used + s->records_max - back];
    }
    return count;
}
