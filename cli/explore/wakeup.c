/* Wakeup trees, and who sleeps: see wakeup.h. */
#include "wakeup.h"
#include "dependence.h"
#include "same.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void pct_wakeup_free(struct pct_branch *b)
{
    while (b) {
        struct pct_branch *next = b->next;
        pct_wakeup_free(b->first);
        free(b);
        b = next;
    }
}

void pct_sleepers_free(struct pct_sleeper *s)
{
    while (s && !--s->lists) {
        struct pct_sleeper *next = s->next;
        free(s);
        s = next;
    }
}

/* Whether a run of this sequence could as well begin with the event: it stands in it behind events that it commutes
 * with, or commutes with all of them. *at: its place, or the length. */
static bool could_begin(const struct pct_event *event, const struct pct_event *sequence, uint32_t count, uint32_t *at)
{
    struct pct_event passing;
    pct_event_copy(&passing, event);
    for (*at = 0; *at < count; ++*at) {
        if (sequence[*at].thread == event->thread)
            return true;
        if (!pct_event_passes(&passing, &sequence[*at]))
            return false;
    }
    return true;
}

struct pct_branch *pct_wakeup_new(const struct pct_event *event)
{
    struct pct_branch *b = malloc(offsetof(struct pct_branch, event) + pct_event_size(event));
    if (!b)
        return NULL;
    b->first = b->next = NULL;
    b->alternative = b->ahead = false;
    pct_event_copy(&b->event, event);
    return b;
}

/* Of the last event of a sequence it was not known what it would find; nor of one in the place of a crash, which comes
 * behind it: see give(), reversals.c. */
bool pct_wakeup_came(const struct pct_branch *branch, const struct pct_event *event)
{
    bool open = !branch->first || branch->first->event.crashed;
    return open ? pct_same_operation(&branch->event, event) : pct_same_objects(&branch->event, event);
}

struct pct_sleeper *pct_sleeper_new(const struct pct_event *event, struct pct_sleeper *next)
{
    struct pct_sleeper *p = malloc(offsetof(struct pct_sleeper, event) + pct_event_size(event));
    if (!p)
        return NULL;
    p->next = next;
    p->lists = 1;
    pct_event_copy(&p->event, event);
    return p;
}

/* Append the sequence to the branches in *list. Returns 1 or -ENOMEM. */
static int append(struct pct_branch **list, const struct pct_event *sequence, uint32_t count)
{
    while (*list)
        list = &(*list)->next;
    for (uint32_t i = 0; i < count; i++) {
        *list = pct_wakeup_new(&sequence[i]);
        if (!*list)
            return -ENOMEM;
        list = &(*list)->first;
    }
    return 1;
}

/* The event at this place is what keeps somebody from beginning the sequence. */
static void need_up_to(uint32_t *need, uint32_t at)
{
    *need = *need > at ? *need : at + 1;
}

/* The branch that a run of this sequence could begin with; NULL: there is none. *need: of how many of the first events
 * this takes. */
static struct pct_branch *matching(struct pct_branch *list, const struct pct_event *sequence, uint32_t count,
                                   uint32_t *at, uint32_t *need)
{
    for (struct pct_branch *b = list; b; b = b->next) {
        if (could_begin(&b->event, sequence, count, at) && (*at == count || b->event.chosen == sequence[*at].chosen))
            return b;
        need_up_to(need, *at);
    }
    return NULL;
}

int pct_wakeup_insert(struct pct_branch **open, const struct pct_sleeper *sleepers, const struct pct_sleeper *held,
                      struct pct_event *sequence, uint32_t count, uint32_t least, enum pct_rest known)
{
    uint32_t at, need = least, last = least - 1;
    bool asks = false; /* who only commutes with all of it may not commute with the rest */
    for (const struct pct_sleeper *p = sleepers; p; p = p->next) {
        if (!could_begin(&p->event, sequence, count, &at))
            need_up_to(&need, at);
        else if (at < count || known == PCT_REST_WHOLE)
            return 0;
        else
            asks = true;
    }
    for (const struct pct_sleeper *p = held; p; p = p->next)
        if (could_begin(&p->event, sequence, count, &at) && at < count)
            return 0;
    for (struct pct_branch *b; !asks && (b = matching(*open, sequence, count, &at, &need)); open = &b->first) {
        asks = at == count && known != PCT_REST_WHOLE;
        if (at < count) {
            memmove(sequence + at, sequence + at + 1, (count - at - 1) * sizeof *sequence);
            count--;
            need -= at < need;
            last = at == last ? UINT32_MAX : last - (last != UINT32_MAX && at < last);
        }
        if (!asks && (!b->first || !count))
            return 0;
    }
    if (asks || known == PCT_REST_AGAIN)
        return asks ? PCT_WAKEUP_ASKS : 0;
    if (last < need) {
        struct pct_event moved = sequence[last];
        memmove(sequence + last, sequence + last + 1, (need - last - 1) * sizeof *sequence);
        sequence[need - 1] = moved;
    }
    return append(open, sequence, need);
}

