/* Random abstract runs: a strategy and a naive model of it are taken through the same events and must agree at every
 * step. For the unit tests of strategies.
 *
 * The runs keep to the contract of <pct/strategy.h> as the scheduler does: created() before enable(); pick() at the
 * start, at the end of the budget, when a thread has become enabled or is left alone, when the running one has blocked
 * or finished, and right after spinning() and final_wait(); announce() of what the running thread does next, before it
 * is asked. Where the strategy is not asked, the running thread goes on; the model is asked at every step all the same,
 * so that budgets are checked too. */
#ifndef PCT_TESTS_ABSTRACT_RUN_H
#define PCT_TESTS_ABSTRACT_RUN_H

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <pct/strategy.h>
#include <pct/trace.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_THREADS 24u
#define TEST_OBJECTS 6u

/* What the model sees. */
struct world {
    uint32_t threads;
    bool enabled[MODEL_THREADS];
    bool finished[MODEL_THREADS];
    struct pct_operation next[MODEL_THREADS];
    uint64_t step;
};

/* A naive model of a strategy. All of it may be NULL; without next(), nothing is compared but what any strategy must
 * keep to. */
struct model {
    void *data;
    void (*created)(void *data, uint32_t thread);
    void (*announced)(void *data, const struct world *world, uint32_t thread); /* world->next[thread] is new */
    void (*enabled)(void *data, const struct world *world, uint32_t thread);
    void (*disabled)(void *data, uint32_t thread);
    /* Who runs now? picked: the strategy was asked here (for models of strategies that are asked at every step). */
    uint32_t (*next)(void *data, const struct world *world, bool picked);
    void (*stepped)(void *data, const struct world *world, uint32_t thread); /* world->step counts this step already */
    void (*spins)(void *data, uint32_t thread);
    void (*final_wait)(void *data, uint32_t thread);
};

struct abstract_run {
    const struct pct_strategy *strategy;
    void *state;
    const struct model *model;
    struct world world;
    uint64_t random;     /* the test's own random numbers, apart from those under test */
    uint64_t operations; /* the same, for what threads do */
    uint64_t budget_end, picked_at;
    bool woke;
    uint32_t current;
    uint32_t max_threads;
    uint32_t objects; /* what the strategy is told of them; 0: there are some beyond its tables */
    uint64_t hash;    /* of who ran, for tests that compare whole runs */
};

/* One state that free_state() kept for the next run: tests make a hundred thousand of them, and a fresh mapping for
 * each would cost more than the runs. */
static struct {
    void *state;
    size_t size;
} spare_state;

static inline void *new_state(const struct pct_strategy *strategy, const struct pct_run *run)
{
    size_t size = (strategy->state_size(run) + 63u) & ~(size_t)63;
    void *state = spare_state.size == size ? spare_state.state : aligned_alloc(64, size);
    if (state == spare_state.state)
        spare_state.size = 0;
    assert_non_null(state);
    memset(state, 0, size);
    const char *why = NULL;
    assert_int_equal(strategy->start(state, run, &why), 0);
    return state;
}

static inline void free_state(const struct pct_strategy *strategy, const struct pct_run *run, void *state)
{
    if (spare_state.size)
        free(spare_state.state);
    spare_state.state = state;
    spare_state.size = (strategy->state_size(run) + 63u) & ~(size_t)63;
}

/* splitmix64 */
static inline uint64_t test_random(uint64_t *random)
{
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint32_t test_below(uint64_t *random, uint32_t bound)
{
    return (uint32_t)(test_random(random) % bound);
}

static inline uint32_t enabled_count(const struct world *world)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < world->threads; t++)
        count += world->enabled[t];
    return count;
}

static inline void run_enable(struct abstract_run *r, uint32_t thread)
{
    if (r->world.enabled[thread] || r->world.finished[thread])
        return;
    r->world.enabled[thread] = true;
    r->strategy->enable(r->state, thread);
    if (r->model->enabled)
        r->model->enabled(r->model->data, &r->world, thread);
    r->woke = true;
}

static inline void run_disable(struct abstract_run *r, uint32_t thread)
{
    if (!r->world.enabled[thread])
        return;
    r->world.enabled[thread] = false;
    r->strategy->disable(r->state, thread);
    if (r->model->disabled)
        r->model->disabled(r->model->data, thread);
    r->woke |= enabled_count(&r->world) == 1;
}

/* The next operation of this thread: on one of a few objects, now and then on none, or a join of some thread. */
static inline void run_announce(struct abstract_run *r, uint32_t thread)
{
    uint32_t kind = test_below(&r->operations, 10);
    struct pct_operation next = { .op = PCT_OP_MUTEX_LOCK, .object = 1 + test_below(&r->operations, TEST_OBJECTS) };
    if (kind == 0)
        next = (struct pct_operation){ .op = PCT_OP_YIELD };
    else if (kind == 1)
        next = (struct pct_operation){ .op = PCT_OP_THREAD_JOIN,
                                       .object = PCT_THREAD_OBJECT + test_below(&r->operations, r->world.threads) };
    else if (kind == 2 && !r->objects)
        next.object += 65536; /* beyond tables */
    else if (kind < 5)
        next.reads = true;
    r->world.next[thread] = next;
    if (r->strategy->announce)
        r->strategy->announce(r->state, thread, &next);
    if (r->model->announced)
        r->model->announced(r->model->data, &r->world, thread);
}

