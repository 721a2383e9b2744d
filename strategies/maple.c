/* The strategy `maple`: J. Yu, S. Narayanasamy, C. Pereira, G. Pokam, "Maple: A Coverage-Driven Testing Tool for
 * Multithreaded Programs", OOPSLA 2012. With an iRoot (iroot.h), its active scheduler (section 4): it forces that
 * iRoot. Without one, a profile run (section 3; 6.3.1, PCTLarge): priorities are random, and change often.
 *
 * A directed run has two priorities (4.2). A thread that comes to an access of the iRoot is held, at the low one: it
 * goes on only when all others are held, too, or cannot. When the next access and the one that answers it are both
 * there, of two threads and on one object, they are made. Where only the first of the two is there when nothing else
 * can go on, it is made, and its thread waits on at the low priority for the other one: watch mode (4.4). Whoever is
 * about to come in between, by an access to that object that conflicts, is held as well; if it has to go on all the
 * same, the iRoot is begun anew. Those that are not held go on in the order of their creation, the oldest first or (the
 * complementary schedule, 4.3) the youngest; or in a random order. Which of several accesses at one place is the one
 * (4.5) is left to chance: with a random order, in half of the runs each is passed over with probability 1/2. When the
 * iRoot was made, nobody is held any more.
 *
 * There are more orders than the paper's: see maple_order.h. A run may follow another one (iroot.h): phases.
 *
 * What deviates: the paper holds one thread at each access and lets others that come there pass, or the former one,
 * by a coin; here all are held, or one of many threads would make the access that was to come later. Of those that
 * are held when nothing else can go on, one that owns what another thread waits for goes first.
 *
 * Called by the scheduler through <pct/strategy.h>. While there is something to be forced each budget is 1. Threads
 * that poll for what a held one is to do must not hold it for ever: after `PATIENCE` steps, of which each spin is worth
 * `SPIN`, one is let go. `STUCK` spins at once: it polls memory without a call, where a step takes milliseconds. Behind
 * `SPINS_MOST` in a run the iRoot is given up: threads that try, and make room for each other (std::lock), may do so
 * for ever where each is held in turn. */
#include "maple_standing.h"
#include <pct/trace.h>
#include <stddef.h>

enum { PATIENCE = 4096, SPIN = 256, STUCK = 64, SPINS_MOST = 4 * PATIENCE };
enum { VAIN = 3 /* in a run, so often the outside may be waited for in vain */ };
enum { LONGEST = 7, LONGEST_FORCED = 4 }; /* such means of the time between changes are drawn: powers of two */
enum { MOST_OFTEN = 32 /* between two changes of a directed run is such a part of the steps so far, or more */ };

PCT_STATE_OF_TABLES

