/* Unit tests of the example examples/strategy/lifo.c, compiled in: it is what others copy from. Links with nothing. */
#include "abstract_run.h"
#include "../../examples/strategy/lifo.c"

/* A stack as an array, the top last. */
struct stack {
    struct pct_run run;
    uint32_t member[MODEL_THREADS], size;
    uint64_t step; /* the last step at which the running thread may have been moved */
    uint32_t running;
};

static void stack_enabled(void *data, const struct world *world, uint32_t thread)
{
    struct stack *m = data;
    (void)world;
    m->member[m->size++] = thread;
}

static void stack_disabled(void *data, uint32_t thread)
{
    struct stack *m = data;
    uint32_t to = 0;
    for (uint32_t i = 0; i < m->size; i++)
        if (m->member[i] != thread)
            m->member[to++] = m->member[i];
    m->size = to;
}

static void stack_to_bottom(struct stack *m, uint32_t thread)
{
    stack_disabled(m, thread);
    for (uint32_t i = m->size++; i > 0; i--)
        m->member[i] = m->member[i - 1];
    m->member[0] = thread;
}

static uint32_t stack_next(void *data, const struct world *world, bool picked)
{
    struct stack *m = data;
    assert_true(picked);
    if (m->running != PCT_NO_THREAD && world->enabled[m->running] && world->step > m->step) {
        m->step = world->step;
        if (pct_random_below(m->run.seed, PCT_STREAM_USER, world->step, m->run.param[PARAM_INVERSE]) == 0)
            stack_to_bottom(m, m->running);
    }
    m->running = m->member[m->size - 1];
    return m->running;
}

static void stack_spins(void *data, uint32_t thread)
{
    struct stack *m = data;
    if (m->run.param[PARAM_PATIENCE] == 1) /* the runs report every spin as the first one */
        stack_to_bottom(m, thread);
}

static void stack_final_wait(void *data, uint32_t thread)
{
    stack_to_bottom(data, thread);
}

static void test_model(void **unused)
{
    (void)unused;
    for (uint64_t variant = 0; variant < 1000; variant++) {
        struct pct_run run = { .seed = variant,
                               .param = { [PARAM_PATIENCE] = 1 + variant % 2, [PARAM_INVERSE] = 1 + variant % 13 } };
        struct stack data = { .run = run, .running = PCT_NO_THREAD };
        struct model model = { .data = &data,
                               .enabled = stack_enabled,
                               .disabled = stack_disabled,
                               .next = stack_next,
                               .spins = stack_spins,
                               .final_wait = stack_final_wait };
        run_abstract(&pct_strategy, &run, &model, 1 + (uint32_t)(variant % MODEL_THREADS), 300, variant);
    }
}

/* Two threads that yield for ever do not keep the third from running. */
static void test_spinning(void **unused)
{
    (void)unused;
    struct pct_run run = { .seed = 1, .param = { [PARAM_PATIENCE] = 4, [PARAM_INVERSE] = 1000000 } };
    void *state = new_state(&pct_strategy, &run);
    for (uint32_t t = 0; t < 3; t++)
        pct_strategy.enable(state, t);
    uint64_t spins[3] = { 0 };
    bool ran = false;
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 3, .why = PCT_WHY_START };
    for (uint64_t step = 0; step < 20 && !ran; step++) {
        uint32_t thread = pct_strategy.pick(state, &point).thread;
        ran = thread == 0;
        pct_strategy.spinning(state, thread, ++spins[thread]);
        point =
            (struct pct_point){ .step = step + 1, .ran = 1, .current = thread, .enabled = 3, .why = PCT_WHY_BUDGET };
    }
    assert_true(ran);
    free_state(&pct_strategy, &run, state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_model), cmocka_unit_test(test_spinning) };
    return cmocka_run_group_tests_name("strategy lifo", tests, NULL, NULL);
}
