/* The strategy `hold`: threads that come to one kind of access to one object wait there while others can go on.
 *
 * Many bugs need threads to stand between two of their steps while another one goes by; with n of them that could each
 * spoil it, a random schedule has all of them stand there with a probability that falls with n. Here each run has one
 * object, and one kind of access to it: those that read it, try it or take it, or those that write it or give it back.
 * Every thread that is about to make such an access is held; in half of the runs only at some of them, its first, its
 * second, ..., drawn for each run and the same for all threads. The others walk at random. When only held ones can go
 * on, one of them makes its access: one that owns what another thread waits for, if there is one, or any; in half of
 * the runs, of any role of theirs (roles.h).
 *
 * Called by the scheduler through <pct/strategy.h>. Needs to see every operation: each budget is 1. A thread that is
 * about to end the process is held as the others are. Threads that poll for what a held one is to do must not hold it
 * for ever: after `PATIENCE` steps, of which each spin is worth `SPIN`, one is let go. */
#include "base.h"
#include "one_object.h"
#include "owners.h"
#include "roles.h"
#include <pct/operations.h>

enum { PATIENCE = 4096, SPIN = 256 };

enum { KIND_AUTO, KIND_READS, KIND_WRITES };
enum { PARAM_OBJECT, PARAM_KIND };

static const struct pct_param params[] = {
    PCT_OBJECT_PARAM(PARAM_OBJECT),
    [PARAM_KIND] = { .name = "kind",
                     .max = KIND_WRITES,
                     .zero = "auto",
                     .help =
                         "1: threads that read the object or take it; 2: that write it or give it back; auto: drawn" },
    { 0 }
};

struct hold_thread {
    struct pct_operation next;
    uint32_t made; /* accesses of the kind to the object */
    bool enabled;
    bool passes; /* is not held at this operation */
    bool ends;   /* the process */
    uint8_t role;
};

struct state {
    uint64_t seed;
    uint32_t object;
    uint8_t kind;
    bool some;        /* accesses only, drawn by their number in their thread */
    bool by_role;     /* who is let go is drawn by its role first */
    uint32_t threads; /* that there have been: ids are below it */
    struct pct_draws draws;
    uint32_t previous;               /* the thread that the last pick chose, plus 1 */
    uint32_t no_progress;            /* steps since one was let go */
    uint32_t wanted;                 /* times in a row that this was one who owns what another one waits for */
    struct pct_operation last;       /* what that thread was about to do */
    struct pct_dense_set free, held; /* the enabled threads */
    struct hold_thread *of;          /* by thread */
    struct pct_owners owners;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_dense_set_start(&s->free, layout, threads);
    pct_dense_set_start(&s->held, layout, threads);
    s->of = pct_layout_take(layout, threads, sizeof *s->of);
    pct_owners_lay_out(&s->owners, layout);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    s->object = pct_object_of_run(run->param[PARAM_OBJECT], run->seed);
    s->kind = (uint8_t)run->param[PARAM_KIND];
    if (s->kind == KIND_AUTO)
        s->kind = pct_object_draw(run->seed, PCT_OBJECT_KIND, 2) ? KIND_WRITES : KIND_READS;
    s->by_role = pct_roles_count(s->seed);
    s->some = pct_object_draw(run->seed, PCT_OBJECT_SOME, 2);
    return 0;
}

static bool is_access(const struct state *s, const struct pct_operation *next)
{
    return next->object == s->object && pct_operation_gives(next->op) == (s->kind == KIND_WRITES);
}

static bool is_held(const struct state *s, uint32_t thread)
{
    const struct hold_thread *t = &s->of[thread];
    if (t->passes)
        return false;
    if (t->ends || !is_access(s, &t->next))
        return t->ends;
    return !s->some || pct_random_below(s->seed, PCT_STREAM_CHANGE, t->made, 2);
}

/* Whether this thread is enabled or held may have changed. */
static void sort(struct state *s, uint32_t thread)
{
    bool enabled = s->of[thread].enabled, held = is_held(s, thread);
    if (enabled && !held)
        pct_dense_set_insert(&s->free, thread);
    else
        pct_dense_set_remove(&s->free, thread);
    if (enabled && held)
        pct_dense_set_insert(&s->held, thread);
    else
        pct_dense_set_remove(&s->held, thread);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread] = (struct hold_thread){ .passes = false };
    if (s->threads <= thread)
        s->threads = thread + 1;
}

