/* `pct script --all`: see all.h. ways.c says where the next run goes. Runs are looked at in the order in which they
 * were begun, and which is begun next depends on those that were looked at alone: with as many at a time, the same runs
 * are made in the same order, however long each takes. dpor.c can only say where the next one goes when the last one
 * was looked at: other workers make runs that will be wanted sometime, and those that are looked at are the same as
 * with one at a time. */
#include "all.h"
#include "slots.h"
#include "verdict.h"
#include "ways.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <cli/campaign/outcome.h>
#include <cli/campaign/signature.h>
#include <pct/random.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A run that is to be reported, when no other is under way: it will be repeated. */
struct report {
    struct report *next;
    struct pct_ended_run run;
    struct pct_script_channel *channel;
    uint64_t number; /* of the run, from 1 */
    bool failed;
    bool first; /* that fails */
};

struct search {
    struct pct_run_source source; /* first */
    struct pct_engine *engine;
    struct pct_script_runs *runs;
    unsigned jobs;
    struct pct_ways *ways;
    struct pct_dpor *dpor;    /* instead, with runs->dpor; */
    struct pct_dpor_way way;  /* the next one by that, */
    bool has_way;             /* if there is one */
    uint32_t wholes, assumes; /* of all runs: bit i: enum pct_script_whole i, enum pct_assumption i */
    uint64_t blocked;         /* runs of those done that tell nothing: a loop that waits has gone round; not those
                               * that pct_dpor_facts() counts */
    bool blind;               /* a run did more than its log tells */
    struct pct_slots slots;
    unsigned running;
    uint64_t done;                      /* runs that were looked at */
    uint64_t failed, unfit, assertions; /* of those done */
    uint64_t unsteady;                  /* the number of the first that made other choices than it was told; 0: none */
    bool enough;                        /* no more are wanted */
    double started, drawn;              /* seconds */
    uint64_t *finding;                  /* hashes of their signatures */
    size_t findings;
    struct report *reports;
};

/* --- The next run ------------------------------------------------------------------------------------------------- */

static void pick_way(struct search *s, const struct pct_dpor_way *way)
{
    struct pct_slot *slot = pct_slots_find(&s->slots, PCT_SLOT_FREE);
    slot->way = *way;
    slot->planned = way->count;
    pct_dpor_plan(s->dpor, way, slot->plan);
    pct_slots_take(&s->slots, slot);
}

/* Runs that were made ahead, and will not come. */
static void drop_ways(struct search *s)
{
    for (unsigned i = 0; i < s->slots.count; i++) {
        struct pct_slot *slot = &s->slots.slot[i];
        if (slot->state == PCT_SLOT_BEGUN && (!slot->over || pct_dpor_may_come(s->dpor, &slot->way)))
            continue;
        if (slot->state == PCT_SLOT_BEGUN)
            pct_engine_cancel(s->engine, slot->index, slot->index);
        slot->state = PCT_SLOT_FREE;
    }
}

/* The next way, and others that are guessed to come, as there are workers for them. One slot is left for the next. */
static void pick_ways(struct search *s)
{
    struct pct_dpor_way guess[64];
    drop_ways(s);
    if (s->has_way && !pct_slots_of_way(&s->slots, &s->way))
        pick_way(s, &s->way);
    uint32_t count = s->jobs > 1 ? pct_dpor_guess(s->dpor, guess, sizeof guess / sizeof *guess) : 0;
    for (uint32_t i = 0; i < count && pct_slots_open_runs(&s->slots, true) < s->jobs &&
                         pct_slots_open_runs(&s->slots, false) + 1 < s->slots.count;
         i++)
        if (!pct_slots_of_way(&s->slots, &guess[i]))
            pick_way(s, &guess[i]);
}

static void pick(struct search *s)
{
    const struct pct_script_runs *runs = s->runs;
    if (s->dpor) {
        pick_ways(s);
        return;
    }
    struct pct_slot *slot;
    while ((slot = pct_slots_find(&s->slots, PCT_SLOT_FREE)) && (!runs->limit || s->slots.picked < runs->limit) &&
           pct_ways_next(s->ways, slot->plan, &slot->planned))
        pct_slots_take(&s->slots, slot);
}

