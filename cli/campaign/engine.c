/* Making runs: see engine.h. */
#include "engine.h"
#include "doubts.h"
#include "outcome.h"
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <cli/base/status_line.h>
#include <cli/binary/locate.h>
#include <cli/process/long_run.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 256 };

/* Bytes of the traces that are open while their runs wait for one in doubt. */
#define AHEAD_MAX ((size_t)256 << 20)

int pct_run_spec_parse(struct pct_run_spec *spec, const char *token, char *error, size_t size)
{
    return pct_config_parse_token(&spec->config, token, pct_cli_find_strategy, error, size);
}

void pct_ended_run_close(struct pct_ended_run *run)
{
    pct_result_close(&run->result);
    pct_process_close(&run->process);
}

/* --- Starting ----------------------------------------------------------------------------------------------------- */

/* The CPU for the targets of this worker: each of several has its own, or there is no gain in more than one at a time.
 * -1: any, for a worker alone. */
static int cpu_of(const struct pct_engine *engine, unsigned worker)
{
    cpu_set_t set;
    unsigned width = engine->width ? engine->width : engine->jobs;
    int cpu = 0;
    if (width <= 1 || sched_getaffinity(0, sizeof set, &set) || !CPU_COUNT(&set))
        return -1;
    for (unsigned left = worker % (unsigned)CPU_COUNT(&set); !CPU_ISSET(cpu, &set) || left--; cpu++)
        ;
    return cpu;
}

/* The list, where the shim finds it. Returns 0, or an exit status after a message. */
static int write_list(struct pct_engine_state *s, unsigned place, const char *text)
{
    if (!s->list && !(s->list = calloc(s->places, sizeof *s->list)))
        return pct_cli_no_memory("");
    struct pct_engine_list *list = &s->list[place];
    if (!list->path[0]) {
        list->file = pct_locate_scratch(list->path, sizeof list->path, false);
        if (list->file < 0) {
            list->path[0] = 0;
            pct_cli_say("cannot make a scratch file for the schedule: %s", strerror(-list->file));
            return PCT_EXIT_INTERNAL;
        }
    }
    int failed = ftruncate(list->file, 0) || lseek(list->file, 0, SEEK_SET)
                     ? -EIO
                     : pct_cli_write_all(list->file, text, strlen(text));
    if (failed)
        pct_cli_say("cannot write to %s: %s", list->path, strerror(-failed));
    return failed ? PCT_EXIT_INTERNAL : 0;
}

static int start(struct pct_engine *engine, unsigned place, struct pct_run_spec *spec)
{
    struct pct_engine_state *s = engine->state;
    struct pct_process *process = &s->place[place];
    struct pct_config *config = &spec->config;
    struct pct_run_extras extras = { .channel = spec->channel,
                                     .log = spec->log,
                                     .sites = spec->sites,
                                     .learns = config->memory_points == PCT_POINTS_LEARNED,
                                     .points = pct_hosts_points(config) };
    char token[PCT_TOKEN_MAX], error[256];
    int failed = 0;
    const struct pct_strategy *strategy =
        spec->strategy ? spec->strategy : pct_cli_find_strategy(config->strategy, error, sizeof error);
    if (spec->list && !pct_list_take(config, strategy, spec->list)) {
        failed = write_list(s, place, spec->list);
        extras.schedule = failed ? NULL : s->list[place].path;
    }
    if (failed)
        return failed;
    config->has_hash = false;
    pct_config_format_token(token, sizeof token, config, strategy);
    process->index = spec->index;
    process->worker = spec->worker;
    failed = pct_process_start(process, engine->launch, token, &extras, cpu_of(engine, spec->worker), !engine->pass);
    s->used = place >= s->used ? place + 1 : s->used;
    s->under_way += !failed;
    s->open += !failed;
    s->busy[spec->worker] += !failed;
    return failed;
}

/* How many runs of this worker may wait while its last one goes on. In a fork server, with one worker, that takes more
 * processor time than it saves. */
static unsigned queues(const struct pct_engine *engine, unsigned worker)
{
    if (!engine->sure || engine->state->source->over)
        return 0;
    const unsigned hosted = pct_hosts_queue(engine->launch, worker);
    return hosted ? hosted : engine->jobs > 1 && pct_forking_queues(engine->launch);
}

/* A place in which nothing goes on, or as many as there are. */
static unsigned free_place(const struct pct_engine *engine)
{
    const struct pct_engine_state *s = engine->state;
    unsigned place = 0;
    for (; place < s->places; place++) {
        const unsigned worker = place % engine->jobs;
        if ((place >= s->used || !s->place[place].running) &&
            (!s->busy[worker] || (s->busy[worker] <= queues(engine, worker) && !pct_doubts_busy(engine, worker))))
            break;
    }
    return place;
}

