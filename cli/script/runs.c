/* The runs of a script: see script.h. Depth first over the choices of the script: a run is told the first of them, and
 * says which others it made, the first way of each; the next run goes another way at the last one that has one left. */
#include "script.h"
#include <cli/base/cli.h>
#include <cli/campaign/outcome.h>
#include <cli/campaign/signature.h>
#include <stdlib.h>
#include <string.h>

struct finding {
    uint64_t hash, count;
    char title[512];
};

struct search {
    struct pct_run_source source; /* first */
    struct pct_script_runs *runs;
    bool under_way, enough;
    bool more;                                /* ways that were not gone */
    uint64_t done, failed, unfit, assertions; /* runs */
    int status;                               /* of the only run */
    char ending[256];                         /* likewise */
    struct finding *finding;
    size_t findings;
};

/* --- What came of a run ------------------------------------------------------------------------------------------- */

/* Why the script did not come to its end; the program has not failed. */
static const char *why_unfit(const struct pct_script_channel *c)
{
    return c->outcome == PCT_SCRIPT_DID_NOT_FIT ? c->message
           : c->outcome == PCT_SCRIPT_UNDER_WAY
               ? "the program has ended"
               : "the program has not begun any thread, nor made a call that pct knows";
}

/* Where the script stood, and what it wants there. */
static void say_wish(const struct pct_script_runs *runs)
{
    const struct pct_script_channel *c = runs->file.channel;
    if (c->wish[0])
        pct_cli_say("%s:%u: did not fit: the script wants %s, but %s", runs->name, c->line, c->wish, why_unfit(c));
    else
        pct_cli_say("%s: did not fit: %s", runs->name, why_unfit(c));
}

static void say_outcome(const struct pct_script_runs *runs, bool failed, const char *ending)
{
    const struct pct_script_channel *c = runs->file.channel;
    switch (c->outcome) {
    case PCT_SCRIPT_ENDED:
        pct_cli_say("%s: ended after %llu steps; the program: %s", runs->name, (unsigned long long)c->step, ending);
        break;
    case PCT_SCRIPT_DID_NOT_FIT:
        say_wish(runs);
        break;
    case PCT_SCRIPT_ASSERTION:
        pct_cli_say("%s:%u: assertion of the script: %s", runs->name, c->line, c->message);
        break;
    case PCT_SCRIPT_WRONG:
        pct_cli_say("%s:%u: %s", runs->name, c->line, c->message);
        break;
    case PCT_SCRIPT_UNDER_WAY:
        if (failed)
            pct_cli_say("%s: came to line %u; the program: %s", runs->name, c->line, ending);
        else
            say_wish(runs);
        break;
    default:
        say_wish(runs);
    }
    if (failed && c->outcome != PCT_SCRIPT_ENDED && c->outcome != PCT_SCRIPT_UNDER_WAY)
        pct_cli_say("the program, without the script from there on: %s", ending);
}

/* The threads have begun, and could not do what the script says. */
static bool is_unfit(const struct pct_script_channel *c, bool failed)
{
    return c->outcome == PCT_SCRIPT_DID_NOT_FIT || (c->outcome == PCT_SCRIPT_UNDER_WAY && !failed);
}

static int status_of(const struct pct_script_runs *runs, bool failed, const struct pct_result *result)
{
    const struct pct_script_channel *c = runs->file.channel;
    bool waits = c->outcome == PCT_SCRIPT_UNDER_WAY && result->ending == PCT_ENDING_LIVELOCK; /* has_failed() */
    if (runs->ok_unfit && is_unfit(c, failed) && !waits)
        return failed ? result->code : 0;
    switch (c->outcome) {
    case PCT_SCRIPT_ENDED:
        return failed ? result->code : 0;
    case PCT_SCRIPT_ASSERTION:
        return PCT_EXIT_SCRIPT_ASSERTION;
    case PCT_SCRIPT_WRONG:
        return PCT_EXIT_USAGE;
    case PCT_SCRIPT_UNDER_WAY:
        return failed ? result->code : PCT_EXIT_DID_NOT_FIT;
    default:
        return PCT_EXIT_DID_NOT_FIT;
    }
}

/* A run whose threads only spin while the script keeps from going on whom they wait for has not failed. */
static bool has_failed(const struct pct_script_runs *runs, const struct pct_result *result)
{
    bool waits = runs->file.channel->outcome == PCT_SCRIPT_UNDER_WAY;
    return pct_result_fails(result, runs->campaign->ok) && !(waits && result->ending == PCT_ENDING_LIVELOCK);
}

/* --- Its token ---------------------------------------------------------------------------------------------------- */

/* Make the run again, by its schedule and without the script. Fills in `again`, to be closed; its header has the token.
 * 0: it was the same run; -1: it was not, or its schedule is too long for a token, after a message; or an exit status.
 */