/* With --all=dpor: the run that is looked at next. */
static uint64_t turn(const struct pct_run_source *source)
{
    const struct search *s = (const struct search *)source;
    const struct pct_slot *slot = s->has_way ? pct_slots_of_way(&s->slots, &s->way) : NULL;
    return slot ? slot->index : UINT64_MAX;
}

static int report(struct search *s);

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct search *s = (struct search *)source;
    struct pct_script_runs *runs = s->runs;
    int status = s->reports && !s->running ? report(s) : 0;
    if (status)
        return status;
    struct pct_slot *slot = pct_slots_find(&s->slots, PCT_SLOT_PICKED);
    if (s->reports || !slot)
        return PCT_RUNS_WAIT;
    struct pct_script_file *file = &runs->file[spec->worker];
    struct pct_script_channel *c = file->channel;
    pct_script_channel_reset(c);
    c->planned = slot->planned;
    c->avoid = slot->way.avoid;
    c->bound = runs->bound;
    c->seed = runs->order == PCT_WAYS_RANDOM
                  ? pct_random(runs->campaign->config.run.seed, PCT_STREAM_CHOOSE, slot->index)
                  : 0;
    memcpy(pct_script_plan(c), slot->plan, slot->planned * sizeof *slot->plan);
    pct_campaign_make_spec(runs->campaign, 0, spec);
    spec->index = file->index = slot->index;
    spec->channel = file->path;
    file->hurried = false;
    slot->state = PCT_SLOT_BEGUN;
    s->running++;
    return PCT_RUNS_ON;
}

/* Both are of one size. */
static void copy_channel(struct pct_script_channel *to, struct pct_script_channel *from)
{
    *to = *from;
    pct_script_settle(to);
    memcpy(pct_script_choices(to), pct_script_choices(from), from->choices * sizeof *pct_script_choices(to));
    memcpy(pct_script_notes(to), pct_script_notes(from), from->notes * sizeof *pct_script_notes(to));
    uint32_t others = from->other_notes < PCT_SCRIPT_NOTES ? from->other_notes : PCT_SCRIPT_NOTES;
    memcpy(pct_script_other_notes(to), pct_script_other_notes(from), others * sizeof *pct_script_other_notes(to));
    uint32_t switches = from->switches < PCT_SCRIPT_SWITCHES ? from->switches : PCT_SCRIPT_SWITCHES;
    memcpy(pct_script_switches(to), pct_script_switches(from), switches * sizeof *pct_script_switches(to));
    if (from->log)
        memcpy(pct_script_log(to), pct_script_log(from), pct_channel_size(0, pct_script_log(from)->log_count));
}

/* The worker's next run has the same channel. */
static void over(struct pct_run_source *source, const struct pct_process *process)
{
    struct search *s = (struct search *)source;
    struct pct_slot *slot = pct_slots_of(&s->slots, process->index);
    s->running--;
    if (!slot)
        return;
    slot->over = true;
    copy_channel(slot->channel, s->runs->file[process->worker].channel);
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */

/* Note the failure. *fresh: it is none that was found before. */
static int add_finding(struct search *s, const struct pct_ended_run *run, bool *fresh)
{
    struct pct_signature signature;
    if (pct_signature_make(&signature, &run->process, &run->result))
        return pct_cli_no_memory("");
    uint64_t hash = signature.hash;
    pct_signature_free(&signature);
    *fresh = true;
    for (size_t i = 0; i < s->findings && *fresh; i++)
        *fresh = s->finding[i] != hash;
    if (!*fresh)
        return 0;
    uint64_t *finding = realloc(s->finding, (s->findings + 1) * sizeof *finding);
    if (!finding)
        return pct_cli_no_memory("");
    s->finding = finding;
    finding[s->findings++] = hash;
    return 0;
}

/* Have the run reported; it takes the channel of its slot with it. */
static int put_report(struct search *s, struct pct_slot *slot, struct pct_ended_run *run, bool failed)
{
    struct report **last = &s->reports, *one = malloc(sizeof *one);
    struct pct_script_channel *other = calloc(1, s->runs->file[0].size);
    if (!one || !other) {
        free(one);
        free(other);
        return pct_cli_no_memory("");
    }
    *one = (struct report){
        .run = *run, .channel = slot->channel, .number = s->done, .failed = failed, .first = s->failed == 1
    };
    slot->channel = other;
    run->taken = true;
    while (*last)
        last = &(*last)->next;
    *last = one;
    return 0;
}

static void free_report(struct report *one)
{
    pct_ended_run_close(&one->run);
    free(one->channel);
    free(one);
}

/* Which way each choice went: 2 of 3, ... */
static void say_choices(struct pct_script_channel *c)
{
    enum { MOST = 20 };
    char text[1024] = "";
    const struct pct_script_choice *choice = pct_script_choices(c);
    for (uint32_t i = 0, at = 0; i < c->choices && i < MOST; i++) {
        char whose[32] = "";
        if (choice[i].process)
            snprintf(whose, sizeof whose, "process %u: ", choice[i].process);
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s%u of %u", i ? ", " : "", whose,
                                 choice[i].chosen + 1, choice[i].of);
    }
    if (c->choices)
        pct_cli_say("choices: %s%s", text, c->choices > MOST ? ", ..." : "");
}

