/* What the runs of a campaign of the strategy maple cost beside those of the default: directed RUNS -- COMMAND...
 * A campaign of maple says which runs these are; then its profile runs are made again, as often as it takes for RUNS,
 * those that force an iRoot likewise, and RUNS of the default, in turn. What the command learns from runs is not in it.
 * Prints of each the microseconds of processor time of a run, and of real time; then of RUNS of a campaign, with all
 * that it learns:
 *
 *     default 1100 1300
 *     profile 1150 1350
 *     directed 1000 1200
 *     campaign 1300 1400
 */
#include "measure.h"
#include <argp.h>
#include <cli/base/cli.h>
#include <cli/campaign/directed_state.h>
#include <cli/command/configure.h>
#include <cli/process/options.h>
#include <pct/strategy.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT = 5, LEARN = 200 /* runs of the campaign that says which runs there are */ };
enum { PROFILE, DIRECTED, SORTS };

struct which {
    uint64_t seed;
    uint32_t order;
    char *list; /* NULL: it is a profile run */
};

static struct {
    struct pct_campaign_observer observer; /* first */
    struct pct_launch launch;              /* as the words say */
    struct pct_run_options schedules;
    bool ok[256];
    uint64_t runs;
    struct which known[SORTS][LEARN]; /* of the campaign */
    size_t count[SORTS];
    int sort;           /* that is made; -1: none of these */
    double began, used; /* when the first run did, and the processor time until then */
} d;

/* The processor time of all that has ended here, in microseconds. */
static double used(void)
{
    double us = 0;
    struct rusage usage;
    const int those[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
    for (unsigned i = 0; i < 2; i++)
        if (!getrusage(those[i], &usage))
            us += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return us;
}

static int next(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_run_spec *spec)
{
    (void)observer, (void)c;
    if (!spec->index) { /* this process is another one for each campaign: pct_launch_prepare() */
        d.began = real_ns();
        d.used = used();
    }
    if (d.sort < 0)
        return PCT_RUNS_ON;
    const struct which *which = &d.known[d.sort][spec->index % d.count[d.sort]];
    spec->config.run.seed = which->seed;
    spec->config.run.param[pct_cli_strategy_parameter(spec->strategy, "order")] = which->order;
    spec->list = which->list;
    return PCT_RUNS_ON;
}

/* Keep what the runs of this campaign were. */
static bool keep(const struct pct_directed *directed)
{
    for (uint64_t i = 0; i < directed->decided; i++) {
        const struct pct_directed_run *run = &directed->run[i];
        const int sort = run->list ? DIRECTED : PROFILE;
        struct which which = { run->seed, run->order, run->list ? strdup(run->list) : NULL };
        if (run->list && !which.list)
            return false;
        d.known[sort][d.count[sort]++] = which;
    }
    return true;
}

/* One campaign of these: by maple, or by default. learns: what it knows decides its runs. */
static int campaign(uint64_t runs, bool maple, bool learns, bool keeps)
{
    static struct pct_campaign c; /* large */
    struct pct_run_options schedules = d.schedules;
    bool drawn;
    c = (struct pct_campaign){ .launch = d.launch, .jobs = 1, .stride = 1, .runs = runs, .ok[0] = true };
    schedules.strategy = maple ? "maple" : NULL;
    schedules.seed = "1";
    int status = pct_configure(&c, &schedules, &drawn);
    if (status)
        return status;
    d.observer = (struct pct_campaign_observer){ .next = next };
    c.observer = &d.observer;
    c.keep_going = true;
    c.launch.sites = maple ? "calls" : NULL;
    pct_forking_plan(&c.launch, true, false, c.config.strategy);
    status = learns ? pct_directed_begin(&c) : 0;
    if (!status)
        status = pct_launch_prepare(&c.launch);
    if (!status)
        status = pct_campaign_run(&c);
    if (!status && keeps && !keep(c.directed))
        status = pct_cli_no_memory("");
    pct_campaign_close(&c);
    pct_launch_finish(&c.launch);
    return status;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &d.launch;
        state->child_inputs[1] = &d.schedules;
        state->child_inputs[2] = d.ok;
        return 0;
    }
    if (key == ARGP_KEY_ARG && !d.runs) {
        d.runs = pct_options_number(state, "RUNS", argument, 1, 1000000);
        return 0;
    }
    return pct_options_parse_command(key, state, &d.launch, state->name);
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = { PCT_CONFIGURE_CHILDREN, { 0 } };
    static const struct argp argp = { .parser = parse, .children = children };
    static const struct {
        const char *name;
        int sort;
        bool maple, learns;
    } ways[] = { { "default", -1, false, false },
                 { "profile", PROFILE, true, false },
                 { "directed", DIRECTED, true, false },
                 { "campaign", -1, true, true } };
    enum { WAYS = sizeof ways / sizeof *ways };
    double cpu[WAYS][REPEAT], real[WAYS][REPEAT];
    d.sort = -1;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
    int status = campaign(LEARN, true, true, true);
    for (unsigned i = 0; i < REPEAT && !status; i++)
        for (unsigned way = 0; way < WAYS && !status; way++) {
            d.sort = ways[way].sort;
            status = d.sort < 0 || d.count[d.sort] ? campaign(d.runs, ways[way].maple, ways[way].learns, false) : 1;
            cpu[way][i] = (used() - d.used) / (double)d.runs;
            real[way][i] = (real_ns() - d.began) / 1e3 / (double)d.runs;
        }
    for (unsigned way = 0; way < WAYS && !status; way++)
        printf("%s %.1f %.1f\n", ways[way].name, median(cpu[way], REPEAT), median(real[way], REPEAT));
    for (int sort = 0; sort < SORTS; sort++)
        for (size_t i = 0; i < d.count[sort]; i++)
            free(d.known[sort][i].list);
    return status;
}
