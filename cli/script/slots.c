/* The runs of `pct script --all` that are not looked at yet: see slots.h. */
#include "slots.h"
#include <stdlib.h>

bool pct_slots_make(struct pct_slots *slots, unsigned count, size_t channel_size)
{
    slots->slot = calloc(count, sizeof *slots->slot);
    slots->count = slots->slot ? count : 0;
    for (unsigned i = 0; i < slots->count; i++) {
        slots->slot[i].plan = calloc(PCT_SCRIPT_CHOICES, sizeof *slots->slot[i].plan);
        slots->slot[i].channel = calloc(1, channel_size);
        if (!slots->slot[i].plan || !slots->slot[i].channel)
            return false;
    }
    return slots->slot;
}

void pct_slots_free(struct pct_slots *slots)
{
    for (unsigned i = 0; i < slots->count; i++) {
        free(slots->slot[i].plan);
        free(slots->slot[i].channel);
    }
    free(slots->slot);
}

struct pct_slot *pct_slots_find(const struct pct_slots *slots, enum pct_slot_state state)
{
    struct pct_slot *found = NULL;
    for (unsigned i = 0; i < slots->count; i++)
        if (slots->slot[i].state == state && (!found || slots->slot[i].index < found->index))
            found = &slots->slot[i];
    return found;
}

struct pct_slot *pct_slots_of(const struct pct_slots *slots, uint64_t index)
{
    for (unsigned i = 0; i < slots->count; i++)
        if (slots->slot[i].state != PCT_SLOT_FREE && slots->slot[i].index == index)
            return &slots->slot[i];
    return NULL;
}

struct pct_slot *pct_slots_of_way(const struct pct_slots *slots, const struct pct_dpor_way *way)
{
    for (unsigned i = 0; i < slots->count; i++) {
        const struct pct_dpor_way *other = &slots->slot[i].way;
        if (slots->slot[i].state != PCT_SLOT_FREE && other->node == way->node && other->count == way->count &&
            other->chosen == way->chosen && other->avoid == way->avoid)
            return &slots->slot[i];
    }
    return NULL;
}

void pct_slots_take(struct pct_slots *slots, struct pct_slot *slot)
{
    slot->state = PCT_SLOT_PICKED;
    slot->over = false;
    slot->index = slots->picked++;
}

unsigned pct_slots_open_runs(const struct pct_slots *slots, bool ahead)
{
    unsigned count = 0;
    for (unsigned i = 0; i < slots->count; i++)
        count += slots->slot[i].state != PCT_SLOT_FREE && !(ahead && slots->slot[i].over);
    return count;
}