/* The next choice of the first process is to be this one. */
static void put_planned(struct pct_script_channel *c, struct pct_script_choice choice)
{
    choice.number = c->planned;
    pct_script_plan(c)[c->planned++] = choice;
}

/* The program has failed, also without the script where that is no failure itself. */
static bool has_failed(const struct pct_script_runs *runs, const struct pct_script_channel *c,
                       const struct pct_result *result)
{
    return pct_script_has_failed(runs, c, result) && (runs->ok_unfit || c->said.outcome != PCT_SCRIPT_DID_NOT_FIT);
}

/* With --all=dpor: the run that is to be reported again, by its choices and without a log, as `pct replay` makes it: it
 * has other accesses to memory as steps. Returns 0 or an exit status. */
static int make_without_log(struct search *s, struct report *one)
{
    static struct pct_ended_run again; /* large */
    struct pct_script_runs *runs = s->runs;
    struct pct_script_file *file = &runs->file[0];
    struct pct_script_channel *c = file->channel;
    struct pct_engine engine = { .launch = &runs->campaign->launch, .quiet = true, .exec = true };
    struct pct_run_spec spec = { 0 };
    uint64_t log = c->log;
    pct_script_channel_reset(c);
    c->planned = 0;
    c->avoid = c->log = 0;
    for (uint32_t i = 0; i < one->channel->choices; i++)
        if (pct_script_choices(one->channel)[i].kind != PCT_SCRIPT_CHOICE_TURNS_END)
            put_planned(c, pct_script_choices(one->channel)[i]);
    pct_campaign_make_spec(runs->campaign, 0, &spec);
    spec.index = UINT64_MAX;
    spec.channel = file->path;
    int status = pct_engine_run_one(&engine, &spec, &again);
    c->log = log;
    if (status)
        return status;
    uint32_t outcome = one->channel->said.outcome;
    copy_channel(one->channel, c); /* from here on it says of all processes and choices, as before */
    pct_ended_run_close(&one->run);
    one->run = again;
    bool failed = one->failed;
    one->failed = has_failed(runs, one->channel, &again.result);
    if (one->channel->said.outcome != outcome || failed != one->failed)
        pct_cli_say("run %llu went another way when it was made again", (unsigned long long)one->number);
    if (one->first)
        pct_script_keep_trace(runs, c, &again);
    return 0;
}

static int report(struct search *s)
{
    struct pct_script_runs *runs = s->runs;
    int status = 0;
    for (struct report *one; (one = s->reports) && status <= 0;) {
        status = s->dpor && one->channel->said.outcome != PCT_SCRIPT_WRONG ? make_without_log(s, one) : 0;
        if (status)
            break;
        char ending[256];
        pct_outcome_format(ending, sizeof ending, &one->run.process, &one->run.result);
        pct_status_line_clear(runs->quiet);
        if (!runs->quiet || one->channel->said.outcome == PCT_SCRIPT_WRONG)
            pct_cli_say("run %llu:", (unsigned long long)one->number);
        if (!runs->quiet)
            say_choices(one->channel);
        pct_script_say(runs, one->channel, one->failed, ending);
        status = one->channel->said.outcome == PCT_SCRIPT_WRONG
                     ? PCT_EXIT_USAGE
                     : pct_script_repeat(runs, one->channel, &one->run.result, one->failed);
        s->reports = one->next;
        free_report(one);
    }
    return status > 0 ? status : 0;
}