/* Go on as this phase says, from here on. */
static void begin_phase(struct state *s, const struct pct_iroot_phase *phase)
{
    s->seed = phase->seed;
    s->order = phase->order;
    s->idiom = phase->idiom;
    for (uint32_t i = 0; i < PCT_IROOT_MOST; i++) {
        s->event[i] = phase->event[i];
        s->first[i] = phase->visit[i];
        s->visits[i] = 0;
        s->skip[i] = (uint8_t)__builtin_ctzll(pct_random_below(s->seed, PCT_STREAM_CHANGE, i, 8) | 8);
    }
    s->counted = 0;
    for (uint32_t i = 0; s->idiom && i < s->idiom->accesses; i++)
        s->counted |= (s->first[i] != 0) << i;
    for (uint32_t i = 0; i < PCT_IROOT_ROLES; i++)
        s->given[i] = phase->thread[i];
    s->prefers = s->given[0];
    s->segments = 0;
    for (uint32_t i = 0; i < PCT_IROOT_SEGMENTS; i++) {
        s->segment[i] = phase->segment[i];
        s->segments = s->segment[i] && s->given[0] ? (uint8_t)(i + 1) : s->segments;
    }
    s->skips = !s->given[0] && (s->order == ORDER_RANDOM || changes(s)) && pct_object_draw(s->seed, PCT_OBJECT_SOME, 2);
    s->mean = 0;
    s->began = s->draws.step;
    if (!s->idiom || changes(s))
        s->mean = 2u << pct_object_draw(s->seed, PCT_OBJECT_SCALE, s->idiom ? LONGEST_FORCED : LONGEST);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    struct state *s = begin(state, run);
    bool fine = pct_iroot_parse(run->list, s->phase, &s->phases);
    s->phase[0].seed = run->seed;
    s->phase[0].order = (uint8_t)run->param[PARAM_ORDER];
    begin_phase(s, &s->phase[s->phases]);
    look_ahead(s);
    if (fine)
        return 0;
    *why =
        "iroot is an idiom, 1 to 10, and its accesses, like 1-53.3fa2b1c0-54.9d01c2aa (`pct campaign -S maple` makes "
        "them)";
    return -22; /* EINVAL */
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

/* Where this thread stands, or whether it is enabled, may have changed. Mostly it has not. */
static void sort(struct state *s, uint32_t thread)
{
    struct maple_thread *t = &s->of[thread];
    t->access = (uint8_t)find_access(s, thread);
    const enum standing standing = standing_at(s, thread, t->access);
    const uint8_t sorted = t->enabled ? (uint8_t)(standing + 1) : 0;
    s->look |= standing == HELD;
    if (t->sorted == sorted)
        return;
    t->sorted = sorted;
    if (sorted == FREE + 1)
        pct_priorities_enable(&s->priorities, thread);
    else
        pct_priorities_disable(&s->priorities, thread);
    pct_thread_lists_put(&s->stand, thread, t->enabled ? standing : FREE);
}

static void sort_all(struct state *s)
{
    for (uint32_t i = 0; i < s->threads; i++)
        if (s->of[i].enabled)
            sort(s, i);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    uint32_t place = s->created++ % PCT_INITIAL_RANKS;
    if (s->order == ORDER_OLDEST || (s->order >= ORDER_PATIENT && s->order != ORDER_AWAITS_YOUNGEST))
        place = PCT_INITIAL_RANKS - 1 - place;
    else if (s->order == ORDER_MAIN)
        place = place ? place - 1 : PCT_INITIAL_RANKS - 1;
    else if (s->order == ORDER_RANDOM || changes(s))
        place = pct_priorities_permute(s->seed, 0, place);
    s->of[thread] = (struct maple_thread){ .enabled = false }; /* stands nowhere: one of this number has finished */
    if (s->threads <= thread)
        s->threads = thread + 1;
    pct_priorities_begin(&s->priorities, thread, place); /* an earlier phase has given out others */
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    struct maple_thread *t = &s->of[thread];
    t->next = *next;
    t->passes = false;
    if (!s->idiom)
        return;
    come(s, thread);
    uint32_t access = s->skips ? find_access(s, thread) : PCT_IROOT_MOST;
    if (access != PCT_IROOT_MOST && changes(s)) {
        t->passes = s->skip[access];
        s->skip[access] -= t->passes;
    } else if (access != PCT_IROOT_MOST) {
        t->passes = pct_random_below(s->seed, PCT_STREAM_CHANGE, (uint64_t)thread << 32 | t->met++, 2);
    }
    sort(s, thread);
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread].enabled = true;
    sort(s, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread].enabled = false;
    if (s->order == ORDER_MAIN && !thread)
        pct_priorities_put_last_later(&s->priorities, thread);
    sort(s, thread);
}

PCT_ENABLE_ALL

/* --- Making the iRoot --------------------------------------------------------------------------------------------- */

static void begin_anew(struct state *s)
{
    s->done = s->object[0] = s->object[1] = s->role[0] = s->role[1] = s->role[2] = 0;
    look_ahead(s);
    sort_all(s);
}

static void end_preference(struct state *s)
{
    if (!s->prefers)
        return;
    s->prefers = false;
    sort_all(s);
}