static uint32_t depth_of(const struct pct_branch *b)
{
    uint32_t most = 0;
    for (; b; b = b->next) {
        uint32_t depth = 1 + depth_of(b->first);
        most = depth > most ? depth : most;
    }
    return most;
}

uint64_t pct_wakeup_leaves(const struct pct_branch *b)
{
    uint64_t count = 0;
    for (; b; b = b->next)
        count += b->first ? pct_wakeup_leaves(b->first) : 1;
    return count;
}

/* Sequences that begin with an event, or could, go behind it. */
struct move {
    const struct pct_event *event;
    struct pct_branch **to;
    const struct pct_sleeper *sleepers, *held;
    struct pct_event *path, *sequence; /* from the node to a leaf; what is left of it */
    int gone;
};

/* The first `depth` events of the path lead to these branches. Returns 0 or -ENOMEM. */
static int move_leaves(struct move *m, struct pct_branch **at, uint32_t depth)
{
    while (*at) {
        struct pct_branch *b = *at;
        uint32_t count = depth + 1, place;
        pct_event_copy(&m->path[depth], &b->event);
        bool leaf = !b->first, goes = leaf && could_begin(m->event, m->path, count, &place) &&
                                      (place == count || m->path[place].chosen == m->event->chosen);
        int result = leaf ? 0 : move_leaves(m, &b->first, count);
        if (goes) {
            memcpy(m->sequence, m->path, count * sizeof *m->path);
            if (place < count)
                memmove(m->sequence + place, m->sequence + place + 1, (--count - place) * sizeof *m->path);
            result =
                count ? pct_wakeup_insert(m->to, m->sleepers, m->held, m->sequence, count, count, PCT_REST_WHOLE) : 0;
            m->gone += result == 0;
        }
        if (result < 0)
            return result;
        if (goes || (!leaf && !b->first)) {
            *at = b->next;
            free(b);
        } else {
            at = &b->next;
        }
    }
    return 0;
}

int pct_wakeup_move(struct pct_branch **open, const struct pct_event *event, struct pct_branch **to,
                    const struct pct_sleeper *sleepers, const struct pct_sleeper *held)
{
    const uint32_t depth = depth_of(*open);
    struct move m = { .event = event, .to = to, .sleepers = sleepers, .held = held };
    m.path = depth ? calloc(2 * (size_t)depth, sizeof *m.path) : NULL;
    if (!depth)
        return 0;
    if (!m.path)
        return -ENOMEM;
    m.sequence = m.path + depth;
    int failed = move_leaves(&m, open, 0);
    free(m.path);
    return failed ? failed : m.gone;
}

/* How it sleeps on behind that event. False: it does not. */
static bool passes(const struct pct_sleeper *p, const struct pct_event *made, struct pct_event *behind)
{
    pct_event_copy(behind, &p->event);
    return !made || pct_event_passes(behind, made);
}

int pct_sleepers_pass(struct pct_sleeper *p, const struct pct_event *made, struct pct_sleeper **to)
{
    struct pct_event behind;
    struct pct_sleeper *same = p;
    for (struct pct_sleeper *each = p; each; each = each->next)
        if (!passes(each, made, &behind) || memcmp(&behind, &each->event, pct_event_size(&behind)))
            same = each->next;
    if (same)
        same->lists++;
    *to = same;
    for (; p != same; p = p->next) {
        if (!passes(p, made, &behind))
            continue;
        struct pct_sleeper *changed = pct_sleeper_new(&behind, *to);
        if (!changed)
            return -ENOMEM;
        *to = changed;
    }
    return 0;
}

bool pct_sleepers_have(const struct pct_sleeper *p, uint32_t thread)
{
    while (p && p->event.thread != thread)
        p = p->next;
    return p;
}
