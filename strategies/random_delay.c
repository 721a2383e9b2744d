/* The strategy `random-delay`: random sleeps at synchronisation operations, on a simulated parallel machine. What
 * Burckhardt et al., ASPLOS 2010, section 5.1.2, compare PCT with: "a scheme that introduces random sleeps at
 * synchronization operations with a certain probability"; they found 1/50 to work best.
 *
 * Called by the scheduler through <pct/strategy.h>.
 *
 * The model, a discrete-event simulation of a machine with a processor for every thread:
 *
 * - Every thread has a time of its own, in ticks. A step takes one tick.
 * - Before each step of a thread, with probability 1/inverse, the thread sleeps for 1 to `length` ticks, uniformly.
 * - The enabled thread whose time is the earliest runs its step. What falls into the same tick happens at once on a
 *   parallel machine, so its order is drawn at random: each of the threads that are left in the tick is equally likely.
 * - A thread that becomes enabled goes on at the end of the step that enabled it, or later if it still sleeps: a sleep
 *   passes while the thread is blocked, as it does in reality.
 *
 * The sleeps and the order within a tick are the only sources of chance: without sleeps all threads advance in step.
 * There is no noise of caches, interrupts or a loaded machine, so this stands for the delays alone, not for a stress
 * test.
 *
 * Fair, because every step costs time: it needs to know nothing of spins.
 *
 * How it is kept: the threads that are left in the present tick stand in a dense set, from which one is drawn; those of
 * later ticks in a calendar queue. Nothing can join the present tick, because a thread goes on at the end of a step,
 * its own or another's. When the set is empty, the threads of the next tick that has any move over. A thread moves once
 * for every time that it was put into the calendar, so a pick costs O(1), amortised; enabling and disabling cost O(1)
 * each time.
 *
 * The window of the calendar: a thread that made its step began it at now - 1, or at now if it was blocked and enabled
 * again meanwhile. It goes on one tick and at most `length` ticks of sleep later. */
#include "base.h"

enum { MAX_LENGTH = 100000, BEYOND_LENGTH = 2 }; /* ticks: the window is now .. now + length + 1 */
_Static_assert(MAX_LENGTH + BEYOND_LENGTH <= PCT_RANKS, "the window fits in the calendar");

enum { PARAM_INVERSE, PARAM_LENGTH };

static const struct pct_param params[] = {
    [PARAM_INVERSE] = { .name = "inverse",
                        .default_value = 50,
                        .min = 1,
                        .max = UINT64_C(1000000000),
                        .help = "a thread sleeps before one step in this many, on average" },
    [PARAM_LENGTH] = { .name = "length",
                       .default_value = 100,
                       .min = 1,
                       .max = MAX_LENGTH,
                       .help = "the longest sleep, in ticks; a step takes one tick" },
    { 0 }
};

struct clock {
    uint64_t time;  /* tick at which the thread's next step begins */
    uint64_t steps; /* that it has made */
};

struct state {
    uint64_t seed;
    uint64_t inverse, length;
    uint64_t now;              /* tick: the end of the step being made */
    uint32_t previous;         /* the thread that the last pick chose, plus 1 */
    struct pct_dense_set due;  /* the enabled threads whose time is now - 1 */
    struct pct_calendar later; /* the other enabled threads, by their time */
    struct clock *clock;       /* by thread */
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_dense_set_start(&s->due, layout, threads);
    pct_calendar_start(&s->later, layout, threads, (uint32_t)run->param[PARAM_LENGTH] + BEYOND_LENGTH);
    s->clock = pct_layout_take(layout, threads, sizeof *s->clock);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    s->inverse = run->param[PARAM_INVERSE];
    s->length = run->param[PARAM_LENGTH];
    return 0;
}

/* The thread has come to its next step. */
static void arrive(struct state *s, uint32_t thread)
{
    struct clock *clock = &s->clock[thread];
    uint64_t place = (uint64_t)thread << 48 | clock->steps << 1;
    if (pct_random_below(s->seed, PCT_STREAM_DELAY, place, s->inverse) == 0)
        clock->time += 1 + pct_random_below(s->seed, PCT_STREAM_DELAY, place + 1, s->length);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    s->clock[thread].time = s->now;
    arrive(s, thread);
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    if (s->clock[thread].time < s->now)
        s->clock[thread].time = s->now;
    pct_calendar_insert(&s->later, thread, s->clock[thread].time);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_dense_set_remove(&s->due, thread);
    pct_calendar_remove(&s->later, thread);
}

PCT_ENABLE_ALL

/* The thread that the last pick chose has made its step. */
static void step(struct state *s, uint32_t thread)
{
    bool enabled = pct_dense_set_has(&s->due, thread) || pct_calendar_has(&s->later, thread);
    if (enabled)
        disable(s, thread);
    s->clock[thread].time++;
    s->clock[thread].steps++;
    arrive(s, thread);
    if (enabled)
        pct_calendar_insert(&s->later, thread, s->clock[thread].time);
}

/* Nobody is left in the present tick: on to the next one that has threads. */
static void advance(struct state *s)
{
    uint64_t tick = pct_calendar_earliest(&s->later, s->now);
    uint32_t thread;
    while ((thread = pct_calendar_take(&s->later, tick)) != PCT_NO_THREAD)
        pct_dense_set_insert(&s->due, thread);
    s->now = tick + 1;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    /* Who made the step: with no thread at the baton (all were waiting outside), the one chosen before. More than one
     * step, or another thread's, was not of our choosing (the scheduler lets a process end); such steps take no time.
     */
    uint32_t previous = s->previous - 1;
    if (point->ran && previous != PCT_NO_THREAD && (point->current == PCT_NO_THREAD || point->current == previous))
        step(s, previous);
    if (!pct_dense_set_size(&s->due))
        advance(s);
    /* The threads of a tick only become fewer, so no place is used for two choices. */
    uint32_t size = pct_dense_set_size(&s->due);
    uint64_t i = pct_random_below(s->seed, PCT_STREAM_PICK, s->now << 15 | size, size);
    uint32_t thread = pct_dense_set_at(&s->due, (uint32_t)i);
    s->previous = thread + 1;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

PCT_CHOOSE

const struct pct_strategy pct_strategy_random_delay = {
    .name = "random-delay",
    .summary = "a parallel machine on which threads sleep at random before their steps",
    .source = "Burckhardt et al., ASPLOS 2010, section 5.1.2 (random sleep)",
    .params = params,
    PCT_BASE,
    .created = created,
    .choose = choose,
};
