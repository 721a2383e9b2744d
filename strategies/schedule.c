/* The strategy `schedule`: an explicit list of switches; whatever it does not say runs in the default order. What `pct
 * minimize` makes, and people write.
 *
 *     switches=1.4.2-2.9.w1       T.N.U   when thread T has made N operations, thread U goes on
 *                                 T.N.wI  the wake that is thread T's operation N+1 wakes waiter I, in the order of
 *                                         arrival
 *
 * A thread's operations are counted by themselves, from its start, so a switch keeps its place when other threads do
 * more or less than before. A switch to a thread that is not enabled then is not made. One to a thread whose deadline
 * is near lets that come; by default deadlines come last.
 *
 * The default order has no preemption: a thread goes on until it blocks, finishes or spins; then the enabled thread
 * with the lowest id does, but for one that is ending the process, which waits for all others (PCT, section 4.2, final
 * wait). A spinning thread is followed by the next one in the ring of ids. Without chance: the seed decides only what
 * the target draws.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "base.h"
#include "number_list.h"
#include <stddef.h>

struct item {
    uint32_t thread, count; /* when the thread has made this many operations */
    uint32_t value;         /* the thread that goes on, or the waiter */
    uint32_t next;          /* the next item of the same kind and thread, plus 1 */
    bool wake;
};

struct cursor {
    uint32_t made;        /* operations */
    uint32_t first, last; /* of its switches that have not been passed, plus 1 */
    uint32_t first_wake, last_wake;
};

struct state {
    uint32_t running; /* whom the last pick chose, plus 1; 0: there was none */
    uint64_t step;    /* of that pick */
    bool spins;       /* and it makes no progress */
    uint32_t exiting; /* plus 1 */
    struct pct_rank_set enabled, early;
    struct cursor threads[PCT_MAX_THREADS];
    struct item items[];
};

static uint32_t state_size(const struct pct_run *run)
{
    return (uint32_t)(sizeof(struct state) + pct_list_count(run->list) * sizeof(struct item));
}

/* Counts rise within a thread: there is one switch at a place. */
static bool append(struct item *items, uint32_t *first, uint32_t *last, uint32_t index)
{
    if (*last && items[*last - 1].count >= items[index].count)
        return false;
    *(*last ? &items[*last - 1].next : first) = index + 1;
    *last = index + 1;
    return true;
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    struct state *s = state;
    const char *at = run->list;
    uint32_t count = 0;
    while (at && *at) {
        struct item *item = &s->items[count];
        bool fine = pct_list_number(&at, &item->thread) && pct_list_skip(&at, '.') &&
                    pct_list_number(&at, &item->count) && pct_list_skip(&at, '.');
        item->wake = fine && pct_list_skip(&at, 'w');
        fine = fine && pct_list_number(&at, &item->value) && item->thread < PCT_MAX_THREADS &&
               item->value < PCT_MAX_THREADS && (!*at || (pct_list_skip(&at, '-') && *at));
        if (!fine) {
            *why = "switches is a list like 1.4.2-2.9.1 (when thread 1 has made 4 operations, thread 2 goes on; ...)";
            return -22; /* EINVAL */
        }
        struct cursor *thread = &s->threads[item->thread];
        if (item->wake ? !append(s->items, &thread->first_wake, &thread->last_wake, count)
                       : !append(s->items, &thread->first, &thread->last, count)) {
            *why = "the switches of a thread must stand in the order of its operations";
            return -22;
        }
        count++;
    }
    return 0;
}

PCT_ENABLED_OR_EARLY(enabled, early)

/* The first item at this count or later. */
static uint32_t skip_passed(const struct state *s, uint32_t item, uint32_t count)
{
    while (item && s->items[item - 1].count < count)
        item = s->items[item - 1].next;
    return item;
}

/* Whom the list, or else the default order, lets go on. */
static uint32_t choose_thread(struct state *s)
{
    if (s->running) {
        struct cursor *thread = &s->threads[s->running - 1];
        thread->first = skip_passed(s, thread->first, thread->made);
        const struct item *item = thread->first ? &s->items[thread->first - 1] : NULL;
        if (item && item->count == thread->made &&
            (pct_rank_set_has(&s->enabled, item->value) || pct_rank_set_has(&s->early, item->value))) {
            thread->first = item->next;
            return item->value;
        }
        bool ends = s->exiting == s->running;
        if (!s->spins && !ends && pct_rank_set_has(&s->enabled, s->running - 1))
            return s->running - 1;
    }
    uint32_t next =
        s->running && s->spins ? pct_rank_set_after(&s->enabled, s->running - 1) : pct_rank_set_lowest(&s->enabled);
    if (next != PCT_NO_RANK && next + 1 == s->exiting)
        next = pct_rank_set_after(&s->enabled, next);
    return next != PCT_NO_RANK ? next : pct_rank_set_lowest(&s->early);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->running)
        s->threads[s->running - 1].made += (uint32_t)(point->step - s->step);
    uint32_t next = choose_thread(s);
    struct cursor *thread = &s->threads[next];
    s->running = next + 1;
    s->step = point->step;
    s->spins = false;
    thread->first = skip_passed(s, thread->first, thread->made);
    uint64_t budget = PCT_UNLIMITED;
    /* A switch that could not be made just now is tried again only if something changes. */
    if (thread->first && s->items[thread->first - 1].count > thread->made)
        budget = s->items[thread->first - 1].count - thread->made;
    else if (thread->first)
        budget = 1;
    return (struct pct_choice){ .thread = next, .budget = budget };
}

static uint32_t choose(void *state, uint32_t waiters, uint64_t step)
{
    struct state *s = state;
    if (!s->running)
        return 0;
    struct cursor *thread = &s->threads[s->running - 1];
    uint32_t made = thread->made + (uint32_t)(step - s->step);
    thread->first_wake = skip_passed(s, thread->first_wake, made);
    const struct item *item = thread->first_wake ? &s->items[thread->first_wake - 1] : NULL;
    if (!item || item->count != made)
        return 0;
    thread->first_wake = item->next;
    return item->value < waiters ? item->value : 0;
}

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    s->spins = s->running == thread + 1;
}

static void final_wait(void *state, uint32_t thread)
{
    struct state *s = state;
    s->exiting = thread + 1;
}

const struct pct_strategy pct_strategy_schedule = {
    .name = "schedule",
    .summary = "the switches of a list, and otherwise no preemption; what `pct minimize` makes",
    PCT_BASE,
    .early = early,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
    .list = "switches",
    .list_help = "T.N.U-...: when thread T has made N operations of its own, thread U goes on",
};