static void role(void *state, uint32_t thread, uint32_t role)
{
    ((struct state *)state)->of[thread].role = (uint8_t)role;
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    s->of[thread].next = *next;
    s->of[thread].passes = false;
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
    sort(s, thread);
}

PCT_ENABLE_ALL

/* The thread that was picked last has made its step. What it will do next was announced before. */
static void made(struct state *s)
{
    if (is_access(s, &s->last)) {
        s->of[s->previous - 1].made++;
        sort(s, s->previous - 1);
    }
    pct_owners_made(&s->owners, &s->last, s->previous - 1);
}

/* A held thread that owns what another one waits for; PCT_NO_THREAD: there is none. Looked for from a random thread
 * on. */
static uint32_t find_wanted(const struct state *s, uint64_t place)
{
    uint32_t from = (uint32_t)pct_random_below(s->seed, PCT_STREAM_INTEND, place, s->threads);
    for (uint32_t i = 0; i < s->threads; i++) {
        const struct hold_thread *waiting = &s->of[(from + i) % s->threads];
        uint32_t owner = waiting->enabled ? PCT_NO_THREAD : pct_owners_of(&s->owners, waiting->next.object);
        if (owner != PCT_NO_THREAD && pct_dense_set_has(&s->held, owner))
            return owner;
    }
    return PCT_NO_THREAD;
}

/* Any of the held threads; in runs where roles count, any of a role of theirs. */
static uint32_t draw(const struct state *s, uint64_t place)
{
    uint32_t count = pct_dense_set_size(&s->held), roles = 0;
    uint32_t thread = pct_dense_set_at(&s->held, (uint32_t)pct_random_below(s->seed, PCT_STREAM_EVENT, place, count));
    for (uint32_t i = 0; s->by_role && i < count; i++)
        roles |= UINT32_C(1) << s->of[pct_dense_set_at(&s->held, i)].role;
    if (!(roles & (roles - 1)))
        return thread;
    uint32_t wanted = pct_roles_draw(roles, s->seed, place), left = 0;
    for (uint32_t i = 0; i < count; i++)
        left += s->of[pct_dense_set_at(&s->held, i)].role == wanted;
    left = (uint32_t)pct_random_below(s->seed, PCT_STREAM_EVENT, place, left) + 1;
    for (uint32_t i = 0; left; i++) {
        thread = pct_dense_set_at(&s->held, i);
        left -= s->of[thread].role == wanted;
    }
    return thread;
}

/* One of the held threads makes its access. */
static void let_go(struct state *s, uint64_t place)
{
    uint32_t thread = s->wanted < PATIENCE ? find_wanted(s, place) : PCT_NO_THREAD;
    s->wanted = thread != PCT_NO_THREAD ? s->wanted + 1 : 0; /* it may poll for what another held one is to do */
    if (thread == PCT_NO_THREAD)
        thread = draw(s, place);
    s->of[thread].passes = true;
    s->no_progress = 0;
    sort(s, thread);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->previous && point->step > s->draws.step)
        made(s);
    s->no_progress += point->step > s->draws.step && pct_dense_set_size(&s->held);
    uint64_t place = pct_draws_next(&s->draws, point->step);
    if (!pct_dense_set_size(&s->free) || (s->no_progress >= PATIENCE && pct_dense_set_size(&s->held)))
        let_go(s, place);
    uint64_t i = pct_random_below(s->seed, PCT_STREAM_PICK, place, pct_dense_set_size(&s->free));
    uint32_t thread = pct_dense_set_at(&s->free, (uint32_t)i);
    s->previous = thread + 1;
    s->last = s->of[thread].next;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

PCT_CHOOSE

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)thread;
    (void)spins;
    struct state *s = state;
    if (pct_dense_set_size(&s->held))
        s->no_progress += SPIN;
}

static void final_wait(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread].ends = true;
    sort(s, thread);
}

const struct pct_strategy pct_strategy_hold = {
    .name = "hold",
    .summary = "threads that come to one kind of access to one object wait while others can go on",
    .params = params,
    PCT_BASE,
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
    .role = role,
};