/* The next phase begins, if it is time. */
static void look_for_phase(struct state *s, uint64_t step)
{
    if (!s->phases || step < s->phase[s->phases - 1].from)
        return;
    begin_phase(s, &s->phase[--s->phases]);
    for (uint32_t k = 0; k < PCT_IROOT_MOST; k++)
        s->near[k] = 0;
    for (uint32_t i = 0; i < s->threads; i++) {
        s->of[i].passes = false;
        s->of[i].at = 0;
        if (s->idiom)
            come(s, i);
    }
    s->no_progress = s->low_in_a_row = s->wanted_in_a_row = 0;
    uint32_t last = s->phase[s->phases].last;
    if (last && last <= s->threads && !changes(s))
        pct_priorities_put_last(&s->priorities, last - 1);
    begin_anew(s);
}

/* The thread that was picked last has made its step. */
static void made(struct state *s)
{
    uint32_t thread = s->previous - 1;
    pct_owners_made(&s->owners, &s->last, thread);
    if (s->making) {
        uint32_t access = s->making - 1;
        s->done |= 1u << access;
        s->role[s->idiom->role[access]] = thread + 1;
        s->object[s->idiom->object[access]] = s->last.object;
        if (s->done == (1u << s->idiom->accesses) - 1)
            s->idiom = NULL;
        look_ahead(s);
        s->no_progress = s->low_in_a_row = s->wanted_in_a_row = 0;
        sort_all(s);
    } else if (spoils(s, thread, &s->last)) {
        begin_anew(s);
    }
}

/* Whether the access that this one is made for is near. */
static bool has_partner(const struct state *s, uint32_t thread, uint32_t access)
{
    uint32_t partner = waits_for_last(s, access) ? 3 : s->idiom->partner[access];
    uint32_t object = s->of[thread].next.object;
    bool other = s->idiom->object[partner] != s->idiom->object[access];
    if (s->near[partner] <= (s->of[thread].at >> partner & 1))
        return false;
    for (uint32_t i = 0; i < s->threads; i++) {
        const struct maple_thread *t = &s->of[i];
        const bool early = s->given[s->idiom->role[partner]] == i + 1 && s->visits[partner] < s->first[partner];
        if (i != thread && !t->passes && !early && t->at >> partner & 1 && (other || t->next.object == object))
            return true;
    }
    return false;
}

/* Of the threads that stand so, the one of the highest priority; PCT_NO_THREAD: none. first: who is about to make an
 * access that is due, and (alone is false) whose partner is near, or that is not the first. */
static uint32_t highest(const struct state *s, enum standing standing, bool first, bool alone)
{
    uint32_t found = PCT_NO_THREAD;
    for (uint32_t at = s->stand.first[standing]; at; at = pct_thread_lists_next(&s->stand, at)) {
        const uint32_t thread = at - 1;
        uint32_t access = first ? s->of[thread].access : 0;
        bool waits = !alone && (!s->done || waits_for_last(s, access));
        if (first && (!is_due(s, access) || (waits && !has_partner(s, thread, access))))
            continue;
        if (found == PCT_NO_THREAD ||
            pct_priorities_rank(&s->priorities, thread) > pct_priorities_rank(&s->priorities, found))
            found = thread;
    }
    return found;
}

static uint32_t make(struct state *s, uint32_t thread)
{
    s->making = s->of[thread].access + 1u;
    return thread;
}

/* A held thread that owns what another one waits for. PCT_NO_THREAD: there is none. */
static uint32_t find_wanted(const struct state *s)
{
    for (uint32_t i = 0; i < s->threads; i++) {
        const struct maple_thread *waiting = &s->of[i];
        uint32_t owner = waiting->enabled ? PCT_NO_THREAD : pct_owners_of(&s->owners, waiting->next.object);
        if (owner != PCT_NO_THREAD && pct_thread_lists_has(&s->stand, owner, HELD))
            return owner;
    }
    return PCT_NO_THREAD;
}

