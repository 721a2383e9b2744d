/* The engine that makes runs (cli/campaign/engine.c), with sources of its own, and real runs of a shell: what a source
 * hears, and in which order. And how long runs may take (cli/process/time_limit.c). */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "launched.h"
#include <cli/base/cli.h>
#include <cli/campaign/engine_state.h>
#include <cli/process/descendants.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 9, JOBS = 3 };

/* The run with seed 2 takes longest; the exit status is the seed. */
static char *command[] = { "sh", "-c",
                           "seed=${PCT_TOKEN#*:*:} seed=${seed%%:*}\n"
                           "[ $seed != 2 ] || while [ $((i += 1)) -lt 100000 ]; do :; done\n"
                           "exit $seed",
                           NULL };

static int set_up(void **unused)
{
    (void)unused;
    return launch_set_up(command);
}

/* --- A source that notes what it hears --- */

struct noting {
    struct pct_run_source source; /* the first member */
    struct pct_engine *engine;
    uint64_t next;
    bool lets;                         /* a worker may begin a run before another one is over */
    bool going[JOBS];                  /* by worker: a run was begun that is not over */
    bool classified[RUNS], over[RUNS]; /* by number */
    uint64_t told[RUNS];               /* the numbers, as ended() heard of them, */
    unsigned count;                    /* this many */
    uint64_t wanted;                   /* by turn() */
    unsigned enough;                   /* after this many */
    bool cancels;                      /* all that are left, after the first */
};

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct noting *n = (struct noting *)source;
    char error[256];
    if (n->next == RUNS)
        return PCT_RUNS_WAIT;
    assert_true(spec->worker < JOBS);
    assert_true(n->lets || !n->going[spec->worker]);
    n->going[spec->worker] = true;
    spec->index = n->next++;
    assert_int_equal(pct_config_parse_spec(&spec->config, "pos", pct_cli_find_strategy, error, sizeof error), 0);
    spec->config.run.seed = spec->index;
    spec->config.slack = 0;
    return PCT_RUNS_ON;
}

static void over(struct pct_run_source *source, const struct pct_process *process)
{
    struct noting *n = (struct noting *)source;
    assert_true(n->going[process->worker]);
    n->going[process->worker] = false;
    n->over[process->index] = true;
}

static int classify(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct noting *n = (struct noting *)source;
    assert_true(n->over[run->process.index]);
    assert_int_equal(run->result.ending, PCT_ENDING_EXIT);
    assert_int_equal(run->result.code, run->process.index);
    n->classified[run->process.index] = true;
    return PCT_RUNS_ON;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct noting *n = (struct noting *)source;
    assert_true(n->classified[run->process.index]);
    n->told[n->count++] = run->process.index;
    n->wanted++;
    if (n->cancels && n->count == 1) {
        pct_engine_cancel(n->engine, 0, RUNS);
        n->next = RUNS;
    }
    return n->count == n->enough ? PCT_RUNS_ENOUGH : PCT_RUNS_ON;
}

static uint64_t turn(const struct pct_run_source *source)
{
    return ((const struct noting *)source)->wanted;
}

/* Run it. Returns how many runs were begun. */
static uint64_t run(struct noting *n, struct pct_engine *engine)
{
    if (!launch.library)
        skip();
    engine->launch = &launch;
    engine->quiet = true;
    engine->jobs = engine->jobs ? engine->jobs : JOBS;
    n->source.next = next;
    n->source.classify = classify;
    n->source.ended = ended;
    n->source.over = over;
    n->engine = engine;
    assert_int_equal(pct_engine_run(engine, &n->source), 0);
    assert_int_equal(engine->signal, 0);
    assert_int_equal(launch.running, 0);
    return n->count + engine->dropped;
}

static void assert_in_order(const struct noting *n, uint64_t first)
{
    for (unsigned i = 0; i < n->count; i++)
        assert_int_equal(n->told[i], first + i);
}

