/* From a failing run to the smallest schedule: see shrink.h.
 *
 * The run's trace becomes a list of all its switches; delta debugging takes away those without which it still fails (they then
 * happen, or not, in the default order of the strategy `schedule`, which has no preemption of its own); each one that is left is
 * moved as far as it can go. A failure that the schedule does not decide alone is judged by its rate. */
#include "locate.h"
#include "ordered.h"
#include "shrink.h"
#include "environment.h"
#include "nearest.h"
#include "options.h"
#include "progress.h"
#include "reduce.h"
#include "report.h"
#include "schedule_file.h"
#include "series.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* How often a run is repeated to see whether the schedule decides it; and if not, to measure a rate. */
enum { REPEATS = 2, RATE_RUNS = 20, RATE_MOST = 60, MOVES = 64, JOBS_MAX = 256 };

static const struct argp_option options[] = {
    { "jobs", 'j', "N", 0, "this many runs at a time; the result does not depend on it (default: one on each CPU)", 1 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_shrink *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &s->trials.launch;
        return 0;
    case 'j':
        s->trials.jobs = (unsigned)pct_options_number(state, "--jobs", argument, 1, JOBS_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (!s->name) {
            s->name = argument;
            return 0;
        }
        pct_options_take_command(state, &s->trials.launch);
        return 0;
    case ARGP_KEY_END:
        if (!s->name)
            argp_error(state, "no token and no file is given");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { .options = options, .parser = parse, .children = pct_options_launch };
const struct argp_child pct_shrink_options[] = { { &argp, 0, NULL, 0 }, { 0 } };

/* The token in the file: a trace or a schedule. */
static int read_file(struct pct_shrink *s, char *token, size_t size)
{
    static struct pct_trace trace;
    char error[512];
    if (pct_schedule_file_is(s->name))
        return pct_schedule_file_read(s->name, token, size, error, sizeof error)
                   ? pct_cli_usage("%s: %s", s->name, error)
                   : 0;
    if (pct_trace_open(&trace, s->name, error, sizeof error) != PCT_TRACE_GOOD)
        return pct_cli_usage("%s: neither a schedule nor a trace: %s", s->name, error);
    snprintf(token, size, "%s", trace.header.token);
    if (!s->trials.launch.command) {
        pct_report_ask_command(&trace);
        pct_trace_close(&trace);
        return PCT_EXIT_USAGE;
    }
    if (!trace.complete || trace.header.verdict == PCT_VERDICT_RUNNING)
        pct_cli_say("this trace was cut short: the run is repeated from the token in it");
    pct_trace_close(&trace);
    return 0;
}

static int read_name(struct pct_shrink *s)
{
    char token[PCT_TOKEN_MAX], error[512];
    int failed = pct_environment_check(true);
    if (failed)
        return failed;
    bool is_file;
    failed = pct_locate_named(s->name, &is_file);
    if (failed)
        return failed;
    if (is_file)
        failed = read_file(s, token, sizeof token);
    else
        snprintf(token, sizeof token, "%s", s->name);
    if (failed)
        return failed;
    if (pct_config_parse_token(&s->trials.config, token, pct_cli_find_strategy, error, sizeof error))
        return pct_cli_usage(is_file ? "the token in %2$s: %1$s" : "%s", error, s->name);
    if (!strcmp(s->trials.config.strategy, "none"))
        return pct_cli_usage("strategy none leaves the order to the operating system: there is no schedule to look at");
    s->trials.launch.patches = s->trials.config.memory != PCT_PATCH_OFF;
    pct_config_format_focus(&s->trials.config, s->trials.launch.focus, sizeof s->trials.launch.focus);
    if (!s->trials.launch.command)
        return pct_cli_usage("no command is given: TOKEN -- COMMAND [ARGUMENT...]");
    failed = pct_cli_check_strategy(&s->trials.config);
    return failed ? failed : pct_ordered_check(s->trials.config.ordered);
}

/* What a schedule's file tells about the program. */
static void say_changes(const struct pct_shrink *s)
{
    if (pct_schedule_file_is(s->name))
        pct_schedule_file_compare(s->name, s->trials.launch.program);
}

/* A run of the failing schedule that did not fail. */
static int explain_pass(const struct pct_shrink *s, const struct pct_trial *trial, bool same)
{
    char text[1200];
    if (same)
        return pct_cli_usage(
            "the run of this token did not fail, and it is the same run as then: only runs that fail can "
            "be made smaller");
    if (!s->trials.config.has_hash)
        return pct_cli_usage("the run of this token did not fail: only runs that fail can be made smaller");
    struct pct_failure ending;
    pct_failure_read(&ending, &trial->result);
    pct_cli_say("the token does not fail any more: %s", pct_failure_format(text, sizeof text, &ending));
    pct_cli_say(
        "the run took other steps than then, so something besides the schedule is not as it was: the program was "
        "rebuilt, or its input, arguments, environment or libraries differ");
    say_changes(s);
    pct_cli_say("`pct run` finds a schedule that fails now, if there is one");
    return PCT_EXIT_DIVERGENCE;
}

/* The failing schedule, run again and again. */
struct again {
    struct pct_trials *trials;
    uint64_t hash; /* of the run that was found */
    unsigned failed, runs, most;
};

static int ask_again(void *context, size_t number, struct pct_question *question)
{
    const struct again *a = context;
    question->expected = a->most;
    return !number;
}

static enum pct_answer answer_again(void *context, size_t number, struct pct_question *question,
                                    struct pct_trial *trial)
{
    struct again *a = context;
    (void)number;
    a->runs++;
    a->failed += trial->fails;
    if (!trial->fails || trial->result.trace.header.hash != a->hash)
        a->most = question->expected = RATE_RUNS;
    return a->runs < a->most ? PCT_ANSWER_MORE : PCT_ANSWER_STOP;
}

/* Whether it always fails, in the same run. With as many of them at a time as there will be. Returns 0, or a status. */
static int run_again(struct again *a, struct pct_trials *trials, uint64_t hash)
{
    *a = (struct again){ .trials = trials, .hash = hash, .most = trials->jobs > REPEATS ? trials->jobs : REPEATS };
    struct pct_series series = { .ask = ask_again, .answer = answer_again, .context = a };
    pct_series_step(trials, "seeing how often it fails", 1);
    return pct_series_run(trials, &series);
}

/* How often the failing run fails, if not always; and whether its schedule decides all. The run that was found does not count:
 * it is one that failed. */
static int judge(struct pct_shrink *s, uint64_t hash)
{
    struct pct_trials *t = &s->trials;
    struct again a, alone;
    unsigned jobs = t->jobs;
    t->repeat = 1;
    t->rate = 1;
    if (run_again(&a, t, hash))
        return t->status;
    /* Runs at the same time may meet: in a file, at a port. */
    if (a.most == RATE_RUNS && jobs > 1) {
        t->jobs = 1;
        if (run_again(&alone, t, hash))
            return t->status;
        if (alone.most < RATE_RUNS) {
            pct_progress_clear(t->progress.quiet);
            pct_cli_say("runs that go on at the same time disturb each other (do they write the same file?), so there "
                        "is one at a "
                        "time; with --scratch, or {worker} in a server's port or path, there could be %u",
                        jobs);
            return 0;
        }
        t->jobs = jobs;
    }
    if (a.failed == a.runs)
        return 0;
    /* Enough runs that a schedule as good as this one seldom fails in less than half of its rate. */
    double rate = a.failed ? (double)a.failed / a.runs : 1.0 / RATE_RUNS;
    t->rate = rate / 2;
    t->repeat = rate > 12.0 / RATE_MOST ? (unsigned)(12 / rate + 0.5) : RATE_MOST;
    pct_progress_clear(t->progress.quiet);
    pct_cli_say(
        "the schedule does not decide alone: it failed %u times of %u; every schedule is judged by up to %u runs",
        a.failed, a.runs, t->repeat);
    return 0;
}

/* Where the schedule that is given does not fail any more: the nearest one that does. *found: there is one. */
static int go_nearby(struct pct_shrink *s, bool *found)
{
    struct pct_trials *t = &s->trials;
    char token[PCT_TOKEN_MAX], error[256];
    int failed = pct_nearest_find(t, found);
    if (failed || !*found)
        return failed;
    pct_config_format_token(token, sizeof token, &t->config,
                            pct_cli_find_strategy(t->config.strategy, error, sizeof error));
    pct_cli_say(
        "the schedule does not fail any more (the program was rebuilt, or its input or libraries differ); the nearest "
        "one that does, with which this goes on: %s",
        token);
    say_changes(s);
    return 0;
}

/* The first run that fails, of a few; the caller closes it. Returns 0, or the exit status for the command, after a message. */
static int first_failure(struct pct_shrink *s, struct pct_trial *trial)
{
    struct pct_trials *t = &s->trials;
    bool moved = false;
    for (unsigned i = 0;; i++) {
        if (pct_trial_again(t, trial))
            return t->status;
        if (pct_failure_read(&t->failure, &trial->result))
            return 0;
        bool same = t->config.has_hash && trial->result.trace.header.hash == t->config.hash;
        if (same || i + 1 == RATE_RUNS) {
            int failed = same || moved ? 0 : go_nearby(s, &moved);
            if (!failed && (!moved || same))
                failed = explain_pass(s, trial, same);
            pct_trial_close(trial);
            if (failed)
                return failed;
            continue;
        }
        pct_trial_close(trial);
    }
}

int pct_shrink_open(struct pct_shrink *s)
{
    static struct pct_trial trial;
    struct pct_trials *t = &s->trials;
    int failed = read_name(s);
    if (!t->jobs) {
        cpu_set_t set;
        t->jobs = sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
        t->jobs = pct_drive_limit(&t->launch.drive, t->jobs < JOBS_MAX ? t->jobs : JOBS_MAX);
    }
    if (!failed)
        failed = pct_drive_check(&t->launch.drive, t->jobs);
    if (!failed)
        failed = pct_launch_prepare(&t->launch);
    if (!failed)
        failed = pct_trials_begin(t);
    if (failed)
        return failed;
    failed = first_failure(s, &trial);
    if (failed)
        return failed;
    const struct pct_trace *trace = &trial.result.trace;
    s->steps = trace->header.steps;
    s->switches = trace->header.switches;
    s->preemptions = trace->header.preemptions;
    uint64_t hash = trace->header.hash;
    if (t->config.has_hash && hash != t->config.hash)
        pct_cli_say(
            "the run took other steps than the one of the token (the program was rebuilt, or its input or libraries "
            "differ), but it fails: going on with this failure");
    if (!trace->complete) {
        pct_cli_say("only the first %llu of %llu steps could be recorded: there is no room for the rest",
                    (unsigned long long)trace->count, (unsigned long long)trace->header.steps);
        failed = PCT_EXIT_USAGE;
    } else if (pct_switches_from_trace(&s->minimal, trace)) {
        pct_cli_say("out of memory");
        failed = PCT_EXIT_INTERNAL;
    }
    pct_trial_close(&trial);
    return failed ? failed : judge(s, hash);
}

/* Lists of switches that are tried one after the other. */
struct tries {
    struct pct_shrink *shrink;
    const struct pct_switches *switches;
    struct pct_reduction ahead; /* of delta debugging: what is tried next; */
    bool *keep;                 /* room for that, */
    bool failing;               /* and whether a list was found that fails, */
    size_t which;               /* of this number */
    struct pct_switch *moved;   /* of a move: the switch, */
    size_t index;               /* its number, */
    bool later;                 /* where to, */
    uint32_t from, furthest;    /* where it stood, and how far it got so far */
    unsigned runs, failed;      /* of the list that is tried */
};

/* One more run of it: 1 or 0 if that says whether it fails, -1 if not yet. */
static int count(struct tries *t, const struct pct_trial *trial)
{
    struct pct_trials *trials = &t->shrink->trials;
    t->failed += trial->fails;
    int verdict = pct_trials_verdict(trials, t->failed, ++t->runs);
    if (verdict > 0 && trial->fails) {
        trials->progress.preemptions = trial->result.trace.header.preemptions;
        trials->progress.known = true;
    }
    if (verdict >= 0)
        t->runs = t->failed = 0;
    return verdict;
}

static int ask_list(const struct tries *t, struct pct_question *question, const bool *keep)
{
    const struct pct_trials *trials = &t->shrink->trials;
    question->what = (struct pct_try){ .strategy = "schedule",
                                       .list = pct_switches_format(t->switches, keep),
                                       .seed = trials->config.run.seed };
    question->expected = trials->repeat;
    return question->what.list ? 1 : -ENOMEM;
}

static int ask_whole(void *context, size_t number, struct pct_question *question)
{
    return number ? 0 : ask_list(context, question, NULL);
}

static int ask_part(void *context, size_t number, struct pct_question *question)
{
    struct tries *t = context;
    (void)number;
    return pct_reduction_next(&t->ahead, t->keep) ? ask_list(t, question, t->keep) : 0;
}

/* The first that fails is looked for. */
static enum pct_answer answer_part(void *context, size_t number, struct pct_question *question, struct pct_trial *trial)
{
    struct tries *t = context;
    (void)question;
    int verdict = count(t, trial);
    if (verdict <= 0)
        return verdict ? PCT_ANSWER_MORE : PCT_ANSWER_NEXT;
    t->failing = true;
    t->which = number;
    return PCT_ANSWER_STOP;
}

/* Whether these switches fail: 1 or 0; negative: there is a status. */
static int still_fails(struct pct_shrink *s, const struct pct_switches *switches)
{
    struct tries t = { .shrink = s, .switches = switches };
    struct pct_series series = { .ask = ask_whole, .answer = answer_part, .context = &t };
    return pct_series_run(&s->trials, &series) ? -1 : t.failing;
}

static int first_part(void *context, struct pct_reduction ahead, size_t *which)
{
    struct tries *t = context;
    struct pct_trials *trials = &t->shrink->trials;
    struct pct_series series = { .ask = ask_part, .answer = answer_part, .context = t };
    t->ahead = ahead;
    t->failing = false;
    trials->progress.left = pct_reduction_left(&ahead);
    if (pct_series_run(trials, &series))
        return -1;
    *which = t->which;
    return t->failing;
}

static int reduce(struct pct_shrink *s)
{
    bool *keep = malloc(s->minimal.count + 1), *tried = malloc(s->minimal.count + 1);
    struct tries t = { .shrink = s, .switches = &s->minimal, .keep = tried };
    int stop = keep && tried ? 0 : -ENOMEM;
    if (!stop) {
        memset(keep, true, s->minimal.count);
        pct_series_step(&s->trials, "taking switches away", 0);
        stop = pct_reduce(keep, s->minimal.count, first_part, &t);
        size_t left = 0;
        for (size_t i = 0; i < s->minimal.count; i++)
            if (keep[i])
                s->minimal.item[left++] = s->minimal.item[i];
        s->minimal.count = left;
    }
    free(keep);
    free(tried);
    return stop;
}

/* Whether the switches of each thread still stand in the order of its operations. */
static bool in_order(const struct pct_switches *switches, size_t moved)
{
    const struct pct_switch *item = &switches->item[moved];
    for (size_t i = 0; i < switches->count; i++) {
        const struct pct_switch *other = &switches->item[i];
        if (i != moved && other->thread == item->thread && other->wake == item->wake &&
            (i < moved ? other->made >= item->made : other->made <= item->made))
            return false;
    }
    return true;
}

/* One operation further. The switches themselves stay where they are until the answers are there. */
static int ask_move(void *context, size_t number, struct pct_question *question)
{
    struct tries *t = context;
    uint32_t by = (uint32_t)number + 1;
    if (number == MOVES || (!t->later && by > t->from))
        return 0;
    t->moved->made = t->later ? t->from + by : t->from - by;
    int there = in_order(t->switches, t->index) ? ask_list(t, question, NULL) : 0;
    t->moved->made = t->from;
    return there;
}

/* The first that does not fail ends it. */
static enum pct_answer answer_move(void *context, size_t number, struct pct_question *question, struct pct_trial *trial)
{
    struct tries *t = context;
    uint32_t by = (uint32_t)number + 1;
    (void)question;
    int verdict = count(t, trial);
    if (verdict > 0)
        t->furthest = t->later ? t->from + by : t->from - by;
    return verdict < 0 ? PCT_ANSWER_MORE : verdict ? PCT_ANSWER_NEXT : PCT_ANSWER_STOP;
}

/* How far item i can move in this direction, one operation at a time. */
static int move(struct pct_shrink *s, size_t i, bool later, uint32_t *furthest)
{
    struct pct_switch *item = &s->minimal.item[i];
    struct tries t = { .shrink = s,
                       .switches = &s->minimal,
                       .moved = item,
                       .index = i,
                       .later = later,
                       .from = item->made,
                       .furthest = item->made };
    struct pct_series series = { .ask = ask_move, .answer = answer_move, .context = &t };
    int stop = pct_series_run(&s->trials, &series);
    *furthest = t.furthest;
    return stop;
}

/* The switches as late as they can be: there the operation stands without which the failure goes away. */
static int move_all(struct pct_shrink *s)
{
    free(s->ranges);
    s->ranges = calloc(s->minimal.count + 1, sizeof *s->ranges);
    if (!s->ranges)
        return -ENOMEM;
    pct_series_step(&s->trials, "moving switches", 0);
    for (size_t i = s->minimal.count; i-- > 0;) {
        int stop = s->minimal.item[i].wake ? 0 : move(s, i, false, &s->ranges[i].earliest);
        if (!stop && !s->minimal.item[i].wake)
            stop = move(s, i, true, &s->ranges[i].latest);
        if (stop)
            return stop;
        if (!s->minimal.item[i].wake)
            s->minimal.item[i].made = s->ranges[i].latest;
    }
    return 0;
}

/* Reduce and move until nothing changes, and see what that has come to. */
static int make_small(struct pct_shrink *s)
{
    static struct pct_trial trial;
    struct pct_trials *t = &s->trials;
    size_t before;
    int stop = reduce(s);
    do {
        before = s->minimal.count;
        stop = stop ? stop : move_all(s);
        stop = stop ? stop : reduce(s);
    } while (!stop && s->minimal.count < before);
    for (unsigned i = 0; !stop && i < t->repeat; i++) {
        stop = pct_shrink_show(s, &trial, NULL);
        if (stop)
            break;
        bool last = trial.fails || i + 1 == t->repeat;
        s->minimal_switches = trial.result.trace.header.switches;
        s->minimal_preemptions = trial.result.trace.header.preemptions;
        struct pct_config config = { 0 };
        char error[256];
        snprintf(s->token, sizeof s->token, "%s", trial.result.trace.header.token);
        /* A list that does not fit into a token is not in it. */
        if (!pct_config_parse_token(&config, s->token, pct_cli_find_strategy, error, sizeof error) && !config.list[0] &&
            s->minimal.count)
            s->token[0] = 0;
        pct_trial_close(&trial);
        if (last)
            break;
    }
    if (stop && !t->status) {
        pct_cli_say("out of memory");
        t->status = PCT_EXIT_INTERNAL;
    }
    return t->status;
}

int pct_shrink_run(struct pct_shrink *s)
{
    int fails = still_fails(s, &s->minimal);
    if (fails < 0)
        return s->trials.status ? s->trials.status : PCT_EXIT_INTERNAL;
    if (!fails) {
        pct_progress_clear(s->trials.progress.quiet);
        pct_cli_say(
            "the failing run cannot be repeated as a list of switches: it depends on what the schedule does not hold");
        return s->trials.status = PCT_EXIT_DIVERGENCE;
    }
    return make_small(s);
}

int pct_shrink_consider(struct pct_shrink *s, const struct pct_switches *other, bool *better)
{
    struct pct_shrink old = *s;
    *better = false;
    s->ranges = NULL;
    s->minimal = (struct pct_switches){ .item = calloc(other->count + 1, sizeof *other->item), .count = other->count };
    int stop = s->minimal.item ? 0 : PCT_EXIT_INTERNAL;
    if (!stop) {
        memcpy(s->minimal.item, other->item, other->count * sizeof *other->item);
        /* It was made with another seed, which the target may have drawn from. */
        stop = still_fails(s, &s->minimal);
        stop = stop < 0 ? PCT_EXIT_INTERNAL : stop ? make_small(s) : 0;
        *better = !stop && s->token[0] &&
                  (s->minimal_preemptions < old.minimal_preemptions ||
                   (s->minimal_preemptions == old.minimal_preemptions && s->minimal.count < old.minimal.count));
    }
    struct pct_shrink *worse = *better ? &old : s;
    pct_switches_free(&worse->minimal);
    free(worse->ranges);
    if (!*better) {
        old.trials = s->trials; /* what the runs have cost */
        *s = old;
    }
    return s->trials.status ? s->trials.status : stop;
}

int pct_shrink_show(struct pct_shrink *s, struct pct_trial *trial, const char *sites)
{
    char *list = pct_switches_format(&s->minimal, NULL);
    if (!list)
        return s->trials.status = PCT_EXIT_INTERNAL;
    int failed = pct_trial_run(&s->trials, trial, "schedule", list, s->trials.config.run.seed, sites);
    free(list);
    return failed;
}

void pct_shrink_close(struct pct_shrink *s)
{
    pct_switches_free(&s->minimal);
    free(s->ranges);
    s->ranges = NULL;
    pct_trials_finish(&s->trials);
    pct_launch_finish(&s->trials.launch);
}