/* Somebody who stands, by what; last_first: those that are let go last before others, but who ends the process. */
static uint32_t let_any_go(const struct state *s, bool last_first)
{
    static const enum standing order[2][5] = { { HELD, SPOILS, LOW, OTHER, ENDING },
                                               { OTHER, LOW, SPOILS, HELD, ENDING } };
    uint32_t thread = PCT_NO_THREAD;
    for (unsigned i = 0; thread == PCT_NO_THREAD && i < sizeof *order / sizeof **order; i++)
        thread = highest(s, order[last_first][i], false, false);
    return thread;
}

/* Nobody is free to go on, or too long others have waited for that. Somebody stands. */
static uint32_t let_go(struct state *s)
{
    s->no_progress = 0;
    if (s->let_go++ & 1 && s->stand.first[OTHER])
        return highest(s, OTHER, false, false);
    uint32_t thread = s->low_in_a_row < PATIENCE ? highest(s, LOW, false, false) : PCT_NO_THREAD;
    s->low_in_a_row = thread != PCT_NO_THREAD ? s->low_in_a_row + 1 : 0; /* it may poll for what a held one is to do */
    if (thread != PCT_NO_THREAD)
        return thread;
    thread = highest(s, HELD, true, true);
    if (thread != PCT_NO_THREAD)
        return make(s, thread);
    thread = s->wanted_in_a_row < PATIENCE ? find_wanted(s) : PCT_NO_THREAD;
    s->wanted_in_a_row = thread != PCT_NO_THREAD ? s->wanted_in_a_row + 1 : 0; /* it may poll for another held one's */
    return thread != PCT_NO_THREAD ? thread : let_any_go(s, false);
}

static bool is_any_standing(const struct state *s)
{
    return s->stand.first[OTHER] | s->stand.first[LOW] | s->stand.first[HELD] | s->stand.first[SPOILS];
}

/* Who goes on by the segments. PCT_NO_THREAD: that is not said, or that one cannot: then all is as if nothing had been
 * said. */
static uint32_t follow_segments(struct state *s)
{
    for (uint8_t i = 0; i < s->segments; i++) {
        const uint32_t thread = s->given[i & 1] - 1;
        const bool enabled = thread < s->threads && s->of[thread].enabled;
        if (!s->segment[i])
            continue;
        if (s->no_progress >= PATIENCE || (!enabled && !s->stand.first[OTHER]))
            break;
        if (!enabled)
            return highest(s, OTHER, false, false); /* it may wait for that */
        s->segment[i]--;
        return thread;
    }
    s->segments = 0;
    return PCT_NO_THREAD;
}

static uint32_t choose_directed(struct state *s)
{
    uint32_t next = follow_segments(s);
    if (next == PCT_NO_THREAD && s->spun >= PATIENCE) { /* who comes first may poll for what who comes last is to do */
        s->spun = 0;
        next = let_any_go(s, true);
    }
    if (next != PCT_NO_THREAD)
        return next;
    if (s->look && s->stand.first[HELD]) {
        uint32_t thread = highest(s, HELD, true, is_eager(s));
        if (thread != PCT_NO_THREAD)
            return make(s, thread);
    }
    s->look = false;
    if (s->no_progress >= PATIENCE)
        end_preference(s);
    if (s->priorities.top && (s->no_progress < PATIENCE || !is_any_standing(s)))
        return pct_priorities_highest(&s->priorities);
    if (s->stand.first[OTHER] && s->no_progress < PATIENCE)
        return highest(s, OTHER, false, false);
    uint32_t thread = let_go(s);
    if (s->let_go % PATIENCE == 0) { /* some may poll for what one does that is free, and never its turn; */
        pct_priorities_put_last(&s->priorities, thread);
        s->no_progress = PATIENCE; /* or for a held one that cannot go on whenever one is let go */
    }
    return thread;
}

/* How many steps are between two changes, about, while the iRoot is to be made. */
static uint64_t find_mean(const struct state *s, uint64_t step)
{
    const uint64_t least = (step - s->began) / MOST_OFTEN;
    return s->mean < least ? least : s->mean;
}

