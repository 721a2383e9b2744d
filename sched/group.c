/* Groups: the waiters of an object that ask the same question, of whom therefore all can go on, or none: a thousand
 * threads that want one mutex. Who unlocks it enables them all, who locks it disables the others again; they are all
 * enabled for the strategy, for any of them may be next, but neither is a walk over a thousand threads: the group knows
 * for them whether they are enabled (pct_state()), and the strategy is told of all at once, if it wants to
 * (enable_all()).
 *
 * A group is the whole queue of its object, in order, or it is dissolved: when somebody comes who asks something else,
 * or whom time may enable. So whether there is one makes no difference to any schedule. With the baton, inside the
 * scheduler. */
#include "internal.h"

/* Fewer waiters are asked one by one. */
enum { LEAST = 4, ROOM = 64 };

/* That of its predicate is all that decides whether the thread is enabled. */
static bool may_join(const struct pct_thread *thread)
{
    return thread->wait.ready && thread->wait.alike && (thread->in_then || thread->wait.deadline == PCT_NEVER) &&
           !thread->near && !thread->early;
}

static bool alike(const struct pct_thread *a, const struct pct_thread *b)
{
    return a->wait.ready == b->wait.ready && a->wait.ready_arg == b->wait.ready_arg;
}

/* False: there is no memory. */
static bool make_room(struct pct_sched *s, struct pct_group *group, uint32_t count)
{
    if (count <= group->room)
        return true;
    uint32_t room = group->room ? group->room : ROOM;
    while (room < count)
        room *= 2;
    uint16_t *threads = s->host->map(room * sizeof *threads);
    if (!threads)
        return false;
    for (uint32_t i = 0; i < group->count; i++)
        threads[i] = group->threads[i];
    group->threads = threads;
    group->room = room;
    return true;
}

static void append(struct pct_group *group, struct pct_thread *thread)
{
    thread->group_place = group->count;
    thread->group = group;
    group->threads[group->count++] = (uint16_t)thread->id;
}

static void give_back(struct pct_sched *s, struct pct_object *object)
{
    object->group->chain = s->free_groups;
    s->free_groups = object->group;
    object->group = NULL;
}

static void dissolve(struct pct_sched *s, struct pct_object *object)
{
    struct pct_group *group = object->group;
    for (uint32_t i = 0; i < group->count; i++) {
        struct pct_thread *t = s->thread_at(group->threads[i]);
        t->state = pct_state(t);
        t->group = NULL;
    }
    group->count = 0;
    give_back(s, object);
}

void pct_group_form(struct pct_sched *s, struct pct_object *object)
{
    const struct pct_thread *first = object->first;
    if (!first)
        return;
    for (const struct pct_thread *t = first; t; t = t->next)
        if (!may_join(t) || !alike(t, first) || t->state != first->state)
            return;
    struct pct_group *group = s->free_groups ? s->free_groups : s->host->map(sizeof *group);
    if (!group)
        return;
    if (group == s->free_groups)
        s->free_groups = group->chain;
    object->group = group;
    group->enabled = first->state == PCT_STATE_ENABLED;
    if (!make_room(s, group, object->waiters)) {
        give_back(s, object);
        return;
    }
    for (struct pct_thread *t = object->first; t; t = t->next)
        append(group, t);
}

bool pct_group_worth(const struct pct_object *object)
{
    return object->waiters >= LEAST;
}

void pct_group_join(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_object *object = thread->queued ? thread->wait.object : NULL;
    struct pct_group *group = object ? object->group : NULL;
    if (!group || thread->group)
        return;
    bool fits = may_join(thread) && alike(thread, object->first) &&
                group->enabled == (thread->state == PCT_STATE_ENABLED) && make_room(s, group, group->count + 1);
    if (fits)
        append(group, thread);
    else
        dissolve(s, object);
}

/* Others have left since it joined, so it stands at its place or before it. */
static uint32_t place_of(const struct pct_group *group, const struct pct_thread *thread)
{
    uint32_t at = thread->group_place < group->count ? thread->group_place : group->count - 1;
    while (group->threads[at] != thread->id)
        at--;
    return at;
}

void pct_group_leave(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_group *group = thread->group;
    if (!group)
        return;
    thread->state = pct_state(thread);
    thread->group = NULL;
    uint32_t at = place_of(group, thread);
    group->count--;
    __builtin_memmove(group->threads + at, group->threads + at + 1, (group->count - at) * sizeof *group->threads);
    if (!group->count)
        give_back(s, thread->wait.object);
}

void pct_group_split(struct pct_sched *s, struct pct_thread *thread)
{
    if (thread->group)
        dissolve(s, thread->wait.object);
}

void pct_group_set_enabled(struct pct_sched *s, struct pct_group *group, bool enabled)
{
    if (group->enabled == enabled)
        return;
    group->enabled = enabled;
    uint32_t before = s->enabled;
    s->enabled = enabled ? before + group->count : before - group->count;
    if (s->enabled > s->max_enabled)
        s->max_enabled = s->enabled;
    const struct pct_strategy *strategy = s->strategy;
    bool knows = strategy->abi >= 8;
    void (*all)(void *, const uint16_t *, uint32_t) = !knows    ? NULL
                                                      : enabled ? strategy->enable_all
                                                                : strategy->disable_all;
    void (*one)(void *, uint32_t) = enabled ? strategy->enable : strategy->disable;
    if (all)
        all(s->strategy_state, group->threads, group->count);
    for (uint32_t i = 0; !all && i < group->count; i++)
        one(s->strategy_state, group->threads[i]);
    if (enabled || (before > 1 && s->enabled <= 1))
        pct_sched_ask_strategy(s);
}