static void test_order(void **unused)
{
    (void)unused;
    for (unsigned sure = 0; sure < 2; sure++)
        for (unsigned jobs = 1; jobs <= JOBS; jobs += 2) {
            struct noting n = { .enough = 0 };
            struct pct_engine engine = { .jobs = jobs, .sure = sure };
            assert_int_equal(run(&n, &engine), RUNS);
            assert_int_equal(n.count, RUNS);
            assert_in_order(&n, 0);
        }
}

/* The source says whose turn it is; runs that never have one are dropped. */
static void test_turn(void **unused)
{
    (void)unused;
    struct noting n = { .source = { .turn = turn }, .wanted = 3 };
    struct pct_engine engine = { .jobs = JOBS };
    assert_int_equal(run(&n, &engine), RUNS);
    assert_int_equal(n.count, RUNS - 3);
    assert_int_equal(engine.dropped, 3);
    assert_in_order(&n, 3);
}

static void test_enough(void **unused)
{
    (void)unused;
    struct noting n = { .enough = 4 };
    struct pct_engine engine = { .sure = true };
    uint64_t begun = run(&n, &engine);
    assert_int_equal(n.count, 4);
    assert_int_equal(begun, n.next);
}

static void test_cancel(void **unused)
{
    (void)unused;
    struct noting n = { .cancels = true };
    struct pct_engine engine = { .room = JOBS };
    assert_int_equal(run(&n, &engine), JOBS);
    assert_int_equal(n.count, 1);
}

/* Behind the end of all runs none begins, whatever the source wants; and one that would never end does. */
static void test_ends(void **unused)
{
    static char *endless[] = { "sh", "-c", "while :; do :; done", NULL };
    struct pct_engine engine = { .jobs = JOBS };
    struct noting n = { .next = 0 };
    (void)unused;
    launch.ends = pct_cli_now();
    assert_int_equal(run(&n, &engine), 0);
    assert_true(engine.late);
    assert_int_equal(n.next, 0);
    launch.ends = pct_cli_now() + 1;
    launch.command = endless;
    run(&n, &engine);
    assert_true(engine.late);
    assert_int_equal(n.count, 0);
    launch.command = command;
    launch.ends = 0;
    engine.late = true;
    struct noting all = { .next = 0 };
    run(&all, &engine);
    assert_false(engine.late);
    assert_int_equal(all.count, RUNS);
}

/* No more than there is room for are under way, or wait. */
static void test_room(void **unused)
{
    (void)unused;
    struct noting n = { .source = { .turn = turn }, .wanted = RUNS };
    struct pct_engine engine = { .room = 5 };
    assert_int_equal(run(&n, &engine), 5);
    assert_int_equal(n.count, 0);
    assert_int_equal(engine.dropped, 5);
}

/* --- A run that hangs --- */

/* Seed 2 hangs when it is made for the first time; when it is made again, it waits to be let go. $HANGING has a
 * directory for each of that. The exit status is the seed. */
static char hanging[] = "seed=${PCT_TOKEN#*:*:} seed=${seed%%:*}\n"
                        "if [ $seed = 2 ]; then\n"
                        "    mkdir $HANGING/first 2> /dev/null || mkdir $HANGING/again\n"
                        "    until [ -d $HANGING/let-go ]; do :; done\n"
                        "fi\n"
                        "exit $seed";

/* Seconds that no run of this test takes: what is over its time is decided by hand_of_clock(). */
enum { CUT_AFTER = 10000, ENDED_AFTER = 20000 };

struct behind {
    struct noting noting; /* the first member */
    char directory[64];
    bool ends;              /* let it go when it is made again; otherwise it hangs then, too */
    unsigned early;         /* runs that early() has heard of */
    enum pct_ending ending; /* of the one that hangs */
};