/* As many steps have been made. */
static void catch_up(struct state *s, uint64_t step)
{
    bool stepped = s->previous && step > s->draws.step;
    pct_draws_next(&s->draws, step);
    if (!s->idiom || !stepped)
        return;
    s->no_progress += is_any_standing(s);
    made(s);
    if (s->mean && pct_random_below(s->seed, PCT_STREAM_PICK, step, find_mean(s, step)) == 0)
        pct_priorities_put_last(&s->priorities, s->previous - 1);
}

/* Where only those that are held could go on, others may come from outside (4.6). */
static uint32_t would_pick(void *state, uint64_t step, uint64_t ran, uint32_t without)
{
    struct state *s = state;
    (void)ran;
    if (s->order < ORDER_AWAITS || without != PCT_NO_THREAD)
        return 0;
    catch_up(s, step);
    if (!s->idiom || s->phases)
        return 0;
    uint32_t thread = highest(s, HELD, true, is_eager(s));
    if (thread == PCT_NO_THREAD && s->priorities.top)
        thread = pct_priorities_highest(&s->priorities);
    if (thread == PCT_NO_THREAD)
        thread = highest(s, LOW, false, false);
    if (thread != PCT_NO_THREAD)
        return thread;
    const uint32_t held = s->stand.first[HELD] ? s->stand.first[HELD] : s->stand.first[SPOILS];
    if (!held || s->vain == VAIN)
        return 0;
    s->reluctant = true;
    return (held - 1) | PCT_RELUCTANTLY;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    catch_up(s, point->step);
    s->vain += s->reluctant && !s->priorities.top;
    s->reluctant = false;
    s->making = s->spins = 0;
    look_for_phase(s, point->step);
    pct_priorities_settle(&s->priorities);
    if (!s->idiom && s->mean && point->why == PCT_WHY_BUDGET && point->current != PCT_NO_THREAD) {
        pct_priorities_put_last(&s->priorities, point->current);
        if (s->done && s->mean < 2u << LONGEST)
            s->mean *= 2; /* what the iRoot leads to is mostly near */
    }
    uint32_t thread = s->idiom ? choose_directed(s) : pct_priorities_highest(&s->priorities);
    s->previous = thread + 1;
    s->last = s->of[thread].next;
    if (s->idiom)
        return (struct pct_choice){ .thread = thread, .budget = 1 };
    uint64_t most = s->mean ? 1 + pct_random_below(s->seed, PCT_STREAM_PICK, point->step, 2 * s->mean) : PCT_UNLIMITED;
    uint64_t left = s->phases ? s->phase[s->phases - 1].from - point->step : PCT_UNLIMITED;
    return (struct pct_choice){ .thread = thread, .budget = most < left ? most : left };
}

PCT_CHOOSE

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    s->spun++;
    s->no_progress += s->idiom ? SPIN : 0;
    if (s->idiom)
        end_preference(s);
    if (s->idiom && ++s->spins_in_all >= SPINS_MOST) {
        s->idiom = NULL;
        sort_all(s);
    }
    if (s->idiom && ++s->spins == STUCK && standing_of(s, thread) != FREE) {
        s->no_progress -= STUCK * SPIN; /* what it waits for, one that is free may do */
        s->low_in_a_row += SPIN;
    }
    pct_priorities_spin(&s->priorities, s->seed, thread, PCT_SPIN_INVERSE);
}

static void final_wait(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread].ends = true;
    pct_priorities_put_last_later(&s->priorities, thread);
    sort(s, thread);
}

const struct pct_strategy pct_strategy_maple = {
    .name = "maple",
    .summary = "forces an iRoot, a way in which two threads come in between each other; without one, a profile run",
    .source = "Yu, Narayanasamy, Pereira, Pokam, Maple: A Coverage-Driven Testing Tool, OOPSLA 2012, section 4",
    .params = params,
    PCT_BASE,
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
    .list = "iroot",
    .list_help = "the idiom, and each access: operation and place in the code (`pct campaign -S maple` makes them)",
    .places = true,
    .would_pick = would_pick,
};
