/* The log of an explored run: see log.h. A log that is full says so, and then has a gap at its end. */
#include "log.h"
#include <string.h>

void pct_log_start(struct pct_sched *s, struct pct_channel *channel)
{
    s->log = s->objects.log = channel;
    s->explored = true;
    s->run.plan = channel->plan;
    s->run.plan_count = channel->plan_count < channel->plan_max ? channel->plan_count : channel->plan_max;
}

void pct_log_add(struct pct_channel *channel, struct pct_log_entry entry)
{
    if (channel->log_count < channel->log_max)
        pct_channel_log(channel)[channel->log_count++] = entry;
    else
        channel->doubts |= 1u << PCT_DOUBT_FULL;
}

void pct_log_end(const struct pct_sched *s, const struct pct_thread *self)
{
    const struct pct_objects *objects = &s->objects;
    for (uint64_t i = 0; s->log && i < UINT64_C(1) << (64 - objects->shift); i++) {
        const struct pct_object *object = objects->slots[i].key ? objects->slots[i].object : NULL;
        if (object && object->robust && object->holder == self->id)
            pct_log_add(s->log, (struct pct_log_entry){
                                    .kind = PCT_LOG_HELD, .thread = (uint16_t)self->id, .key = pct_log_key(object) });
    }
}

void pct_log_freed(const struct pct_sched *s, uintptr_t address, size_t size, bool told)
{
    const uintptr_t first = address & ~(uintptr_t)7, last = (address + size - 1) & ~(uintptr_t)7;
    const uintptr_t more = (last - first) / 8; /* an event tells fewer of them apart */
    if (s->log)
        pct_log_add(s->log, (struct pct_log_entry){ .kind = PCT_LOG_FREED,
                                                    .op = told,
                                                    .value = more < UINT32_MAX ? (uint32_t)more : UINT32_MAX,
                                                    .key = PCT_OBJECT_KEY(first, PCT_CLASS_MEMORY) });
}

void pct_log_hidden(const struct pct_sched *s, uint64_t key, bool read)
{
    const struct pct_log_entry entry = { .kind = PCT_LOG_HIDDEN, .value = read, .key = key };
    if (!s->log)
        return;
    /* Once or several times is a difference, how many times is none. */
    const struct pct_log_entry *last = pct_channel_log(s->log) + s->log->log_count;
    if (s->log->log_count < 2 || memcmp(&last[-1], &entry, sizeof entry) || memcmp(&last[-2], &entry, sizeof entry))
        pct_log_add(s->log, entry);
}
