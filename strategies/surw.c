/* The strategies `surw` and `surw-one`: H. Zhao, D. Wolff, U. Mathur, A. Roychoudhury, "Selectively Uniform
 * Concurrency Testing", ASPLOS 2025: uniform over the interleavings of the interesting events alone.
 *
 * Some events are interesting. One thread is intended to make the next interesting event, drawn in proportion to the
 * number of interesting events that the threads have left; others that come to one wait for theirs. Among the threads
 * that do not wait, at every step each is equally likely. When the intended thread has made its event, the next one
 * is drawn.
 *
 * Called by the scheduler through <pct/strategy.h>. Needs to see every operation: each budget is 1.
 *
 * The paper makes the accesses to one shared variable interesting, drawn for each run in proportion to them, and
 * knows how many each thread makes. That is `surw-one`: object number `object`, and the counts are of the events on
 * it. In `surw` each object is interesting with probability 1/`among`, drawn for each run; or object number `object`
 * is, and no other. Events on threads and without an object never are. Its numbers are estimated from those of all
 * events (weights.h): a 1/`among` of them. What deviates, in both, because threads block: an intended thread that
 * spins is not waited for, another one is drawn; nor one that has ended, or waits for somebody who waits for its turn:
 * when nobody else can go on. Nor is one that makes `PATIENCE` steps without coming to an interesting event, or is
 * blocked for this many, or a thread that polls for what another one is to do would hold back that one for ever; the
 * former is drawn again only after it has come to such an event. And in half of the runs the intended thread is drawn
 * by its role first (roles.h) while two threads have the same: these are not uniform, and find what needs one thread of
 * a kind to be ahead of many. */
#include "base.h"
#include "one_object.h"
#include "roles.h"
#include "weights.h"

/* Steps of the intended thread; a spin of another one, for which it may be to blame, counts as this many. */
enum { PATIENCE = 256, SPIN = 16 };

enum { PARAM_AMONG, PARAM_OBJECT, PARAM_N };

static const struct pct_param params[] = {
    [PARAM_AMONG] = { .name = "among",
                      .default_value = 3,
                      .min = 1,
                      .max = 1000000,
                      .help = "one object in this many is interesting, drawn for each run" },
    [PARAM_OBJECT] = { .name = "object",
                       .max = PCT_THREAD_OBJECT - 1,
                       .zero = "auto",
                       .help = "the number of the one object that is interesting, as in a report",
                       .quiet = true },
    PCT_COUNT_PARAMS(PARAM_N, "events of a thread, estimated; with an object given, those on it"),
    { 0 }
};

enum { ONE_OBJECT, ONE_N };

static const struct pct_param one_params[] = { PCT_OBJECT_PARAM(ONE_OBJECT),
                                               PCT_COUNT_PARAMS(ONE_N, "events of a thread on that object, estimated"),
                                               { 0 } };

struct surw_thread {
    bool enabled;
    bool interested; /* the next event is interesting */
    bool idle;       /* was intended without effect, and has not come to an interesting event since */
};

struct state {
    uint64_t seed, among;
    uint32_t object;
    struct pct_draws draws;
    uint32_t previous;    /* the thread that the last pick chose, plus 1 */
    bool last;            /* that thread was about to make an interesting event */
    uint32_t intended;    /* plus 1; 0: to be drawn */
    uint32_t no_progress; /* steps that were waited for it */
    bool by_role;
    struct pct_weights weights; /* of the enabled threads that may be drawn */
    struct pct_dense_set free;  /* the enabled threads that do not wait for their turn */
    struct surw_thread *of;     /* by thread */
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_weights_lay_out(&s->weights, layout, threads);
    pct_dense_set_start(&s->free, layout, threads);
    s->of = pct_layout_take(layout, threads, sizeof *s->of);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    s->among = run->param[PARAM_AMONG];
    s->object = (uint32_t)run->param[PARAM_OBJECT];
    s->by_role = pct_roles_count(s->seed);
    pct_weights_start(&s->weights, run->param + PARAM_N, s->object ? 1 : s->among);
    return 0;
}

static int start_one(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    s->object = pct_object_of_run(run->param[ONE_OBJECT], run->seed);
    s->by_role = pct_roles_count(s->seed);
    pct_weights_start(&s->weights, run->param + ONE_N, 1);
    return 0;
}

static bool is_interesting(const struct state *s, uint32_t object)
{
    if (!pct_object_counts(object))
        return false;
    return s->object ? object == s->object : !pct_random_below(s->seed, PCT_STREAM_OBJECT, object, s->among);
}

