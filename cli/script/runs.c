/* The one run of a script: see script.h. */
#include "all.h"
#include "verdict.h"
#include <cli/base/cli.h>
#include <cli/campaign/outcome.h>

struct one {
    struct pct_run_source source; /* first */
    struct pct_script_runs *runs;
    struct pct_engine *engine;
    bool begun, unfit;
    int status;
    char ending[256];
};

static int status_of(const struct pct_script_runs *runs, const struct pct_script_channel *c, bool failed,
                     const struct pct_result *result)
{
    if (runs->ok_unfit && pct_script_is_unfit(c, failed) && !pct_script_only_waits(c, result))
        return failed ? result->code : 0;
    switch (c->said.outcome) {
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

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct one *one = (struct one *)source;
    struct pct_script_runs *runs = one->runs;
    if (one->begun)
        return PCT_RUNS_WAIT;
    one->begun = true;
    pct_campaign_make_spec(runs->campaign, 0, spec);
    spec->channel = runs->file[0].path;
    return PCT_RUNS_ON;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct one *one = (struct one *)source;
    struct pct_script_runs *runs = one->runs;
    struct pct_script_channel *c = runs->file[0].channel;
    if (pct_outcome_is_void(&run->result))
        return pct_outcome_explain(&runs->campaign->launch, &run->process, &run->result);
    pct_script_settle(c);
    bool failed = pct_script_has_failed(runs, c, &run->result), unfit = pct_script_is_unfit(c, failed);
    pct_outcome_format(one->ending, sizeof one->ending, &run->process, &run->result);
    fflush(stdout);
    one->status = status_of(runs, c, failed, &run->result);
    one->unfit = (unfit && !(runs->ok_unfit && failed)) || c->said.outcome == PCT_SCRIPT_NEVER;
    if (one->status || !runs->quiet || unfit)
        pct_script_say(runs, c, failed, one->ending);
    if (pct_script_went_on(runs, c, &run->result))
        pct_cli_say("the program went on without the script, and was ended");
    pct_script_keep_trace(runs, c, run);
    if (c->said.outcome == PCT_SCRIPT_WRONG || pct_script_went_on(runs, c, &run->result))
        return PCT_RUNS_ENOUGH;
    int status = pct_script_repeat(runs, c, &run->result, failed);
    if (status && failed)
        pct_outcome_report(&run->process, &run->result);
    return status > 0 ? status : PCT_RUNS_ENOUGH;
}

static int tick(struct pct_run_source *source)
{
    const struct one *one = (const struct one *)source;
    pct_script_hurry(one->runs, one->engine);
    return 0;
}

/* What came of it, for PCT_SCRIPT_OUTCOME_OPTION. */
static void say_result(const struct one *one)
{
    const struct pct_script_channel *c = one->runs->file[0].channel;
    const char *says = one->status ? PCT_SCRIPT_SAYS_DID_NOT_FIT : PCT_SCRIPT_SAYS_PASSES;
    if (one->unfit && c->said.awaited[0])
        pct_cli_say("%scannot go on at line %u: the script wants %s, but %s", says, c->said.line, c->said.awaited,
                    pct_script_why_unfit(c, one->ending));
    else if (one->unfit)
        pct_cli_say("%scannot go on: %s", says, pct_script_why_unfit(c, one->ending));
    else if (!one->status)
        pct_cli_say("%sthe script ended after %s", says, pct_script_steps(c));
    else if (c->said.outcome == PCT_SCRIPT_ASSERTION)
        pct_cli_say(PCT_SCRIPT_SAYS_FAILS "assertion of the script in line %u: %s", c->said.line, c->said.message);
    else if (c->said.outcome != PCT_SCRIPT_WRONG)
        pct_cli_say(PCT_SCRIPT_SAYS_FAILS "%s", one->ending);
}

/* Somebody has ended the run. */
static void say_interrupted(const struct pct_script_runs *runs)
{
    struct pct_script_channel *c = runs->file[0].channel;
    pct_script_settle(c);
    if (c->said.outcome == PCT_SCRIPT_ENDED)
        pct_cli_say("interrupted: %s had ended after %s, and the program went on", runs->name, pct_script_steps(c));
    else if (c->said.outcome != PCT_SCRIPT_NEVER)
        pct_cli_say("%sinterrupted at %s:%u, where the script wants %s", pct_script_speaker(c), runs->name,
                    c->said.line, c->said.awaited);
    else
        pct_cli_say("interrupted: %s had not begun", runs->name);
}

int pct_script_runs_make(struct pct_script_runs *runs)
{
    if (runs->all)
        return pct_script_all(runs);
    struct one one = { .source = { .next = next, .ended = ended, .tick = tick }, .runs = runs };
    struct pct_engine engine = { .launch = &runs->campaign->launch,
                                 .jobs = 1,
                                 .room = 1,
                                 .exec = true,
                                 .pass = true,
                                 .single = true,
                                 .quiet = true };
    one.engine = &engine;
    int status = pct_engine_run(&engine, &one.source);
    if (status > 128)
        say_interrupted(runs);
    runs->made = !status;
    if (!status && runs->outcome)
        say_result(&one);
    return status ? status : one.status;
}