static int hear_early(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct behind *b = (struct behind *)source;
    assert_true(run->process.index > 2);
    assert_int_equal(run->result.code, run->process.index);
    assert_int_equal(b->noting.count, 2);
    run->judged = true;
    b->early++;
    return PCT_RUNS_ON;
}

static int hear_class(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct behind *b = (struct behind *)source;
    b->noting.classified[run->process.index] = true;
    if (run->process.index == 2) {
        b->ending = run->result.ending;
        assert_false(run->judged);
    } else {
        assert_int_equal(run->result.code, run->process.index);
        assert_true(run->judged == (run->process.index > 2));
    }
    return PCT_RUNS_ON;
}

static const char *name_in(const struct behind *b, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", b->directory, name);
    return path;
}

/* The time of the run that hangs passes when, and as far as, the test is there; that of others does not. */
static int hand_of_clock(struct pct_run_source *source)
{
    struct behind *b = (struct behind *)source;
    struct pct_engine_state *s = b->noting.engine->state;
    for (unsigned i = 0; i < s->places; i++) {
        struct pct_process *process = &s->place[i];
        if (!process->running || process->index != 2 || process->timed_out)
            continue;
        if (!process->again && b->noting.count == 2 && !access(name_in(b, "first"), F_OK))
            process->limited = pct_cli_now() - CUT_AFTER - CUT_AFTER / 2;
        if (!process->again || b->early < RUNS - 3 || access(name_in(b, "again"), F_OK))
            continue;
        if (!b->ends)
            process->limited = pct_cli_now() - ENDED_AFTER - CUT_AFTER;
        else if (access(name_in(b, "let-go"), F_OK))
            assert_int_equal(mkdir(name_in(b, "let-go"), 0700), 0);
    }
    return 0;
}

/* Runs behind it are made and heard of before it is decided; all have their turn in their order. */
static void hang(unsigned jobs, bool ends)
{
    static const char *const names[] = { "first", "again", "let-go" };
    struct behind b = { .noting = { .source = { .next = next,
                                                .early = hear_early,
                                                .classify = hear_class,
                                                .ended = ended,
                                                .tick = hand_of_clock },
                                    .lets = true },
                        .directory = "/tmp/pct-test-engine-XXXXXX",
                        .ends = ends };
    struct pct_engine engine = { .launch = &launch, .jobs = jobs, .sure = true, .defers = true, .quiet = true };
    const bool ok[256] = { [0] = true, [1] = true };
    char *const before = launch.command[2];
    if (!launch.library)
        skip();
    assert_non_null(mkdtemp(b.directory));
    assert_int_equal(setenv("HANGING", b.directory, 1), 0);
    launch.command[2] = hanging;
    launch.timeout = ENDED_AFTER;
    launch.limit = (struct pct_time_limit){ .cuts = true, .least = CUT_AFTER, .ok = ok, .again = true };
    b.noting.engine = &engine;
    assert_int_equal(pct_engine_run(&engine, &b.noting.source), 0);
    assert_int_equal(b.noting.count, RUNS);
    assert_int_equal(engine.dropped, 0);
    assert_in_order(&b.noting, 0);
    assert_int_equal(b.ending, ends ? PCT_ENDING_EXIT : PCT_ENDING_TIMEOUT);
    assert_int_equal(b.early, RUNS - 3);
    assert_int_equal(launch.running, 0);
    launch.command[2] = before;
    launch.timeout = 0;
    launch.limit = (struct pct_time_limit){ .cuts = false };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rmdir(name_in(&b, names[i]));
    assert_int_equal(rmdir(b.directory), 0);
}

static void test_hang(void **unused)
{
    (void)unused;
    for (unsigned jobs = 1; jobs <= JOBS; jobs += 2)
        for (int ends = 0; ends < 2; ends++)
            hang(jobs, ends);
}

