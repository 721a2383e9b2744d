/* Threads that wait for each other's locks while others only sleep, or wait for the outside world: a poller, a thread
 * that waits for signals, a server's main loop. Such a cycle can never be left, but the rest of the process keeps the
 * run from being a deadlock in which nothing at all can go on.
 *
 * The search is made when nothing is enabled, and only if a thread has begun to wait for a lock since the last one. On
 * the baton holder's turn. */
#include "internal.h"

/* Whether something in the host's heap of deadlines is not the end of a wait: an alarm, whose handler may do anything.
 */
static bool alarm_is_armed(const struct pct_sched *s)
{
    for (uint32_t i = 0; i < s->timers_count; i++)
        if (s->timers[i]->order >= PCT_MAX_THREADS)
            return true;
    return false;
}

/* From this thread to the one that it waits for, and so on, until one was met on the way (a cycle), in an earlier
 * search, or waits for no lock. A thread that waits for itself alone is not looked for: tests of libc's own do that on
 * purpose, and have a signal end it. */
static bool leads_to_cycle(struct pct_sched *s, struct pct_thread *thread, uint64_t first)
{
    uint64_t mark = ++s->cycle_mark;
    while (pct_state(thread) == PCT_STATE_BLOCKED && thread->mark < first) {
        thread->mark = mark;
        uint32_t holder = s->host->holder(thread);
        if (holder >= s->threads || holder == thread->id)
            return false;
        thread = s->thread_at(holder);
    }
    return thread->mark == mark;
}

bool pct_cycle_find(struct pct_sched *s)
{
    uint64_t first = s->cycle_mark + 1;
    s->lock_waits = false;
    for (uint32_t id = 0; s->host->holder && id < s->threads; id++)
        if (leads_to_cycle(s, s->thread_at(id), first))
            return !alarm_is_armed(s);
    return false;
}