static int repeat(struct pct_script_runs *runs, const struct pct_result *result, struct pct_ended_run *again)
{
    struct pct_launch *launch = &runs->campaign->launch;
    struct pct_engine engine = { .launch = launch, .quiet = true, .exec = true };
    struct pct_run_spec spec = { .index = UINT64_MAX };
    char token[PCT_TOKEN_MAX], error[256], with[sizeof launch->library_path];
    if (!pct_script_token(runs->file.channel, &result->trace, token, sizeof token)) {
        pct_cli_say("its schedule is too long for a token; --trace keeps it in a file, which `pct replay` follows");
        return -1;
    }
    if (pct_run_spec_parse(&spec, token, error, sizeof error))
        return pct_cli_usage("%s", error);
    memcpy(with, launch->library_path, sizeof with);
    memcpy(launch->library_path, runs->bare, sizeof with);
    int status = pct_engine_run_one(&engine, &spec, again);
    memcpy(launch->library_path, with, sizeof with);
    if (status)
        return status;
    if (again->result.trace.header.hash == result->trace.header.hash)
        return 0;
    pct_cli_say("a run by the same schedule, without the script, was another one: what the program does depends on "
                "more than its schedule");
    pct_ended_run_close(again);
    return -1;
}

static void say_token(struct pct_script_runs *runs, struct pct_ended_run *again, bool failed)
{
    if (failed)
        pct_outcome_report(&again->process, &again->result);
    if (!runs->quiet || failed)
        pct_outcome_print_replay(&runs->campaign->launch, &again->process, &again->result);
    pct_ended_run_close(again);
}

