/* What an event uses: see touches.h. */
#include "touches.h"
#include "dependence.h"
#include "pieces.h"
#include <string.h>

static void add_touch(struct pct_event *event, struct pct_touch touch)
{
    if (event->touches == PCT_EVENT_TOUCHES)
        event->global = true;
    else
        event->touch[event->touches++] = touch;
}

void pct_event_touch_range(struct pct_event *event, uint64_t key, uint32_t more, enum pct_use use)
{
    event->global |= more > UINT16_MAX;
    for (unsigned i = 0; i < event->touches && !event->global; i++) {
        struct pct_touch *t = &event->touch[i];
        uint64_t first = t->key < key ? t->key : key;
        uint64_t last = key + UINT64_C(8) * more, other = t->key + UINT64_C(8) * t->more;
        last = last > other ? last : other;
        /* They have one in common, or are neighbours. */
        if (t->use != use || (last - first) / 8 > UINT64_C(1) + more + t->more || (last - first) / 8 > UINT16_MAX)
            continue;
        t->key = first;
        t->more = (uint16_t)((last - first) / 8);
        return;
    }
    add_touch(event, (struct pct_touch){ .key = key, .more = (uint16_t)more, .use = (uint8_t)use });
}

void pct_event_touch(struct pct_event *event, uint64_t key, enum pct_use use)
{
    for (unsigned i = 0; i < event->touches; i++) {
        struct pct_touch *t = &event->touch[i];
        if (t->key == key && !t->more) {
            t->use = t->use == use ? t->use : PCT_USE_ANY;
            return;
        }
    }
    if (pct_touch_is_memory(key))
        pct_event_touch_range(event, key, 0, use);
    else
        add_touch(event, (struct pct_touch){ .key = key, .use = (uint8_t)use });
}

void pct_event_count_hidden(struct pct_event *event, uint64_t key)
{
    unsigned area = pct_area_of(key);
    if (area < PCT_AREAS && (event->hidden >> 2 * area & 3) < 2)
        event->hidden = (uint16_t)(event->hidden + (1u << 2 * area));
}

void pct_event_sort_touches(struct pct_event *event)
{
    struct pct_touch sorted[PCT_EVENT_TOUCHES] = { 0 };
    unsigned count = 0;
    for (unsigned behind = 0; behind < 2; behind++) {
        for (unsigned i = 0; i < event->touches; i++) {
            const struct pct_touch *t = &event->touch[i];
            if (behind == (t->use == PCT_USE_FREES || pct_touch_is_hidden(event, t)))
                sorted[count++] = *t;
        }
        event->own = behind ? event->own : (uint8_t)count;
    }
    memcpy(event->touch, sorted, count * sizeof *sorted);
}
