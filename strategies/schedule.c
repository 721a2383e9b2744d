/* The strategy `schedule`: an explicit list of switches; whatever it does not say runs in the default order. What `pct
 * minimize` makes, and people write.
 *
 *     switches=1.4.2-2.9.w1       T.N.U   when thread T has made N operations, thread U goes on; T itself: where it
 *                                         yields or has asked in vain, and others would come first by default
 *                                 T.N.aU  the same, and if it cannot, the process waits for what lets it
 *                                 T.N.bU  when it has made N and then come back from outside, U goes on before the
 *                                         next one, which T stands at
 *                                 T.N.wI  the wake that is thread T's operation N+1 wakes waiter I, in the order of
 *                                         arrival
 *
 * A thread's operations are counted by themselves, from its start, so a switch keeps its place when other threads do
 * more or less than before. A switch to a thread that is not enabled then is not made. One to a thread whose deadline
 * is near lets that come; by default deadlines come last.
 *
 * The default order (default_order.h) has no preemption. Without chance: the seed decides only what the target draws.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "schedule.h"
#include "default_order.h"
#include "number_list.h"
#include <stddef.h>

struct item {
    uint32_t thread, count; /* when the thread has made this many operations */
    uint32_t value;         /* the thread that goes on, or the waiter */
    uint32_t next;          /* the next item of the same kind and thread, plus 1 */
    bool wake, awaits, back;
};

struct cursor {
    uint32_t made;        /* operations */
    uint32_t first, last; /* of its switches that have not been passed, plus 1 */
    uint32_t first_wake, last_wake;
};

struct state {
    struct pct_default_order order;
    uint64_t step;    /* of the last pick */
    uint32_t awaited; /* the thread for which the process waits, plus 1; 0: none */
    bool back;        /* the running one has come back from outside since the last pick */
    struct cursor threads[PCT_MAX_THREADS];
    struct item items[];
};

static uint32_t state_size(const struct pct_run *run)
{
    return (uint32_t)(sizeof(struct state) + pct_list_count(run->list) * sizeof(struct item));
}

/* Counts rise within a thread: there is one switch at a place, and one where it is back. */
static bool append(struct item *items, uint32_t *first, uint32_t *last, uint32_t index)
{
    const struct item *before = *last ? &items[*last - 1] : NULL;
    if (before && before->count + (before->back || !items[index].back) > items[index].count)
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
        item->awaits = fine && !item->wake && pct_list_skip(&at, 'a');
        item->back = fine && !item->wake && !item->awaits && pct_list_skip(&at, 'b');
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

PCT_DEFAULT_ORDER(order)

/* The first item at this count or later. */
static uint32_t skip_passed(const struct state *s, uint32_t item, uint32_t count)
{
    while (item && s->items[item - 1].count < count)
        item = s->items[item - 1].next;
    return item;
}

static bool can_go(const struct state *s, uint32_t thread)
{
    return pct_rank_set_has(&s->order.enabled, thread) || pct_rank_set_has(&s->order.early, thread);
}

/* The switch of the running thread, which has made this many operations; NULL: there is none here. */
static struct item *find_here(struct state *s, uint32_t made)
{
    uint32_t at = skip_passed(s, s->threads[s->order.running - 1].first, made);
    while (at && s->items[at - 1].back != s->back)
        at = s->items[at - 1].next;
    return at && s->items[at - 1].count == made ? &s->items[at - 1] : NULL;
}

bool pct_strategy_schedule_returned(void *state, uint32_t thread, uint64_t step)
{
    struct state *s = state;
    s->back = s->order.running == thread + 1;
    s->back = s->back && find_here(s, s->threads[thread].made + (uint32_t)(step - s->step));
    return s->back;
}

/* One for whom the process is to wait: until it has, what comes from outside counts as steps of the running thread. */
static uint32_t would_pick(void *state, uint64_t step, uint64_t ran, uint32_t without)
{
    struct state *s = state;
    (void)ran;
    if (!s->awaited && s->order.running) {
        const struct item *item = find_here(s, s->threads[s->order.running - 1].made + (uint32_t)(step - s->step));
        s->awaited = item && item->awaits ? item->value + 1 : 0;
    }
    if (s->awaited)
        return can_go(s, s->awaited - 1) && s->awaited != without + 1 ? s->awaited - 1 : PCT_NO_THREAD;
    return pct_default_order_next(&s->order);
}

/* Whom the list, or else the default order, lets go on. */
static uint32_t choose_thread(struct state *s)
{
    uint32_t awaited = s->awaited - 1;
    s->awaited = 0;
    if (awaited != PCT_NO_THREAD && can_go(s, awaited))
        return awaited;
    if (s->order.running) {
        struct cursor *thread = &s->threads[s->order.running - 1];
        thread->first = skip_passed(s, thread->first, thread->made);
        const struct item *item = find_here(s, thread->made);
        if (item && can_go(s, item->value)) {
            thread->first = item->next;
            return item->value;
        }
    }
    return pct_default_order_next(&s->order);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->order.running)
        s->threads[s->order.running - 1].made += (uint32_t)(point->step - s->step);
    uint32_t next = choose_thread(s);
    s->back = false;
    struct cursor *thread = &s->threads[next];
    pct_default_order_chose(&s->order, next);
    s->step = point->step;
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
    if (!s->order.running)
        return 0;
    struct cursor *thread = &s->threads[s->order.running - 1];
    uint32_t made = thread->made + (uint32_t)(step - s->step);
    thread->first_wake = skip_passed(s, thread->first_wake, made);
    const struct item *item = thread->first_wake ? &s->items[thread->first_wake - 1] : NULL;
    if (!item || item->count != made)
        return 0;
    thread->first_wake = item->next;
    return item->value < waiters ? item->value : 0;
}

const struct pct_strategy pct_strategy_schedule = {
    .name = "schedule",
    .summary = "the switches of a list, and otherwise no preemption; what `pct minimize` makes",
    PCT_BASE,
    PCT_DEFAULT_ORDER_FUNCTIONS,
    .choose = choose,
    .would_pick = would_pick,
    .list = "switches",
    .list_help = "T.N.U-...: when thread T has made N operations of its own, thread U goes on",
};