/* Begin what can begin. Returns 0, PCT_RUNS_ENOUGH or an exit status. */
static int fill(struct pct_engine *engine)
{
    struct pct_engine_state *s = engine->state;
    struct pct_launch *launch = engine->launch;
    if (launch->crowded && launch->running > launch->postponed)
        return 0;
    if (launch->crowded)
        pct_launch_sweep(launch);
    for (unsigned place; s->open < s->room && (place = free_place(engine)) < s->places;) {
        struct pct_run_spec spec = { .worker = place % engine->jobs };
        int status = s->source->next(s->source, &spec);
        if (status == PCT_RUNS_ON)
            status = start(engine, place, &spec);
        if (status)
            return status == PCT_RUNS_WAIT ? 0 : status;
    }
    return 0;
}

/* --- Looking at what has ended ------------------------------------------------------------------------------------ */

/* The lowest number of those that are not looked at. */
static uint64_t lowest(const struct pct_engine_state *s)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < s->used; i++)
        if (s->place[i].running && s->place[i].index < least)
            least = s->place[i].index;
    for (unsigned i = 0; i < s->waited; i++)
        if (s->waiting[i].valid && s->waiting[i].process.index < least)
            least = s->waiting[i].process.index;
    const uint64_t doubted = pct_doubts_lowest(s);
    return doubted < least ? doubted : least;
}

static struct pct_engine_waiting *find_turn(struct pct_engine_state *s)
{
    uint64_t turn = s->source->turn ? s->source->turn(s->source) : lowest(s);
    for (unsigned i = 0; i < s->waited; i++)
        if (s->waiting[i].valid && s->waiting[i].process.index == turn)
            return &s->waiting[i];
    return NULL;
}

static int classify(struct pct_engine *engine, struct pct_ended_run *run)
{
    struct pct_run_source *source = engine->state->source;
    int status = source->classify ? source->classify(source, run) : PCT_RUNS_ON;
    if (status > 0)
        return status;
    if (status == PCT_RUNS_ON)
        pct_forking_try(engine->launch, &run->process, &run->result);
    return source->ended(source, run);
}

/* Look at this one. Returns as the source does. */
static int look_at(struct pct_engine *engine, struct pct_engine_waiting *waiting)
{
    struct pct_engine_state *s = engine->state;
    struct pct_ended_run *run = &s->run;
    int status;
    if (waiting->early) {
        *run = *waiting->early;
        free(waiting->early);
    } else {
        run->process = waiting->process;
        run->judged = run->told = false;
        pct_process_result(&run->process, &run->result);
    }
    run->taken = waiting->valid = false;
    waiting->early = NULL;
    s->open--;
    if (engine->launch->restore.broken) { /* for whoever has wanted these runs */
        pct_ended_run_close(run);
        return PCT_EXIT_INTERNAL;
    }
    /* Ctrl-C on the terminal that we lent to the target. */
    if (engine->launch->terminal && WIFSIGNALED(run->process.status) && WTERMSIG(run->process.status) == SIGINT) {
        engine->signal = SIGINT;
        status = 128 + SIGINT;
    } else if (pct_outcome_is_void(&run->result)) {
        pct_status_line_clear(engine->quiet);
        status = pct_outcome_explain(engine->launch, &run->process, &run->result);
    } else {
        status = classify(engine, run);
    }
    if (!run->taken)
        pct_ended_run_close(run);
    return status;
}

/* Look at all runs whose turn has come. */
static int look(struct pct_engine *engine)
{
    int status = 0;
    for (struct pct_engine_waiting *turn; !status && (turn = find_turn(engine->state));)
        status = look_at(engine, turn);
    return status;
}

static size_t size_of(const struct pct_ended_run *run)
{
    return run ? run->result.trace.map_size + run->result.trace.unpacked_size : 0;
}

/* Runs that wait for one that is in doubt: whoever wants to hears of them now, as long as there is room for their
 * traces, which stay open until their turn. */
