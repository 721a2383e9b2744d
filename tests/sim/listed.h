/* The systematic part of a campaign (cli/campaign/preemptions.h) against brute force: a part of test_explore.c, which
 * has the programs. */
#ifndef PCT_TESTS_LISTED_H
#define PCT_TESTS_LISTED_H

/* Asked at every step, as the log wants it. */
static struct pct_choice pick_each(void *state, const struct pct_point *point)
{
    struct pct_choice choice = pct_strategy_schedule.pick(state, point);
    choice.budget = 1;
    return choice;
}

/* The schedule of this list, with the log that shows which class it is of. */
static void run_list(const struct sim_program *program, const char *switches)
{
    struct pct_strategy schedule = pct_strategy_schedule;
    schedule.pick = pick_each;
    struct sim_options options = sim_defaults(&schedule);
    options.run.list = switches;
    explored_channel()->plan_count = 0;
    explored_make(program, &options);
}

static struct pct_preemptions_state list_all(const struct sim_program *program, unsigned bound)
{
    struct pct_preemptions *p = pct_preemptions_new(bound);
    struct hashes schedules = { 0 };
    const char *switches;
    assert_non_null(p);
    hashes_clear(&found_classes);
    twice = 0;
    while ((switches = pct_preemptions_next(p))) {
        struct pct_execution x;
        struct pct_order order;
        run_list(program, switches);
        struct pct_trace trace = { .header = { .verdict = explored_result.verdict },
                                   .records = explored_area,
                                   .count = explored_result.recorded,
                                   .complete = true };
        twice += !hashes_add(&schedules, explored_result.hash);
        assert_int_equal(pct_preemptions_take(p, &trace), 0);
        explored_read(&x);
        assert_int_equal(pct_order_make(&order, &x), 0);
        hashes_add(&found_classes, kind_of(&order));
        pct_order_free(&order);
        pct_execution_free(&x);
    }
    struct pct_preemptions_state state = pct_preemptions_look(p);
    assert_int_equal(state.asked, schedules.count + twice);
    assert_int_equal(state.below, bound + 1);
    hashes_clear(&schedules);
    pct_preemptions_free(p);
    return state;
}

/* The explorer lets a thread that ends the process go last; the strategy `schedule` does so for one in exit(). */
static bool is_ended_elsewhere(const struct sim_program *program)
{
    for (uint32_t t = 1; t < SIM_THREADS && program->thread[t]; t++)
        for (const struct sim_op *op = program->thread[t]; op->kind; op++)
            if (op->kind == SIM_EXIT_NOW)
                return true;
    return false;
}

/* Every class that has a schedule with so few preemptions, but where threads try again and again, which is told; and no
 * schedule twice, but where a switch could not be made, which is counted. */
static void test_lists(void **unused)
{
    (void)unused;
    uint64_t programs = from_environment("LISTED", 50), first = from_environment("FIRST", 0), missed = 0, within = 0;
    uint64_t repeated = 0, runs = 0, endless = 0;
    for (uint64_t number = first; number < first + programs; number++) {
        struct sim_program program = make_program(number);
        explored_slack = 0;
        crashes_alike = true;
        if (is_ended_elsewhere(&program) || !brute_force(&program))
            continue;
        for (unsigned bound = 0; bound <= PCT_PREEMPTIONS_MOST; bound++) {
            struct pct_preemptions_state state = list_all(&program, bound);
            assert_int_equal(twice, state.repeated);
            uint64_t without = state.loops ? 0 : add_missed(&found_classes, &least_of_class, bound, &within);
            if (without) {
                print_message("# program %lu, bound %u: missed %lu\n", (unsigned long)number, bound,
                              (unsigned long)without);
                print_program(&program);
            }
            missed += without;
            endless += state.loops;
            repeated += state.repeated;
            runs += state.taken;
        }
    }
    print_message(
        "# %lu classes within bounds of 0 to 2, %lu missed; %lu runs, %lu of them again; %lu times without end\n",
        (unsigned long)within, (unsigned long)missed, (unsigned long)runs, (unsigned long)repeated,
        (unsigned long)endless);
    crashes_alike = false;
    assert_int_equal(missed, 0);
}

#endif