static int look_at(struct search *s, struct pct_slot *slot, struct pct_ended_run *run)
{
    struct pct_script_runs *runs = s->runs;
    const struct pct_script_channel *c = slot->channel;
    bool assertion = c->said.outcome == PCT_SCRIPT_ASSERTION, fresh = false;
    bool failed = has_failed(runs, c, &run->result);
    s->done++;
    s->unfit += pct_script_is_unfit(c, failed);
    s->assertions += assertion;
    s->failed += failed || assertion;
    if (!s->dpor && s->failed == 1 && (failed || assertion))
        pct_script_keep_trace(runs, slot->channel, run);
    int status = failed ? add_finding(s, run, &fresh) : 0;
    if (!status && (fresh || (assertion && s->assertions == 1) || c->said.outcome == PCT_SCRIPT_WRONG))
        status = put_report(s, slot, run, failed);
    s->enough = (runs->first && s->failed) || s->done == runs->limit || c->said.outcome == PCT_SCRIPT_WRONG;
    return status;
}

/* For --all=dpor: what the run has done that speaks against leaving anything out. Returns as pct_dpor_add(). */
static int add_logged(struct search *s, const struct pct_slot *slot, const struct pct_ended_run *run)
{
    const struct pct_trace *trace = &run->result.trace;
    const struct pct_trace_header *header = &trace->header;
    const struct pct_channel *log = pct_script_log(slot->channel);
    bool waits = run->result.ending == PCT_ENDING_LIVELOCK && log->awaited;
    bool over = header->verdict == PCT_VERDICT_EXIT || run->result.ending == PCT_ENDING_DEADLOCK || waits;
    s->wholes |= slot->channel->wholes;
    s->assumes |= log->assumes;
    s->blind |= log->began != 1 || header->images || run->result.children || header->passed_over || header->first ||
                header->recorded < header->steps || run->result.state != PCT_TRACE_GOOD;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        s->blind |= header->uncontrolled[i] && !pct_name_is_aside(i);
    return pct_dpor_add(s->dpor, slot->channel, trace->records, trace->count, over);
}

/* Whether it was ended in a loop that waits for memory, as another run is without that round (sched/await.h). */
static bool tells_nothing(const struct search *s, const struct pct_slot *slot, const struct pct_ended_run *run)
{
    return s->dpor && run->result.ending == PCT_ENDING_LIVELOCK &&
           pct_script_log(slot->channel)->awaited == PCT_AWAITED_BLOCKED;
}

static int pass_over(struct search *s, bool counted)
{
    s->done++;
    s->blocked += !counted;
    s->enough = s->done == s->runs->limit;
    return 0;
}

/* Several processes make their choices in an order of their own: put those that were planned where the plan has them.
 * One that a process was killed over has no ways: nothing is known from there on. */
static void arrange(const struct pct_slot *slot)
{
    struct pct_script_choice *made = pct_script_choices(slot->channel);
    uint32_t count = 0;
    while (count < slot->channel->choices && made[count].of)
        count++;
    slot->channel->choices = count;
    for (uint32_t i = 0; i < slot->planned; i++) {
        uint32_t at = i;
        while (at < count && (made[at].process != slot->plan[i].process || made[at].number != slot->plan[i].number))
            at++;
        if (at == count)
            return; /* pct_ways_add() says so */
        struct pct_script_choice found = made[at];
        memmove(&made[i + 1], &made[i], (at - i) * sizeof *made);
        made[i] = found;
    }
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct search *s = (struct search *)source;
    struct pct_slot *slot = pct_slots_of(&s->slots, run->process.index);
    arrange(slot);
    if (pct_outcome_is_void(&run->result))
        return pct_outcome_explain(&s->runs->campaign->launch, &run->process, &run->result);
    uint64_t redundant = s->dpor ? pct_dpor_facts(s->dpor)->redundant : 0;
    /* Its choices: the report may take the channel away. */
    int added = s->dpor ? add_logged(s, slot, run)
                        : pct_ways_add(s->ways, slot->plan, slot->planned, pct_script_choices(slot->channel),
                                       slot->channel->choices);
    if (added == -ENOMEM)
        return pct_cli_no_memory("");
    bool counted = s->dpor && pct_dpor_facts(s->dpor)->redundant > redundant;
    int status = tells_nothing(s, slot, run) ? pass_over(s, counted) : look_at(s, slot, run);
    if (added && !s->unsteady)
        s->unsteady = s->done;
    s->enough |= added && s->dpor;
    if (status)
        return status;
    slot->state = PCT_SLOT_FREE;
    if (s->dpor && !s->enough)
        s->has_way = pct_dpor_next(s->dpor, &s->way);
    pick(s);
    return s->enough ? PCT_RUNS_ENOUGH : 0;
}