static void test_one(void **unused)
{
    (void)unused;
    static struct pct_ended_run one;
    struct pct_engine engine = { .launch = &launch, .quiet = true };
    struct pct_run_spec spec = { .index = 7 };
    char error[256];
    if (!launch.library)
        skip();
    assert_int_equal(pct_config_parse_spec(&spec.config, "pct,depth=2", pct_cli_find_strategy, error, sizeof error), 0);
    spec.config.run.seed = 7;
    spec.config.slack = 0;
    assert_int_equal(pct_engine_run_one(&engine, &spec, &one), 0);
    assert_int_equal(one.result.code, 7);
    struct pct_run_spec same = { 0 };
    assert_int_equal(pct_run_spec_parse(&same, one.result.trace.header.token, error, sizeof error), 0);
    assert_int_equal(same.config.run.seed, 7);
    assert_string_equal(same.config.strategy, "pct");
    pct_ended_run_close(&one);
}

/* --- How long runs may take --- */

static double allowed(struct pct_time_limit limit, double timeout)
{
    const struct pct_launch some = { .timeout = timeout, .limit = limit };
    return pct_time_limit_seconds(&some);
}

static void test_a_pause_of_the_machine_is_no_time_of_runs(void **unused)
{
    (void)unused;
    struct pct_process all[] = { { .running = true, .started = 10, .limited = 12, .deadline = 40 },
                                 { .running = true, .started = 20 },
                                 { .started = 30, .deadline = 40 } };
    pct_time_limit_forgive(all, 3, 0.9); /* a busy machine */
    assert_true(all[0].started == 10 && all[0].deadline == 40);
    pct_time_limit_forgive(all, 3, 25);
    assert_true(all[0].started == 35 && all[0].limited == 37 && all[0].deadline == 65);
    assert_true(all[1].started == 45 && all[1].deadline == 0);
    assert_true(all[2].started == 30 && all[2].deadline == 40);
}

static void test_time_limit(void **unused)
{
    (void)unused;
    struct pct_time_limit limit = { .least = 5, .longest = 2 };
    assert_true(allowed(limit, 60) == 60); /* nothing is cut */
    assert_true(allowed(limit, 0) == 0);
    limit.cuts = true;
    assert_true(allowed(limit, 60) == 20);
    assert_true(allowed(limit, 7) == 7);
    assert_true(allowed(limit, 0) == 20);
    limit.longest = 0.01;
    assert_true(allowed(limit, 60) == 5);
    limit.longest = 0; /* none has passed */
    assert_true(allowed(limit, 60) == 60);
    assert_true(allowed(limit, 0) == 0);
    limit.most = 4;
    assert_true(allowed(limit, 60) == 4);
    assert_true(allowed(limit, 0) == 4);
    limit.longest = 0.01;
    limit.least = 3;
    assert_true(allowed(limit, 60) == 3);
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

static void compute_for_ever(void)
{
    for (volatile bool more = true; more;)
        ;
}

static pid_t make_child(void (*go)(void))
{
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        go();
    }
    return pid;
}

/* Where two that were cut took all of their time, others are believed; not one that got on and had hardly had a CPU. */
static void test_slow(void **unused)
{
    (void)unused;
    static struct pct_launch some = { .limit = { .cuts = true, .again = true } };
    struct pct_process process = { .launch = &some, .timed_out = true, .cut = true };
    pid_t parent, waits = make_child(wait_for_ever), computes = make_child(compute_for_ever);
    assert_true(waits > 0 && computes > 0);
    while (pct_process_state(waits, &parent) != 'S')
        sched_yield();
    process.allowed = 10000;
    process.pid = waits;
    assert_false(pct_time_limit_slow(&process));
    process.pid = computes;
    assert_true(pct_time_limit_slow(&process));
    process.allowed = 0; /* of which it has had more than half */
    assert_false(pct_time_limit_slow(&process));
    kill(waits, SIGKILL);
    kill(computes, SIGKILL);
    assert_int_equal(waitpid(waits, NULL, 0), waits);
    assert_int_equal(waitpid(computes, NULL, 0), computes);

    assert_true(pct_time_limit_doubts(&process));
    some.limit.endless = 2;
    assert_false(pct_time_limit_doubts(&process));
    process.slow = true;
    assert_true(pct_time_limit_doubts(&process));
}