static void keep_trace(const struct pct_script_runs *runs, const struct pct_result *result)
{
    char error[256];
    if (runs->keep && pct_trace_save(&result->trace, runs->keep, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", runs->keep, error);
}

/* The only run. */
static int classify_one(struct search *s, struct pct_ended_run *run)
{
    static struct pct_ended_run again; /* large */
    struct pct_script_runs *runs = s->runs;
    bool failed = has_failed(runs, &run->result);
    pct_outcome_format(s->ending, sizeof s->ending, &run->process, &run->result);
    fflush(stdout);
    s->status = status_of(runs, failed, &run->result);
    bool unfit = is_unfit(runs->file.channel, failed);
    s->unfit = (unfit && !(runs->ok_unfit && failed)) || runs->file.channel->outcome == PCT_SCRIPT_NEVER;
    if (s->status || !runs->quiet || unfit)
        say_outcome(runs, failed, s->ending);
    keep_trace(runs, &run->result);
    if (s->status == PCT_EXIT_USAGE)
        return PCT_RUNS_ENOUGH;
    int status = repeat(runs, &run->result, &again);
    if (!status)
        say_token(runs, &again, failed);
    else if (failed)
        pct_outcome_report(&run->process, &run->result);
    return status > 0 ? status : PCT_RUNS_ENOUGH;
}

/* --- All ways ----------------------------------------------------------------------------------------------------- */

/* The choices of the next run. False: there is none. */
static bool go_another_way(struct pct_script_channel *c)
{
    struct pct_script_choice *choices = pct_script_choices(c);
    while (c->choices && choices[c->choices - 1].chosen + 1 >= choices[c->choices - 1].of)
        c->choices--;
    if (!c->choices)
        return false;
    choices[c->choices - 1].chosen++;
    c->planned = c->choices;
    return true;
}

/* Note the failure. *fresh: it is none that was found before. */
static int add_finding(struct search *s, const struct pct_ended_run *run, bool *fresh)
{
    struct pct_signature signature;
    if (pct_signature_make(&signature, &run->process, &run->result))
        return pct_cli_no_memory("");
    *fresh = true;
    for (size_t i = 0; i < s->findings && *fresh; i++)
        if (s->finding[i].hash == signature.hash) {
            s->finding[i].count++;
            *fresh = false;
        }
    struct finding *finding = *fresh ? realloc(s->finding, (s->findings + 1) * sizeof *finding) : s->finding;
    if (finding && *fresh) {
        s->finding = finding;
        finding[s->findings] = (struct finding){ .hash = signature.hash, .count = 1 };
        snprintf(finding[s->findings++].title, sizeof finding->title, "%s", signature.title);
    }
    pct_signature_free(&signature);
    return finding ? 0 : pct_cli_no_memory("");
}

static int classify_each(struct search *s, struct pct_ended_run *run)
{
    static struct pct_ended_run again; /* large */
    struct pct_script_runs *runs = s->runs;
    const struct pct_script_channel *c = runs->file.channel;
    bool assertion = c->outcome == PCT_SCRIPT_ASSERTION, fresh = false;
    bool failed = has_failed(runs, &run->result) && c->outcome != PCT_SCRIPT_DID_NOT_FIT;
    s->done++;
    s->unfit += is_unfit(c, failed);
    s->assertions += assertion;
    s->failed += failed || assertion;
    int status = failed ? add_finding(s, run, &fresh) : 0;
    if (!status && (fresh || (assertion && s->assertions == 1) || c->outcome == PCT_SCRIPT_WRONG)) {
        char ending[256];
        pct_outcome_format(ending, sizeof ending, &run->process, &run->result);
        if (!runs->quiet || c->outcome == PCT_SCRIPT_WRONG)
            pct_cli_say("run %llu:", (unsigned long long)s->done);
        say_outcome(runs, failed, ending);
        if (s->failed == 1)
            keep_trace(runs, &run->result);
        if (c->outcome == PCT_SCRIPT_WRONG)
            return PCT_EXIT_USAGE;
        status = repeat(runs, &run->result, &again);
        if (!status)
            say_token(runs, &again, failed);
    }
    s->enough = (runs->first && s->failed) || (runs->limit && s->done >= runs->limit);
    return status > 0 ? status : 0;
}

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct search *s = (struct search *)source;
    struct pct_script_runs *runs = s->runs;
    struct pct_script_channel *c = runs->file.channel;
    if (s->under_way || s->enough)
        return PCT_RUNS_WAIT;
    c->began = c->outcome = c->line = c->choices = c->notes = c->switches = 0;
    c->wish[0] = c->message[0] = 0;
    s->under_way = true;
    pct_campaign_make_spec(runs->campaign, 0, spec);
    spec->index = s->done;
    spec->channel = runs->file.path;
    return PCT_RUNS_ON;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct search *s = (struct search *)source;
    const struct pct_launch *launch = &s->runs->campaign->launch;
    s->under_way = false;
    if (pct_outcome_is_void(&run->result))
        return pct_outcome_explain(launch, &run->process, &run->result);
    if (!s->runs->all)
        return classify_one(s, run);
    int status = classify_each(s, run);
    if (!status && !s->enough && !go_another_way(s->runs->file.channel))
        s->enough = true;
    else if (!status && s->enough)
        s->more = go_another_way(s->runs->file.channel);
    return status;
}

static int say_all(const struct search *s)
{
    unsigned long long done = s->done, unfit = s->unfit;
    const char *end = s->more ? "not all choices made" : "all choices made";
    char text[128];
    int status = s->failed ? 1 : unfit && unfit == done && !s->runs->ok_unfit ? PCT_EXIT_DID_NOT_FIT : 0;
    snprintf(text, sizeof text, "%llu run%s, %s; %llu fail%s, %llu did not fit", done, done == 1 ? "" : "s", end,
             (unsigned long long)s->failed, s->failed == 1 ? "s" : "", unfit);
    pct_cli_say("%s: %s", s->runs->name, text);
    if (s->runs->outcome)
        pct_cli_say("%s%s",
                    s->failed ? PCT_SCRIPT_SAYS_FAILS
                    : status  ? PCT_SCRIPT_SAYS_DID_NOT_FIT
                              : PCT_SCRIPT_SAYS_PASSES,
                    text);
    return status;
}

/* What came of the only run, for PCT_SCRIPT_OUTCOME_OPTION. */
static void say_result(const struct search *s)
{
    const struct pct_script_channel *c = s->runs->file.channel;
    const char *says = s->status ? PCT_SCRIPT_SAYS_DID_NOT_FIT : PCT_SCRIPT_SAYS_PASSES;
    if (s->unfit && c->wish[0])
        pct_cli_say("%scannot go on at line %u: the script wants %s, but %s", says, c->line, c->wish, why_unfit(c));
    else if (s->unfit)
        pct_cli_say("%scannot go on: %s", says, why_unfit(c));
    else if (!s->status)
        pct_cli_say("%sthe script ended after %llu steps", says, (unsigned long long)c->step);
    else if (c->outcome == PCT_SCRIPT_ASSERTION)
        pct_cli_say(PCT_SCRIPT_SAYS_FAILS "assertion of the script in line %u: %s", c->line, c->message);
    else if (c->outcome != PCT_SCRIPT_WRONG)
        pct_cli_say(PCT_SCRIPT_SAYS_FAILS "%s", s->ending);
}

int pct_script_runs_make(struct pct_script_runs *runs)
{
    struct search search = { .source = { .next = next, .ended = ended }, .runs = runs };
    struct pct_engine engine = { .launch = &runs->campaign->launch,
                                 .jobs = 1,
                                 .room = 1,
                                 .exec = true,
                                 .pass = !runs->all,
                                 .single = !runs->all,
                                 .quiet = true };
    int status = pct_engine_run(&engine, &search.source);
    if (!status) {
        status = runs->all ? say_all(&search) : search.status;
        if (runs->outcome && !runs->all)
            say_result(&search);
    }
    free(search.finding);
    return status;
}