static int tick(struct pct_run_source *source)
{
    struct search *s = (struct search *)source;
    bool terminal = pct_status_line_obeys();
    pct_script_hurry(s->runs, s->engine);
    if (s->runs->quiet || !s->done || !pct_status_line_is_due(terminal, s->started, &s->drawn))
        return 0;
    char line[256], left[64];
    double seconds = pct_cli_now() - s->started, rate = (double)s->done / seconds;
    if (s->dpor) {
        snprintf(line, sizeof line, "%llu runs, %.*f/s, %llu fail", (unsigned long long)s->done, rate < 10, rate,
                 (unsigned long long)s->failed);
        pct_status_line_put(terminal, line);
        return 0;
    }
    double share = pct_ways_share(s->ways);
    double rest = share > 0 ? seconds * (1 - share) / share : 0;
    if (s->runs->limit && (double)(s->runs->limit - s->done) / rate < rest)
        rest = (double)(s->runs->limit - s->done) / rate;
    snprintf(line, sizeof line, "%llu runs, %.*f/s, %llu fail, about %.3g %% of the ways, %s left",
             (unsigned long long)s->done, rate < 10, rate, (unsigned long long)s->failed, 100 * share,
             pct_cli_format_duration(left, sizeof left, rest));
    pct_status_line_put(terminal, line);
    return 0;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static const char *const wholes[] = {
#define TEXT(id, text) text,
    PCT_SCRIPT_WHOLES(TEXT)
};

static const char *const doubts[] = { PCT_DOUBTS(TEXT) };

static const char *const assumptions[] = { PCT_ASSUMPTIONS(TEXT)
#undef TEXT
};

/* Add the texts of these bits, with this in between. */
static void add_texts(char *to, size_t size, uint32_t bits, const char *const text[], const char *between)
{
    for (size_t i = 0, at = strlen(to); bits >> i && at < size; i++)
        if (bits >> i & 1)
            at += (size_t)snprintf(to + at, size - at, "%s%s", at ? between : "", text[i]);
}

/* With --all=dpor: what may have been left out wrongly, "": nothing that is known. */
static void list_doubts(const struct search *s, char *to, size_t size)
{
    const struct pct_dpor_facts *facts = pct_dpor_facts(s->dpor);
    *to = 0;
    add_texts(to, size, facts->doubts, doubts, "; ");
    if (facts->unknown)
        snprintf(to + strlen(to), size - strlen(to), "%san unknown operation (%s)", *to ? "; " : "",
                 pct_name_op(facts->unknown - 1));
    if (facts->loops)
        snprintf(to + strlen(to), size - strlen(to),
                 "%sa loop that waits for memory beside the turns of an interleave (name its thread there, or take "
                 "--all)",
                 *to ? "; " : "");
    if (s->blind)
        snprintf(to + strlen(to), size - strlen(to), "%schild processes, signal handlers, or what pct does not control",
                 *to ? "; " : "");
}

/* How much of the choices --all=dpor has left out, and what that holds by. */
static void say_left_out(const struct search *s, const char *doubt)
{
    char text[1024] = "";
    const struct pct_dpor_facts *facts = pct_dpor_facts(s->dpor);
    add_texts(text, sizeof text, s->wholes, wholes, "; ");
    if (*text)
        pct_cli_say("all were tried of the choices %s", text);
    if (*doubt) {
        pct_cli_say("what was left out may differ from what was run, because of: %s", doubt);
        return;
    }
    snprintf(text, sizeof text, "code that tells nothing of its accesses (libraries) shares memory by calls alone");
    add_texts(text, sizeof text, s->assumes | (facts->pieces ? 1u << PCT_ASSUMES_PIECES : 0), assumptions, ", and ");
    if (!s->runs->quiet)
        pct_cli_say("what was left out differs from what was run in the order of steps that commute, if %s", text);
}

/* Whether there are ways that no run that was looked at has gone. */
static bool is_open(struct search *s)
{
    if (!s->dpor)
        return s->slots.picked > s->done || pct_ways_next(s->ways, s->slots.slot->plan, &s->slots.slot->planned);
    return s->enough ? pct_dpor_next(s->dpor, &s->way) : s->has_way;
}

static int say_end(struct search *s)
{
    unsigned long long done = s->done, unfit = s->unfit, failed = s->failed;
    bool open = s->unsteady || is_open(s);
    char text[256], seed[64] = "", like[64] = "", doubt[1024] = "";
    bool left_out = s->dpor && !s->unsteady;
    if (left_out)
        list_doubts(s, doubt, sizeof doubt);
    bool unsure = s->unsteady || *doubt || (unfit && unfit == done && !s->runs->ok_unfit);
    int status = failed ? 1 : unsure ? PCT_EXIT_DID_NOT_FIT : 0;
    if (s->ways && s->runs->order == PCT_WAYS_RANDOM && open)
        snprintf(seed, sizeof seed, " (seed %llu)", (unsigned long long)s->runs->campaign->config.run.seed);
    uint64_t others = s->dpor ? pct_dpor_facts(s->dpor)->redundant + s->blocked : 0;
    if (others)
        snprintf(like, sizeof like, " (%llu of them like others)", (unsigned long long)others);
    snprintf(text, sizeof text, "%llu run%s%s, %s choices made%s%s; %llu fail%s, %llu did not fit", done,
             done == 1 ? "" : "s", like, open ? "not all" : "all", s->dpor ? " but for what commutes" : "", seed,
             failed, failed == 1 ? "s" : "", unfit);
    pct_status_line_clear(s->runs->quiet);
    pct_cli_say("%s: %s", s->runs->name, text);
    if (left_out)
        say_left_out(s, doubt);
    if (s->unsteady)
        pct_cli_say("run %llu was to begin with the choices of an earlier one, and made others: what the program does "
                    "depends on more than its schedule, so not all choices can be tried",
                    (unsigned long long)s->unsteady);
    if (s->runs->outcome)
        pct_cli_say("%s%s",
                    failed   ? PCT_SCRIPT_SAYS_FAILS
                    : status ? PCT_SCRIPT_SAYS_DID_NOT_FIT
                             : PCT_SCRIPT_SAYS_PASSES,
                    text);
    return status;
}

enum { AHEAD = 16 }; /* runs of --all=dpor that are kept, for each worker */

static bool open_search(struct search *s)
{
    struct pct_script_runs *runs = s->runs;
    if (runs->dpor)
        s->dpor = pct_dpor_new();
    else
        s->ways = pct_ways_new(runs->order, runs->campaign->config.run.seed);
    return (s->ways || s->dpor) &&
           pct_slots_make(&s->slots, s->dpor && s->jobs > 1 ? AHEAD * s->jobs : s->jobs, runs->file[0].size);
}

static void close_search(struct search *s)
{
    for (struct report *one; (one = s->reports);) {
        s->reports = one->next;
        free_report(one);
    }
    pct_ways_free(s->ways);
    pct_dpor_free(s->dpor);
    pct_slots_free(&s->slots);
    free(s->finding);
}

int pct_script_all(struct pct_script_runs *runs)
{
    struct search s = { .source = { .next = next, .over = over, .ended = ended, .tick = tick },
                        .runs = runs,
                        .jobs = runs->campaign->jobs,
                        .started = pct_cli_now() };
    struct pct_engine engine = {
        .launch = &runs->campaign->launch, .jobs = s.jobs, .exec = true, .quiet = runs->quiet
    };
    int status = open_search(&s) ? 0 : pct_cli_no_memory("");
    s.engine = &engine;
    engine.room = s.slots.count;
    s.source.turn = s.dpor ? turn : NULL;
    if (!status) {
        s.has_way = s.dpor && pct_dpor_next(s.dpor, &s.way);
        pick(&s);
        status = pct_engine_run(&engine, &s.source);
        int reported = status && !engine.signal ? 0 : report(&s); /* also of what was found before we were stopped */
        status = status ? status : reported;
        if (!status || engine.signal) {
            int end = say_end(&s);
            status = status ? status : end;
        }
    }
    close_search(&s);
    return status;
}
