/* How fast the simulated host is (tests/sim): schedules STRATEGY. Four threads make 100 steps in all, with critical
 * sections and joins, once for each of many seeds. Prints microseconds a schedule. */
#include "measure.h"
#include <stdio.h>
#include <string.h>
#include <strategies/strategies.h>
#include <tests/sim/simhost.h>

enum { ROUNDS = 5, RUNS = 40000, STEPS = 100 };

int main(int argc, char **argv)
{
    const struct sim_op worker[] = { LOCK(0), READ(0), ADD(1), STORE(0), UNLOCK(0), REPEAT(7, 5), { .kind = SIM_END } };
    const struct sim_program program = { .name = "counter",
                                         .thread = { THREAD(READ(1), READ(1), READ(1), CREATE(1), CREATE(2), CREATE(3),
                                                            JOIN(1), JOIN(2), JOIN(3)),
                                                     worker, worker, worker } };
    const struct pct_strategy *strategy = argc > 1 ? pct_strategy_find(argv[1]) : NULL;
    if (!strategy)
        return 2;
    struct sim_options options = sim_defaults(strategy);
    double us[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = real_ns();
        for (int i = 0; i < RUNS; i++, options.run.seed++) {
            struct sim_result result;
            sim_run(&program, &options, &result);
            if (result.verdict != PCT_VERDICT_EXIT || result.steps != STEPS || result.threads != 4)
                return 1;
        }
        us[round] = (real_ns() - start) / 1000 / RUNS;
    }
    printf("%.2f\n", median(us, ROUNDS));
    return 0;
}