/* Whether this thread is enabled and need not wait for its turn may have changed. */
static void sort(struct state *s, uint32_t thread)
{
    if (s->of[thread].enabled && (!s->of[thread].interested || s->intended == thread + 1))
        pct_dense_set_insert(&s->free, thread);
    else
        pct_dense_set_remove(&s->free, thread);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_weights_set_role(&s->weights, thread, 0);
    if (!pct_weights_create(&s->weights, thread) || s->intended != 1)
        return;
    /* The main thread was intended also for what this one will do: which of the two is it? */
    uint64_t own = s->weights.of[thread].left, both = own + pct_weights_of(&s->weights, 0);
    if (pct_random_below(s->seed, PCT_STREAM_INTEND, UINT64_C(1) << 63 | thread, both) >= own)
        return;
    s->intended = thread + 1;
    sort(s, 0);
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    s->of[thread].interested = is_interesting(s, next->object);
    if (s->of[thread].interested && s->of[thread].idle) {
        s->of[thread].idle = false;
        if (s->of[thread].enabled)
            pct_weights_insert(&s->weights, thread);
    }
    sort(s, thread);
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread].enabled = true;
    if (!s->of[thread].idle)
        pct_weights_insert(&s->weights, thread);
    sort(s, thread);
}

/* Nobody is intended any more. */
static void give_up(struct state *s)
{
    uint32_t thread = s->intended - 1;
    s->intended = 0;
    if (thread != PCT_NO_THREAD)
        sort(s, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    s->of[thread].enabled = false;
    pct_weights_remove(&s->weights, thread);
    sort(s, thread);
}

PCT_ENABLE_ALL_WEIGHTS

static void role(void *state, uint32_t thread, uint32_t role)
{
    struct state *s = state;
    pct_weights_set_role(&s->weights, thread, role);
    if (!s->by_role || s->intended != thread + 1)
        return;
    /* It was drawn by its number; the roles are to decide when all are there. */
    s->intended = 1;
    sort(s, thread);
    sort(s, 0);
}

static bool is_blocked(const struct state *s)
{
    return s->intended && !s->of[s->intended - 1].enabled;
}

/* The intended thread has come to no interesting event, for this many steps more. */
static void waited(struct state *s, uint32_t steps)
{
    uint32_t thread = s->intended - 1;
    s->no_progress += steps;
    if (s->no_progress < PATIENCE)
        return;
    if (!is_blocked(s)) {
        s->of[thread].idle = true;
        pct_weights_remove(&s->weights, thread);
    }
    give_up(s);
}

/* The thread that was picked last has made its step. */
static void made(struct state *s)
{
    uint32_t thread = s->previous - 1;
    bool intended = s->intended == s->previous;
    if (s->last) {
        pct_weights_made(&s->weights, thread);
        if (intended)
            give_up(s);
    } else if ((intended && !s->of[thread].interested) || is_blocked(s)) {
        waited(s, 1);
    }
}

/* Who makes the next interesting event. There is one who may. */
static uint32_t draw(struct state *s, uint64_t place)
{
    uint32_t roles = s->by_role ? pct_weights_roles(&s->weights) : 0;
    if (!(roles & (roles - 1)))
        return pct_weights_draw(&s->weights, s->seed, PCT_STREAM_INTEND, place);
    uint32_t role = pct_roles_draw(roles, s->seed, place);
    return pct_weights_draw_role(&s->weights, role, s->seed, PCT_STREAM_INTEND, place);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->previous && point->step > s->draws.step)
        made(s);
    uint64_t place = pct_draws_next(&s->draws, point->step);
    /* What the intended thread waits for is one of those who wait for their turn. */
    if (s->intended && !pct_dense_set_size(&s->free))
        give_up(s);
    /* Where nobody may be drawn, nobody is about to make an interesting event either, and all are free. */
    if (!s->intended && s->weights.sum) {
        uint32_t intended = draw(s, place);
        s->intended = intended + 1;
        s->no_progress = 0;
        sort(s, intended);
    }
    uint64_t i = pct_random_below(s->seed, PCT_STREAM_PICK, place, pct_dense_set_size(&s->free));
    uint32_t thread = pct_dense_set_at(&s->free, (uint32_t)i);
    s->previous = thread + 1;
    s->last = s->of[thread].interested;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

PCT_CHOOSE

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    if (s->intended == thread + 1)
        give_up(s);
    else if (s->intended && (!s->of[s->intended - 1].interested || is_blocked(s)))
        waited(s, SPIN);
}

const struct pct_strategy pct_strategy_surw = {
    .name = "surw",
    .summary = "uniform over the interleavings of operations on some objects, drawn for each run",
    .source = "Zhao, Wolff, Mathur, Roychoudhury, Selectively Uniform Concurrency Testing, ASPLOS 2025 (SURW)",
    .params = params,
    PCT_BASE,
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .role = role,
};

const struct pct_strategy pct_strategy_surw_one = {
    .name = "surw-one",
    .summary = "uniform over the interleavings of the operations on one object, drawn for each run",
    .source = "Zhao, Wolff, Mathur, Roychoudhury, Selectively Uniform Concurrency Testing, ASPLOS 2025 (SURW)",
    .params = one_params,
    PCT_BASE_BEGUN_BY(start_one),
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .role = role,
};
