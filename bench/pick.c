/* The scheduler's pick, without real threads: pick STRATEGY THREADS. A thread blocks, the next is picked, another one
 * is enabled, for ever in turn: what a switch asks of a strategy. Each comes to an operation on one of as many objects
 * as there are threads. Prints ns a pick. */
#include "measure.h"
#include <stdio.h>
#include <string.h>
#include <strategies/strategies.h>

static void announce(const struct pct_strategy *strategy, void *state, uint32_t thread, uint32_t object)
{
    struct pct_operation next = { .object = object };
    if (strategy->announce)
        strategy->announce(state, thread, &next);
}

int main(int argc, char **argv)
{
    const struct pct_strategy *strategy = argc > 2 ? pct_strategy_find(argv[1]) : NULL;
    uint32_t count = argc > 2 ? (uint32_t)atol(argv[2]) : 0;
    const char *why;
    struct pct_run run = { .seed = 1 };
    double ns[9];
    if (!strategy || count < 2 || count > PCT_MAX_THREADS)
        return 2;
    for (int i = 0; strategy->params && strategy->params[i].name; i++)
        run.param[i] = strategy->params[i].default_value;
    void *state = aligned_alloc(64, (strategy->state_size(&run) + 63u) & ~63u);
    memset(state, 0, strategy->state_size(&run));
    if (strategy->start(state, &run, &why))
        return 1;
    for (uint32_t id = 0; id < count; id++) {
        if (strategy->created)
            strategy->created(state, id);
        announce(strategy, state, id, 1 + id);
        strategy->enable(state, id);
    }
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = count, .why = PCT_WHY_START };
    /* As many blocked threads as half of them, in the order in which they blocked. */
    uint32_t *blocked = calloc(count, sizeof *blocked), first = 0, waiting = count / 2;
    for (uint32_t i = 0; i < waiting; i++) {
        blocked[i] = strategy->pick(state, &point).thread;
        strategy->disable(state, blocked[i]);
    }
    for (int round = 0; round < 9; round++) {
        enum { PICKS = 200000 };
        double start = real_ns();
        for (int i = 0; i < PICKS; i++) {
            struct pct_choice choice = strategy->pick(state, &point);
            point.step++;
            point.ran = 1;
            point.current = choice.thread;
            point.why = PCT_WHY_BLOCKED;
            announce(strategy, state, choice.thread, 1 + (choice.thread * 7 + (uint32_t)i) % count);
            strategy->disable(state, choice.thread);
            strategy->enable(state, blocked[first]);
            blocked[first] = choice.thread;
            first = first + 1 == waiting ? 0 : first + 1;
        }
        ns[round] = (real_ns() - start) / PICKS;
    }
    printf("%.2f\n", median(ns, 9));
    free(blocked);
    free(state);
    return 0;
}
