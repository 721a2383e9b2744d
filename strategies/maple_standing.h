/* Where threads stand with the strategy maple (maple.c): what their operations are to the iRoot, by what of it has been
 * made. */
#ifndef PCT_STRATEGIES_MAPLE_STANDING_H
#define PCT_STRATEGIES_MAPLE_STANDING_H

#include "maple_state.h"
#include <pct/trace.h>
#include <stddef.h>

static bool changes(const struct state *s)
{
    return s->order >= ORDER_CHANGING && s->order < ORDER_PATIENT;
}

static bool is_eager(const struct state *s)
{
    return (changes(s) && s->order & EAGER) || (s->order == ORDER_ON && s->idiom->accesses == 2);
}

static bool is_loose(const struct state *s)
{
    return changes(s) && s->order & LOOSE;
}

/* Other accesses have been made, or none any more: what follows from that for each thread, at each step. */
static void look_ahead(struct state *s)
{
    const struct pct_idiom *idiom = s->idiom;
    s->due = s->waiting = 0;
    s->guarded[0] = s->guarded[1] = s->guarded_last = 0;
    if (!idiom)
        return;
    const uint32_t missing = ~s->done & ((1u << idiom->accesses) - 1);
    uint32_t roles = 0, turns = 0; /* of what is missing, and of what is due */
    for (uint32_t i = 0; i < idiom->accesses; i++) {
        const bool due = missing >> i & 1 && !(idiom->after[i] & ~s->done);
        s->due |= (uint8_t)(due << i);
        roles |= (missing >> i & 1) << idiom->role[i];
        turns |= (uint32_t)due << idiom->role[i];
    }
    const uint32_t all = (1u << PCT_IROOT_ROLES) - 1;
    s->waiting = (uint8_t)((idiom - pct_idioms >= PCT_IROOT_OF_TWO ? roles : all) & ~turns);
    s->goes_on = s->order == ORDER_ON && !(missing & (missing - 1));
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t from = idiom->guard[i].from, to = idiom->guard[i].to;
        if (!(s->done >> from & 1) || s->done >> to & 1)
            continue;
        s->guarded[i] = s->object[idiom->object[from]];
        s->guards_reads[i] = pct_operation_gives(s->event[from].op) && pct_operation_gives(s->event[to].op);
    }
    if (idiom->last && s->done && missing >> idiom->last & 1)
        s->guarded_last = s->object[0];
}

/* Whether objects are memory, locks and the like: numbers of others may be the same. */
static bool is_access(uint32_t op)
{
#define CLASS(id, name, class_) PCT_CLASS_##class_,
    static const uint8_t classes[] = { PCT_OPS(CLASS) };
#undef CLASS
    uint32_t class_ = op < PCT_OP_COUNT ? classes[op] : PCT_CLASS_NONE;
    return class_ != PCT_CLASS_NONE && class_ != PCT_CLASS_THREAD && class_ != PCT_CLASS_FD;
}

/* The thread's role; PCT_IROOT_ROLES: it has none. */
static uint32_t role_of(const struct state *s, uint32_t thread)
{
    uint32_t role = 0;
    while (role < PCT_IROOT_ROLES && s->role[role] != thread + 1)
        role++;
    return role;
}

/* Whether this operation of the thread, at the right place, may be this access: by who has made others, and on what. */
static bool fits(const struct state *s, uint32_t thread, uint32_t object, uint32_t access)
{
    uint32_t role = s->idiom->role[access], which = s->idiom->object[access];
    if ((s->given[role] && s->given[role] != thread + 1) || s->visits[access] < s->first[access])
        return false;
    if (s->role[role] ? s->role[role] != thread + 1 : role_of(s, thread) < PCT_IROOT_ROLES)
        return false;
    return !s->object[which] || s->object[which] == object;
}

static bool is_due(const struct state *s, uint32_t access)
{
    return s->due >> access & 1;
}

/* The thread has come to where it is. */
static void come(struct state *s, uint32_t thread)
{
    struct maple_thread *t = &s->of[thread];
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->idiom->accesses; i++)
        at |= (uint32_t)(s->event[i].place == t->next.place && s->event[i].op == t->next.op) << i;
    for (uint32_t other = at ^ t->at; other; other &= other - 1) {
        const int i = __builtin_ctz(other);
        s->near[i] += at >> i & 1 ? 1u : -1u;
    }
    for (uint32_t counted = at & s->counted; counted; counted &= counted - 1) {
        const int i = __builtin_ctz(counted);
        s->visits[i] += s->visits[i] < s->first[i] && s->given[s->idiom->role[i]] == thread + 1;
    }
    t->at = (uint8_t)at;
}

/* The access that the thread is about to make; PCT_IROOT_MOST: none. One that is due before others. */
static uint32_t find_access(const struct state *s, uint32_t thread)
{
    const struct maple_thread *t = &s->of[thread];
    uint32_t found = PCT_IROOT_MOST;
    if (!s->idiom || t->passes || !t->next.object)
        return found;
    for (uint32_t left = t->at & ~s->done; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!fits(s, thread, t->next.object, i))
            continue;
        if (is_due(s, i))
            return i;
        if (found == PCT_IROOT_MOST)
            found = i;
    }
    return found;
}

/* Whether this operation of the thread would come in between two accesses. Reads do not, but between two writes, and
 * those of the iRoot's own threads. */
static bool spoils(const struct state *s, uint32_t thread, const struct pct_operation *what)
{
    const uint32_t object = what->object;
    if (!object || (object != s->guarded[0] && object != s->guarded[1] && object != s->guarded_last))
        return false;
    const bool own = role_of(s, thread) < PCT_IROOT_ROLES;
    if (!is_access(what->op) || (own && s->order == ORDER_PATIENT))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (object == s->guarded[i] && (!what->reads || s->guards_reads[i] || own))
            return true;
    return object == s->guarded_last && s->role[0] == thread + 1;
}

/* The last but one access of idioms 4 and 5, which waits for its partner where threads are patient: what the partner's
 * thread does before it is at the last one may be done to the same object. */
static bool waits_for_last(const struct state *s, uint32_t access)
{
    return s->order == ORDER_PATIENT && access == 2 && s->idiom->accesses == 4 && s->idiom->guard[1].to;
}

/* Whether such an access waits for this thread. */
static bool is_awaited(const struct state *s, uint32_t thread)
{
    return waits_for_last(s, 2) && s->role[s->idiom->role[3]] == thread + 1 && !(s->done >> 2 & 1);
}

static bool prefers_others(const struct state *s, uint32_t thread)
{
    return s->prefers && s->given[0] != thread + 1 && s->given[1] != thread + 1;
}

/* access: find_access(). */
static enum standing standing_at(const struct state *s, uint32_t thread, uint32_t access)
{
    const struct maple_thread *t = &s->of[thread];
    if (!s->idiom)
        return FREE;
    if (t->ends)
        return ENDING;
    if (access != PCT_IROOT_MOST && (!is_loose(s) || is_due(s, access)))
        return HELD;
    if (t->passes)
        return FREE;
    if (!s->done) /* nobody has a role yet */
        return prefers_others(s, thread) ? OTHER : FREE;
    if (spoils(s, thread, &t->next))
        return SPOILS;
    const bool waits = s->waiting >> role_of(s, thread) & 1;
    if (s->goes_on)
        return waits ? FREE : OTHER;
    if (waits && !is_loose(s) && !is_awaited(s, thread))
        return LOW;
    return prefers_others(s, thread) ? OTHER : FREE;
}

static enum standing standing_of(const struct state *s, uint32_t thread)
{
    return standing_at(s, thread, find_access(s, thread));
}

#endif