/* Only runs that pass say how long others may take. */
static void test_learning(void **unused)
{
    (void)unused;
    static const bool ok[256] = { [3] = true };
    static struct pct_launch some;
    struct pct_process process = { .launch = &some, .status = W_EXITCODE(0, 0), .seconds = 2 };
    pct_time_limit_learn(&process);
    assert_true(some.limit.longest == 2);
    process.seconds = 1;
    pct_time_limit_learn(&process);
    assert_true(some.limit.longest == 2);
    process.seconds = 9;
    process.status = W_EXITCODE(3, 0);
    pct_time_limit_learn(&process);
    process.status = W_EXITCODE(0, 9);
    pct_time_limit_learn(&process);
    process.status = W_EXITCODE(0, 0);
    process.timed_out = true;
    pct_time_limit_learn(&process);
    assert_true(some.limit.longest == 2);
    some.limit.ok = ok;
    process.timed_out = false;
    pct_time_limit_learn(&process);
    assert_true(some.limit.longest == 2);
    process.status = W_EXITCODE(3, 0);
    pct_time_limit_learn(&process);
    assert_true(some.limit.longest == 9);
}

/* Uses a CPU until it is killed: at the latest with the test, also where that fails. */
static _Noreturn void compute(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        ;
}

/* A run that has not had a CPU for long is not cut for that: where all others take the only CPU that it may have. */
static void test_waited(void **unused)
{
    (void)unused;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pid_t child = fork();
    if (!child)
        compute();
    struct pct_launch some = { .timeout = 60 };
    struct pct_process process = {
        .launch = &some, .pid = child, .limited = 1000, .allowed = 5, .deadline = 1005, .cut = true
    };
    /* What it has waited for its first CPU is known to a clock tick until it has it. */
    double granted = 0;
    while (granted < 0.001) {
        pct_time_limit_extend(&process, 1006);
        granted = process.deadline - 1005;
    }
    assert_true(granted <= 6);
    process.limited = 1005.9999; /* no more than it has been there */
    pct_time_limit_extend(&process, 1006);
    assert_true(process.deadline - process.limited < 5.0002);
    process.limited = 1000;
    process.allowed = 60; /* no more than --timeout */
    pct_time_limit_extend(&process, 1061);
    assert_true(process.deadline == 1060);
    some.limit.most = 5; /* than all may */
    process.allowed = 5;
    pct_time_limit_extend(&process, 1061);
    assert_true(process.deadline == 1005);
    process.cut = false; /* that is real time */
    process.deadline = 7;
    pct_time_limit_extend(&process, 1061);
    assert_true(process.deadline == 7);
    pid_t parent = fork();
    if (!parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        if (!fork())
            compute();
        for (;;)
            pause();
    }
    setpgid(parent, parent); /* it may not have come to do so itself, and is killed as a group */
    /* What it has waited itself is asked last: that only grows. */
    while (pct_time_limit_all_waited(parent) < pct_time_limit_waited(parent) + 0.001)
        ;
    kill(-parent, SIGKILL);
    waitpid(parent, NULL, 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_true(pct_time_limit_waited(child) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),      cmocka_unit_test(test_turn),
        cmocka_unit_test(test_enough),     cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_ends),       cmocka_unit_test(test_room),
        cmocka_unit_test(test_one),        cmocka_unit_test(test_a_pause_of_the_machine_is_no_time_of_runs),
        cmocka_unit_test(test_time_limit), cmocka_unit_test(test_slow),
        cmocka_unit_test(test_learning),   cmocka_unit_test(test_waited),
        cmocka_unit_test(test_hang),
    };
    return cmocka_run_group_tests(tests, set_up, launch_tear_down);
}