/* Of four threads each, three have a role; two the same one. */
static inline uint32_t run_role(uint32_t thread)
{
    return thread % 4 == 3 ? 1 : thread % 4;
}

static inline void run_create(struct abstract_run *r)
{
    if (r->world.threads == r->max_threads)
        return;
    uint32_t thread = r->world.threads++;
    if (r->strategy->created)
        r->strategy->created(r->state, thread);
    if (r->strategy->role && run_role(thread))
        r->strategy->role(r->state, thread, run_role(thread));
    if (r->model->created)
        r->model->created(r->model->data, thread);
    run_announce(r, thread);
    run_enable(r, thread);
}

/* Ask the strategy as sched/sched.c does, if it is due; the thread that runs now. */
static inline uint32_t run_next(struct abstract_run *r)
{
    struct world *w = &r->world;
    bool here = r->current != PCT_NO_THREAD && w->enabled[r->current];
    bool due = !here || r->woke || w->step >= r->budget_end;
    if (due) {
        struct pct_point point = {
            .step = w->step, .ran = w->step - r->picked_at, .current = r->current, .enabled = enabled_count(w)
        };
        if (r->current == PCT_NO_THREAD)
            point.why = PCT_WHY_START;
        else if (!here)
            point.why = w->finished[r->current] ? PCT_WHY_FINISHED : PCT_WHY_BLOCKED;
        else
            point.why = r->woke && w->step < r->budget_end ? PCT_WHY_ENABLED : PCT_WHY_BUDGET;
        struct pct_choice choice = r->strategy->pick(r->state, &point);
        assert_true(choice.thread < w->threads);
        assert_true(w->enabled[choice.thread]);
        uint64_t budget = choice.budget ? choice.budget : 1;
        r->budget_end = budget < PCT_UNLIMITED - w->step ? w->step + budget : PCT_UNLIMITED;
        r->picked_at = w->step;
        r->woke = false;
        r->current = choice.thread;
    }
    if (r->model->next)
        assert_int_equal(r->current, r->model->next(r->model->data, w, due));
    r->hash = (r->hash ^ r->current) * UINT64_C(0x100000001b3);
    return r->current;
}

static inline void run_spin(struct abstract_run *r, uint32_t thread, bool final)
{
    if (final) {
        if (r->strategy->final_wait)
            r->strategy->final_wait(r->state, thread);
        if (r->model->final_wait)
            r->model->final_wait(r->model->data, thread);
    } else {
        if (r->strategy->spinning)
            r->strategy->spinning(r->state, thread, 1);
        if (r->model->spins)
            r->model->spins(r->model->data, thread);
    }
    r->budget_end = r->world.step;
}

/* One run of at most `steps` steps with at most max_threads threads (at most MODEL_THREADS). `variant` seeds the
 * events. Returns a hash of who ran at each step. */
static inline uint64_t run_abstract(const struct pct_strategy *strategy, const struct pct_run *params,
                                    const struct model *model, uint32_t max_threads, uint64_t steps, uint64_t variant)
{
    struct pct_run sized = *params;
    sized.threads = MODEL_THREADS;
    struct abstract_run r = { .strategy = strategy,
                              .state = new_state(strategy, &sized),
                              .model = model,
                              .random = variant,
                              .operations = ~variant,
                              .current = PCT_NO_THREAD,
                              .max_threads = max_threads,
                              .objects = params->objects };
    struct world *w = &r.world;
    /* How busy the run is: some runs are all blocking, some all stepping. */
    uint32_t busy = 1 + test_below(&r.random, 40),
             spinny = test_below(&r.random, 3) ? 0 : 1 + test_below(&r.random, 30);
    run_create(&r);
    while (w->step < steps) {
        if (!enabled_count(w)) {
            uint32_t live = 0, one = 0;
            for (uint32_t t = 0; t < w->threads; t++)
                if (!w->finished[t] && test_below(&r.random, ++live) == 0)
                    one = t;
            if (!live)
                break;
            run_enable(&r, one);
        }
        /* Before the pick, which is yet to see the change points of the step that was just made. */
        if (r.current != PCT_NO_THREAD && w->enabled[r.current] && test_below(&r.random, 100) < spinny)
            run_spin(&r, r.current, test_below(&r.random, 20) == 0);
        uint32_t thread = run_next(&r);
        uint32_t event = test_below(&r.random, 100);
        if (event < busy / 2) {
            run_disable(&r, thread); /* its operation cannot complete: no step */
            continue;
        }
        /* The step: what it does to others comes before it is counted. */
        if (event < busy)
            run_enable(&r, test_below(&r.random, w->threads));
        if (event % 7 == 0)
            run_create(&r);
        if (event % 5 == 0) {
            uint32_t other = test_below(&r.random, w->threads);
            if (other != thread)
                run_disable(&r, other);
        }
        w->step++;
        if (model->stepped)
            model->stepped(model->data, w, thread);
        run_announce(&r, thread);
        if (test_below(&r.random, 400) == 0) {
            run_disable(&r, thread);
            w->finished[thread] = true;
        }
    }
    free_state(strategy, &sized, r.state);
    return r.hash;
}

#endif
