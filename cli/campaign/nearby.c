/* Runs near a failing one: see nearby.h. */
#include "nearby.h"
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

enum { FAR = 4, CHANGES = 3 }; /* operations by which a switch moves; changes of a run, at most */

bool pct_nearby_open(struct pct_nearby *n, const struct pct_config *config, const struct pct_trace *trace)
{
    *n = (struct pct_nearby){ .config = *config };
    if (pct_switches_from_trace(&n->switches, trace) || !n->switches.count)
        return false;
    for (size_t i = 0; i < n->switches.count; i++) {
        const struct pct_switch *s = &n->switches.item[i];
        n->threads = s->thread >= n->threads ? s->thread + 1 : n->threads;
        n->threads = !s->wake && s->value >= n->threads ? s->value + 1 : n->threads;
    }
    n->config.run = (struct pct_run){ .seed = config->run.seed };
    n->config.end = (uint8_t)pct_end_of_run(config->end, config->run.seed);
    pct_switches_prepare(&n->config);
    return true;
}

void pct_nearby_close(struct pct_nearby *n)
{
    pct_switches_free(&n->switches);
}

/* Random numbers of one run. */
struct draw {
    uint64_t run, count;
};

static uint32_t below(struct draw *d, uint64_t bound)
{
    return (uint32_t)pct_random_below(d->run, PCT_STREAM_PICK, d->count++, bound);
}

/* The item of this index goes; of this thread's, the next one of its kind stays behind it in any case. */
static void leave_out(struct pct_switches *s, size_t index)
{
    memmove(&s->item[index], &s->item[index + 1], (s->count - index - 1) * sizeof *s->item);
    s->count--;
}

/* Whether all items of a kind and thread come in the order of its operations, as they must. */
static bool in_order(const struct pct_switches *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = i; j-- > 0;)
            if (s->item[j].thread == s->item[i].thread && s->item[j].wake == s->item[i].wake) {
                if (s->item[j].made >= s->item[i].made)
                    return false;
                break;
            }
    return true;
}

/* One more switch, to whomever, behind a few more operations of a thread than it had made by one of them. Room for it
 * is there. */
static void add(struct pct_switches *s, size_t index, uint32_t more, uint32_t value)
{
    struct pct_switch item = s->item[index];
    item.made += more;
    item.value = value;
    item.wake = false;
    memmove(&s->item[index + 1], &s->item[index], (s->count - index) * sizeof *s->item);
    s->item[index + 1] = item;
    s->count++;
}

static void change(const struct pct_nearby *n, struct pct_switches *s, struct draw *d)
{
    size_t index = below(d, s->count);
    struct pct_switch *item = &s->item[index];
    uint32_t way = below(d, 4), far = 1 + below(d, FAR), thread = below(d, n->threads);
    if (way == 0 || item->wake)
        leave_out(s, index);
    else if (way == 1 && item->made > far)
        item->made -= far;
    else if (way == 2)
        item->made += far;
    else
        add(s, index, far, thread);
}

/* A copy, with room for all that may be added. False: out of memory. */
static bool copy(struct pct_switches *to, const struct pct_switches *from)
{
    *to = (struct pct_switches){ .item = calloc(from->count + CHANGES, sizeof *to->item), .count = from->count };
    if (!to->item)
        return false;
    memcpy(to->item, from->item, from->count * sizeof *to->item);
    return true;
}

/* One change that leaves the list in order, if it is found soon. */
static void change_once(const struct pct_nearby *n, struct pct_switches *s, struct draw *d)
{
    enum { TRIES = 4 };
    for (unsigned i = 0; i < TRIES && s->count; i++) {
        struct pct_switches changed;
        if (!copy(&changed, s))
            return;
        change(n, &changed, d);
        if (in_order(&changed)) {
            pct_switches_free(s);
            *s = changed;
            return;
        }
        pct_switches_free(&changed);
    }
}

char *pct_nearby_get(const struct pct_nearby *n, uint64_t number)
{
    struct draw d = { .run = number };
    struct pct_switches s;
    if (!copy(&s, &n->switches))
        return NULL;
    for (uint32_t left = 1 + below(&d, CHANGES); left > 0; left--)
        change_once(n, &s, &d);
    char *list = pct_switches_format(&s, NULL);
    pct_switches_free(&s);
    return list;
}