static int look_ahead(struct pct_engine *engine)
{
    struct pct_engine_state *s = engine->state;
    const uint64_t doubted = pct_doubts_lowest(s);
    size_t bytes = 0;
    int status = PCT_RUNS_ON;
    if (!s->source->early || !s->doubts)
        return status;
    for (unsigned i = 0; i < s->waited; i++)
        bytes += size_of(s->waiting[i].early);
    for (unsigned i = 0; bytes < AHEAD_MAX && status == PCT_RUNS_ON && i < s->waited; i++) {
        struct pct_engine_waiting *waiting = &s->waiting[i];
        if (!waiting->valid || waiting->early || waiting->process.index < doubted)
            continue;
        struct pct_ended_run *run = waiting->early = calloc(1, sizeof *run);
        if (!run)
            return pct_cli_no_memory("");
        run->process = waiting->process;
        pct_process_result(&run->process, &run->result);
        bytes += size_of(run);
        if (!engine->launch->restore.broken && !pct_outcome_is_void(&run->result))
            status = s->source->early(s->source, run);
    }
    return status;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static int tick(struct pct_engine_state *s)
{
    if (!s->source->tick || pct_cli_now() < s->ticked + PCT_STATUS_LINE_TICK)
        return 0;
    s->ticked = pct_cli_now();
    return s->source->tick(s->source);
}

static bool precedes(const struct pct_process *one, const struct pct_process *other)
{
    return one->launch->reaped ? one->limited < other->limited : one->index < other->index;
}

/* The first run of all while it goes on, behind it the one that has gone on the longest; NULL: there is none, or one is
 * said already, or nobody wants to know. */
static const struct pct_process *find_untold(const struct pct_engine *engine)
{
    const struct pct_engine_state *s = engine->state;
    const struct pct_process *first = NULL;
    if (!engine->tells || s->told)
        return NULL;
    for (unsigned i = 0; i < s->used; i++) {
        const struct pct_process *one = &s->place[i];
        if (one->pid && one->phase == PCT_PHASE_RUN && !one->driven && (!first || precedes(one, first)))
            first = one;
    }
    return first;
}

static void tell(const struct pct_engine *engine)
{
    const struct pct_process *first = find_untold(engine);
    if (!first || pct_cli_now() < pct_long_run_due(first))
        return;
    pct_status_line_clear(engine->quiet);
    pct_long_run_say(first);
    engine->state->told = true;
}

static double earlier(double one, double other)
{
    return one <= 0 || (other > 0 && other < one) ? other : one;
}

/* The moment for which runs need not be waited for any longer; 0: there is none. */
static double wait_until(const struct pct_engine *engine)
{
    const struct pct_engine_state *s = engine->state;
    const double tick = s->source->tick ? s->ticked + PCT_STATUS_LINE_TICK : 0;
    /* A run that is asked of a fork server begins while it is waited for. */
    const double look = engine->tells && !s->told ? pct_cli_now() + 1 : 0;
    return earlier(earlier(tick, engine->launch->ends), look);
}

static int loop(struct pct_engine *engine)
{
    struct pct_engine_state *s = engine->state;
    for (;;) {
        engine->late = engine->launch->ends > 0 && pct_cli_now() >= engine->launch->ends;
        int ended, status = engine->late ? PCT_RUNS_ENOUGH : fill(engine);
        if (!status && pct_doubts_decide(engine)) {
            status = look(engine);
            if (!status)
                continue;
        }
        if (status || !s->under_way)
            return status;
        engine->signal = pct_launch_wait(engine->launch, s->place, (int)s->used, wait_until(engine), &ended);
        if (engine->signal)
            return 128 + engine->signal;
        if (ended >= 0) {
            if (!pct_doubts_take(engine, (unsigned)ended))
                pct_doubts_put_aside(s, (unsigned)ended);
            /* One of several workers goes on before its last run is looked at: otherwise its CPU would wait for that.
             */
            status = engine->sure && (engine->jobs > 1 || engine->ahead) ? fill(engine) : 0;
            status = status ? status : look(engine);
            status = status ? status : look_ahead(engine);
        }
        tell(engine);
        status = status ? status : tick(s);
        if (status)
            return status;
    }
}

/* A run that goes on and waits for no other, NULL: there is none. Of those that are still to be forked it is the
 * earliest. */
static struct pct_process *find_first(struct pct_engine_state *s)
{
    struct pct_process *first = NULL;
    for (unsigned i = 0; i < s->used; i++) {
        struct pct_process *one = &s->place[i];
        if (one->running &&
            (!first || one->asked < first->asked || (one->asked == first->asked && one->index < first->index)))
            first = one;
    }
    return first;
}

static void kill_run(struct pct_engine *engine, struct pct_process *process, int signal)
{
    struct pct_engine_state *s = engine->state;
    struct pct_engine_doubt *doubt = pct_doubts_find(s, process);
    if (doubt) {
        pct_process_close(&doubt->process);
        pct_doubts_close(s, doubt);
        engine->undecided++;
    }
    pct_process_kill(process, signal);
    pct_process_close(process);
    pct_doubts_leave(s, (unsigned)(process - s->place));
    s->open--;
    engine->dropped++;
}

static void forget(struct pct_engine *engine, struct pct_engine_waiting *waiting)
{
    if (waiting->early)
        pct_ended_run_close(waiting->early);
    else
        pct_process_close(&waiting->process);
    free(waiting->early);
    waiting->early = NULL;
    waiting->valid = false;
    engine->state->open--;
    engine->dropped++;
}

void pct_engine_cancel(struct pct_engine *engine, uint64_t first, uint64_t last)
{
    struct pct_engine_state *s = engine->state;
    for (unsigned i = 0; i < s->used; i++)
        if (s->place[i].running && s->place[i].index >= first && s->place[i].index <= last)
            kill_run(engine, &s->place[i], SIGKILL);
    for (unsigned i = 0; i < s->waited; i++)
        if (s->waiting[i].valid && s->waiting[i].process.index >= first && s->waiting[i].process.index <= last)
            forget(engine, &s->waiting[i]);
    pct_doubts_forget(engine, first, last);
}

void pct_engine_hurry(struct pct_engine *engine, uint64_t index, double seconds)
{
    struct pct_engine_state *s = engine->state;
    for (unsigned i = 0; i < s->used; i++)
        if (s->place[i].running && s->place[i].index == index) {
            s->place[i].last = pct_cli_now() + seconds;
            pct_time_limit_set(&s->place[i]);
        }
}

/* End what still goes on, and forget what nobody looked at. Of many runs, none is worth waiting for. */
static void sweep(struct pct_engine *engine)
{
    struct pct_engine_state *s = engine->state;
    int signal = engine->single && engine->signal ? engine->signal : SIGKILL;
    for (struct pct_process *process; (process = find_first(s));)
        kill_run(engine, process, signal);
    for (unsigned i = 0; i < s->waited; i++)
        if (s->waiting[i].valid)
            forget(engine, &s->waiting[i]);
    pct_doubts_forget(engine, 0, UINT64_MAX);
}

static void close_state(struct pct_engine *engine)
{
    struct pct_engine_state *s = engine->state;
    for (unsigned i = 0; s && s->list && i < s->places; i++)
        pct_doubts_drop_list(&s->list[i]);
    if (s) {
        free(s->list);
        free(s->busy);
        if (s->place)
            munmap(s->place, s->map_size);
    }
    free(s);
    engine->state = NULL;
}

static bool open_state(struct pct_engine *engine, struct pct_run_source *source)
{
    struct pct_engine_state *s = engine->state = calloc(1, sizeof *s);
    if (!s)
        return false;
    engine->jobs = engine->jobs < JOBS_MAX ? engine->jobs : JOBS_MAX;
    s->source = source;
    s->places = PCT_ENGINE_PLACES * engine->jobs;
    s->room = engine->room ? engine->room : 2 * s->places + 2;
    s->busy = calloc(engine->jobs, sizeof *s->busy);
    s->map_size = s->places * sizeof *s->place + s->room * (sizeof *s->doubt + sizeof *s->waiting);
    void *map = mmap(NULL, s->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    s->place = map;
    s->doubt = (struct pct_engine_doubt *)(s->place + s->places);
    s->waiting = (struct pct_engine_waiting *)(s->doubt + s->room);
    return s->busy;
}

int pct_engine_run(struct pct_engine *engine, struct pct_run_source *source)
{
    enum pct_forking forking = engine->launch->forks.state;
    int status = open_state(engine, source) ? 0 : pct_cli_no_memory("");
    engine->signal = 0;
    engine->late = false;
    if (engine->exec)
        engine->launch->forks.state = PCT_FORKING_NO;
    if (!status) {
        status = loop(engine);
        sweep(engine);
    }
    if (engine->exec)
        engine->launch->forks.state = forking;
    close_state(engine);
    return status < 0 ? 0 : status;
}

/* --- One run ------------------------------------------------------------------------------------------------------ */

struct one {
    struct pct_run_source source;
    const struct pct_run_spec *spec; /* NULL: it was begun */
    struct pct_ended_run *run;
};

static int next_of_one(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct one *one = (struct one *)source;
    if (!one->spec)
        return PCT_RUNS_WAIT;
    *spec = *one->spec;
    one->spec = NULL;
    return PCT_RUNS_ON;
}

static int end_of_one(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct one *one = (struct one *)source;
    run->taken = true;
    *one->run = *run;
    return PCT_RUNS_ON;
}

int pct_engine_run_one(struct pct_engine *engine, const struct pct_run_spec *spec, struct pct_ended_run *run)
{
    struct one one = { .source = { .next = next_of_one, .ended = end_of_one }, .spec = spec, .run = run };
    engine->jobs = 1;
    return pct_engine_run(engine, &one.source);
}
