/* What a clean campaign is worth: see guarantee_report.h. */
#include "guarantee_report.h"
#include "guarantee_left_out.h"
#include <common/text.h>
#include <math.h>
#include <stdarg.h>
#include <strategies/depth_param.h>
#include <strategies/strategies.h>
#include <string.h>

/* What is more probable than this is printed as 1: nothing is known. */
#define LEAST_SAID 0.9999

/* --- Words -------------------------------------------------------------------------------------------------------- */

const char *pct_guarantee_report_format_miss(char *buffer, size_t size, double log_miss)
{
    double miss = exp(log_miss);
    if (log_miss < -99 * M_LN10)
        snprintf(buffer, size, "1e-99");
    else if (miss < 0.1) {
        /* Two digits: what %.1e prints rounds to the nearest, so add half of the last one before. */
        double unit = pow(10, floor(log10(miss)) - 1);
        snprintf(buffer, size, "%.2g", ceil(miss / unit - 1e-9) * unit);
    } else if (miss <= 0.99)
        snprintf(buffer, size, "%.2f", ceil(miss * 100 - 1e-9) / 100);
    else if (miss <= LEAST_SAID)
        snprintf(buffer, size, "%.4f", ceil(miss * 10000 - 1e-9) / 10000);
    else
        snprintf(buffer, size, "1");
    return buffer;
}

/* The value of a strategy's parameter; `otherwise` if it has none of this name. */
static uint64_t parameter(const struct pct_campaign *c, const char *name, uint64_t otherwise)
{
    for (int i = 0; c->strategy->params && i < PCT_MAX_PARAMS && c->strategy->params[i].name; i++)
        if (!strcmp(c->strategy->params[i].name, name))
            return c->config.run.param[i];
    return otherwise;
}

/* --- Whether the theorem applies ---------------------------------------------------------------------------------- */

/* Each run may be of another strategy. */
static bool is_mixed(const struct pct_campaign *c)
{
    return c->strategy == &pct_strategy_portfolio || c->strategy == &pct_strategy_mixture;
}

/* Whether theorem 9 speaks of the run of this seed: runs of a portfolio or a mixture are those of a member. */
static bool is_pct(const struct pct_campaign *c, uint64_t seed)
{
    return !is_mixed(c) || pct_strategy_member(c->strategy, seed) == &pct_strategy_pct;
}

/* One run in this many has no final wait; 0: all. */
static uint32_t end_inverse(const struct pct_campaign *c)
{
    bool waits = c->left && parameter(c, "final", 1) && c->config.end == PCT_END_DRAWN;
    return waits ? PCT_DRAWN_ENDS / PCT_DRAWN_FREE : 0;
}

/* One run in this many has no slack: there deadlines come in their order; 0: all, or it makes no difference. That the
 * runs themselves decide between these is sound: where none met a deadline, all would have been the same without slack;
 * where some did, the campaign is clean only if its runs without slack are. */
static uint32_t slack_inverse(const struct pct_campaign *c)
{
    return c->deadlines && c->config.slack ? PCT_SLACK_INVERSE : 0;
}

static void see_most(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

static void see_counts(struct pct_campaign *c, const struct pct_guarantee_report_run *run)
{
    see_most(&c->choices, run->choices);
    see_most(&c->left, run->left);
    see_most(&c->deadlines, run->deadlines);
    see_most(&c->fixed_deadlines, run->fixed_deadlines);
    see_most(&c->passed_over, run->passed_over);
    see_most(&c->randoms, run->randoms);
}

void pct_guarantee_report_add_run(struct pct_campaign *c, const struct pct_guarantee_report_run *run)
{
    if (!run->complete) {
        c->incomplete++;
        return;
    }
    see_counts(c, run);
    if (c->k < 0 || c->depth < 0)
        return;
    struct pct_guarantee_run added = { .threads = run->threads,
                                       .k = run->k,
                                       .depth = (uint32_t)run->depth,
                                       .spins = run->spins,
                                       .spin_inverse = parameter(c, "spin", PCT_GUARANTEE_SPIN_INVERSE),
                                       .end_inverse = end_inverse(c),
                                       .slack_inverse = slack_inverse(c) };
    if (is_pct(c, run->seed))
        pct_guarantee_add(&c->guarantee, &added, run->steps);
    else
        pct_guarantee_see(&c->guarantee, &added, run->steps);
}

void pct_guarantee_report_see_run(struct pct_campaign *c, uint64_t steps, uint32_t threads, uint64_t spins)
{
    struct pct_guarantee_run run = { .threads = threads,
                                     .spins = spins,
                                     .spin_inverse = parameter(c, "spin", PCT_GUARANTEE_SPIN_INVERSE),
                                     .end_inverse = end_inverse(c),
                                     .slack_inverse = slack_inverse(c) };
    pct_guarantee_see(&c->guarantee, &run, steps);
}

void pct_guarantee_report_see_directed_run(struct pct_campaign *c, uint64_t steps, uint32_t threads, uint64_t spins)
{
    see_most(&c->directed_steps, steps);
    see_most(&c->directed_spins, spins);
    pct_guarantee_report_see_run(c, 0, threads, 0);
}

/* What its trace says of a run. */
static struct pct_guarantee_report_run run_of(const struct pct_trace *trace, uint64_t steps, uint32_t threads)
{
    const struct pct_trace_header *header = &trace->header;
    return (struct pct_guarantee_report_run){ .seed = header->seed,
                                              .steps = steps,
                                              .spins = header->spins,
                                              .choices = header->choices,
                                              .left = header->left,
                                              .deadlines = header->deadlines,
                                              .fixed_deadlines = header->fixed_deadlines,
                                              .passed_over = header->passed_over,
                                              .randoms = header->randoms,
                                              .threads = threads };
}

void pct_guarantee_report_see(struct pct_campaign *c, const struct pct_trace *trace, uint64_t steps, uint32_t threads,
                              bool directed)
{
    const struct pct_guarantee_report_run run = run_of(trace, steps, threads);
    see_counts(c, &run);
    (directed ? pct_guarantee_report_see_directed_run : pct_guarantee_report_see_run)(c, steps, threads, run.spins);
}

void pct_guarantee_report_add(struct pct_campaign *c, const struct pct_result *result, uint64_t depth, uint64_t steps,
                              uint32_t threads)
{
    struct pct_guarantee_report_run run = run_of(&result->trace, steps, threads);
    run.depth = depth;
    run.k = c->k < 0 ? 0 : c->config.run.param[c->k];
    run.complete = pct_result_is_whole(result);
    pct_guarantee_report_add_run(c, &run);
}

__attribute__((format(printf, 3, 4))) static const char *write_reason(char *buffer, size_t size, const char *format,
                                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, size, format, arguments);
    va_end(arguments);
    return buffer;
}

/* What the options and the strategy have to do with it. */
static const char *doubt_options(const struct pct_campaign *c, char *buffer, size_t size)
{
    if ((strcmp(c->strategy->name, pct_strategy_pct.name) && !is_mixed(c)) || strchr(c->config.strategy, '/'))
        return write_reason(buffer, size, "the strategy %s has no guarantee; --strategy pct has one",
                            c->strategy->name);
    if (is_mixed(c) && c->confidence > 0)
        return write_reason(buffer, size, "only the runs of pct count; with --strategy pct all do");
    if (!c->config.run.param[c->depth] && c->confidence > 0)
        return write_reason(buffer, size, "depth=auto names no depth to be sure of; --depth does");
    if (parameter(c, "later", 0) || parameter(c, "earlier", 0))
        return write_reason(buffer, size, "later= and earlier= leave some steps without change points");
    if (c->left && parameter(c, "final", 1) && c->config.end != PCT_END_DRAWN && c->config.end != PCT_END_FREE)
        return write_reason(buffer, size,
                            "threads lived on when the process ended, and with this end= it always waits for them; "
                            "end=drawn and end=free do not");
    if (parameter(c, "phases", 0))
        return write_reason(buffer, size, "with phases it holds within each phase only");
    if (c->config.real_time)
        return write_reason(buffer, size, "in real time the schedule does not decide when sleeps end");
    if (c->config.still && c->config.slack)
        return write_reason(buffer, size,
                            "with time=still all runs have slack: in none do deadlines come in their order");
    if (c->config.sample)
        return write_reason(buffer, size, "with --memory-sample each run has points of its own");
    if (c->locks_inline)
        return write_reason(
            buffer, size,
            "the program implements its own locks, and taking one is no scheduling point without --memory=atomics");
    if (c->uncontrolled[PCT_UNCONTROLLED_UNSEEN])
        return write_reason(buffer, size, "--races had nothing to look at: no memory access was seen");
    if (c->launch.aslr)
        return write_reason(buffer, size, "--aslr leaves the addresses to chance");
    if (c->launch.random)
        return write_reason(buffer, size,
                            "the addresses are left to chance: this system does not let that be turned off");
    return NULL;
}

const char *pct_guarantee_report_doubt(const struct pct_campaign *c, char *buffer, size_t size)
{
    const struct pct_guarantee *g = &c->guarantee;
    char count[32];
    if (c->found)
        return write_reason(buffer, size, "pct explore has found a failure of this program");
    if (c->exploring.unrepeated || *c->exploring.token)
        return write_reason(buffer, size, "an explored run has failed");
    if (c->open)
        return write_reason(buffer, size, "it was interrupted, and runs that were cut, or failed, do not count yet");
    if (doubt_options(c, buffer, size))
        return buffer;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        if (c->uncontrolled[i] && !pct_name_is_blind(i))
            return write_reason(buffer, size, "not all was controlled by pct: %s %s",
                                pct_guarantee_left_out_count(count, sizeof count, c->uncontrolled[i]),
                                pct_name_uncontrolled_of(i, c->uncontrolled[i]));
    if (c->hardware)
        return write_reason(
            buffer, size,
            "the program reads the processor's clock or random numbers itself (rdtsc, rdrand; such instructions: %s), "
            "which pct does not control",
            pct_guarantee_left_out_count(count, sizeof count, c->hardware));
    if (g->threads >= PCT_MAX_THREADS)
        return write_reason(
            buffer, size, "more than 32,767 threads came and went, so ids, and with them priorities, were used again%s",
            c->config.races ? "; races with an earlier thread of the same id are missed" : "");
    if (c->images_open)
        return write_reason(buffer, size,
                            "the process was another program before, by exec, that had threads, or did what pct does "
                            "not control");
    if (c->incomplete)
        return write_reason(buffer, size, "%s of the runs are not recorded whole",
                            pct_guarantee_left_out_count(count, sizeof count, c->incomplete));
    if (c->differs)
        return write_reason(buffer, size,
                            "the first run, repeated, took other steps: something besides the schedule decides, or "
                            "its input, or a library, has changed");
    if (is_mixed(c) && g->steps && !g->added)
        return write_reason(
            buffer, size,
            "none of these runs of the %s was one of pct, which alone has a guarantee; of more runs one in %s is, with "
            "--strategy pct all are",
            c->strategy->name, c->strategy == &pct_strategy_mixture ? "five" : "six");
    if (!c->learns && g->added && !pct_guarantee_counted(g))
        return write_reason(buffer, size, "a run took %s steps, more than the k that was %s",
                            pct_guarantee_left_out_count(count, sizeof count, g->steps),
                            c->calibrated ? "measured before the first one; -k gives a larger one" : "given");
    return NULL;
}

/* --- What it says ------------------------------------------------------------------------------------------------- */

/* The deepest bugs that runs may find. */
static uint32_t depth_of(const struct pct_campaign *c)
{
    uint64_t depth = c->config.run.param[c->depth];
    return depth ? (uint32_t)depth : PCT_DEEPEST_DRAWN;
}

/* Depths to speak of: nobody reads a list of 64. */
static bool is_shown(const struct pct_campaign *c, uint32_t bug)
{
    return bug <= 4 || bug == depth_of(c);
}

/* The next run, at worst. */
static struct pct_guarantee_run next_run(const struct pct_campaign *c, uint32_t depth)
{
    return (struct pct_guarantee_run){ .threads = c->guarantee.threads,
                                       .k = c->config.run.param[c->k],
                                       .depth = depth,
                                       .spins = c->guarantee.spins,
                                       .spin_inverse = c->guarantee.spin_inverse,
                                       .end_inverse = c->guarantee.end_inverse,
                                       .slack_inverse = c->guarantee.slack_inverse };
}

uint64_t pct_guarantee_report_runs(const struct pct_campaign *c)
{
    struct pct_guarantee_run run = next_run(c, depth_of(c));
    uint64_t missing = pct_guarantee_missing(&c->guarantee, &run, run.depth, c->confidence);
    return missing > UINT64_MAX - c->done ? UINT64_MAX : c->done + missing;
}

uint64_t pct_guarantee_report_total(const struct pct_campaign *c)
{
    const struct pct_guarantee none = { 0 };
    struct pct_guarantee_run run = next_run(c, depth_of(c));
    return pct_guarantee_missing(&none, &run, run.depth, c->confidence);
}

bool pct_guarantee_report_reached(const struct pct_campaign *c)
{
    char reason[256];
    if (!(c->confidence > 0))
        return true;
    return !pct_guarantee_report_doubt(c, reason, sizeof reason) &&
           pct_guarantee_log_miss(&c->guarantee, depth_of(c)) <= log1p(-c->confidence);
}

/* "27,790 runs, about 24 s" */
static void print_price(FILE *out, uint64_t runs, double pace)
{
    char count[32], time[64];
    const char *s = runs == 1 ? "" : "s";
    if (runs == UINT64_MAX)
        fputs("more than 10^18 runs", out);
    else if (!(pace > 0)) /* nobody knows yet */
        fprintf(out, "%s run%s", pct_guarantee_left_out_count(count, sizeof count, runs), s);
    else
        fprintf(out, "%s run%s, about %s", pct_guarantee_left_out_count(count, sizeof count, runs), s,
                pct_cli_format_duration(time, sizeof time, (double)runs / pace));
}

/* Seconds of a campaign that nobody makes. */
#define SOMEDAY (30 * 24 * 3600.0)

/* What would make the shallowest depth that is not yet sure so. */
static void print_advice(FILE *out, const struct pct_campaign *c)
{
    const struct pct_guarantee none = { 0 };
    /* One thread has one schedule: more runs are nothing new. */
    for (uint32_t bug = 1; bug <= depth_of(c) && c->guarantee.threads != 1; bug++) {
        if (pct_guarantee_log_miss(&c->guarantee, bug) <= log(0.01) || !(c->seconds > 0))
            continue;
        struct pct_guarantee_run run = next_run(c, bug);
        if (run.k < c->guarantee.steps)
            run.k = c->guarantee.steps;
        uint64_t runs = pct_guarantee_missing(&none, &run, bug, 0.99);
        const char *strategy = is_mixed(c) ? "--strategy pct " : "";
        if ((double)runs > SOMEDAY * (double)c->done / c->seconds) {
            fprintf(out, "pct: to be 99 %% sure of depth %u takes ", bug);
            print_price(out, runs, (double)c->done / c->seconds);
            fputs(": fewer with a smaller input, or fewer threads\n", out);
            return;
        }
        /* Runs of another configuration do not go into the same file. */
        const char *fresh = c->kept && (is_mixed(c) || c->config.run.param[c->depth] != bug) ? "--fresh " : "";
        fprintf(out, "pct: to be 99 %% sure of depth %u: %s%s--depth %u --confidence 0.99, ", bug, fresh, strategy,
                bug);
        print_price(out, runs, (double)c->done / c->seconds);
        fputc('\n', out);
        if (bug <= 2 && !is_mixed(c) && c->points_at == PCT_POINTS_AT_MEMORY)
            fputs("pct: many of these points are accesses to memory, and the bound is for all of them: --strategy pos "
                  "has none, "
                  "and often finds sooner what lies between two of them\n",
                  out);
        return;
    }
}

static void print_depths(FILE *out, const struct pct_campaign *c, const struct pct_guarantee *g)
{
    char miss[32];
    for (uint32_t bug = 1; bug <= depth_of(c); bug++)
        if (is_shown(c, bug)) {
            pct_guarantee_report_format_miss(miss, sizeof miss, pct_guarantee_log_miss(g, bug));
            /* Of what is deeper than one of which nothing is known, nothing is known either. */
            if (!strcmp(miss, "1") && bug > 1) {
                fprintf(out, "; of deeper ones nothing is sure");
                return;
            }
            fprintf(out,
                    bug == 1 ? "a bug of depth %u would have been missed with probability at most %s"
                             : "; depth %u: %s",
                    bug, miss);
        }
}

/* What all this means where threads wait with deadlines. */
static void print_deadlines(FILE *out, const struct pct_campaign *c)
{
    struct pct_guarantee early = c->guarantee;
    char time[32];
    struct pct_text text;
    if (c->guarantee.slack_inverse) {
        /* The other runs have slack, and of the coins that one wait needs, one in this many. */
        uint32_t without = c->guarantee.slack_inverse;
        early.slack_inverse = without * PCT_SLACK_COINS / (without - 1);
        pct_text_init(&text, time, sizeof time);
        pct_config_add_slack(&text, c->config.slack);
        fprintf(
            out,
            "pct: that is with all sleeps and time-outs in the order of their deadlines, as in one run of %u (--slack)."
            "\npct: if one of them has to end earlier, by up to %s: ",
            without, time);
        print_depths(out, c, &early);
        fputc('\n', out);
    } else if (c->deadlines) {
        fputs("pct: sleeps and time-outs ended in the order of their deadlines: a bug that needs one to end earlier is "
              "not "
              "among these (--slack)\n",
              out);
    }
    pct_guarantee_left_out_print_deadlines(out, c);
}

/* Of a campaign that is kept, the calibration repeats it, unless its runs were cut. */
static bool is_unrepeated(const struct pct_campaign *c)
{
    return c->unrepeated || (c->kept && !*c->origin.token);
}

static void print_unrepeated(FILE *out, const struct pct_campaign *c)
{
    if (is_unrepeated(c))
        fprintf(out, "pct: the first run was not repeated%s: whether the schedule decides all is not known\n",
                c->kept ? "" : " at the end");
}

static void print_guarantee(FILE *out, const struct pct_campaign *c)
{
    const struct pct_guarantee *g = &c->guarantee;
    char count[32], other[32];
    uint64_t counted = pct_guarantee_counted(g);
    if (g->threads == 1) {
        bool open = c->deadlines || c->fixed_deadlines || pct_guarantee_left_out_draws(c) || is_unrepeated(c);
        fprintf(out, "pct: n = 1 thread, which has one schedule%s\n", open ? "" : ": nothing was missed");
        if (c->deadlines)
            fputs("pct: sleeps and time-outs ended at their deadlines: a bug that needs one to end later is not among "
                  "these\n",
                  out);
        pct_guarantee_left_out_print_deadlines(out, c);
        pct_guarantee_left_out_print_draws(out, c);
        print_unrepeated(out, c);
        return;
    }
    /* That of the configuration may be of the next run, and larger than that of some that count. */
    const uint64_t k = pct_guarantee_least_k(g);
    fprintf(out, "pct: n = %u threads, k = %s points, ", g->threads,
            pct_guarantee_left_out_count(count, sizeof count, k ? k : c->config.run.param[c->k]));
    fprintf(out, "%s run%s: ", pct_guarantee_left_out_count(count, sizeof count, counted), counted == 1 ? "" : "s");
    bool excludes = pct_guarantee_log_miss(g, 1) <= log(LEAST_SAID);
    if (excludes)
        print_depths(out, c, g);
    else
        fputs("too few to make any bug improbable", out);
    fputs(c->config.run.param[c->depth] ? " (PCT, theorem 9)\n"
                                        : " (PCT, theorem 9; the depth is drawn for each run)\n",
          out);
    if (excludes) {
        print_deadlines(out, c);
        pct_guarantee_left_out_print(out, c);
    }
    if (is_mixed(c))
        fprintf(out, "pct: %s of %s runs are those of pct, which alone has a guarantee\n",
                pct_guarantee_left_out_count(count, sizeof count, g->added),
                pct_guarantee_left_out_count(other, sizeof other, c->done - c->other.runs));
    if (counted < g->added)
        fprintf(out, "pct: %s of %s runs count: in the others k was below the %llu steps that the longest took\n",
                pct_guarantee_left_out_count(count, sizeof count, counted),
                pct_guarantee_left_out_count(other, sizeof other, g->added), (unsigned long long)g->steps);
    if (g->end_inverse)
        fprintf(out,
                "pct: threads lived on when the process ended: only the runs in which it does not wait for them count, "
                "one in %u\n",
                g->end_inverse);
    if (g->spins && g->spin_inverse)
        fprintf(out,
                "pct: the bound is lower for threads that yield, sleep, poll or fail a try, up to %s times in a run\n",
                pct_guarantee_left_out_count(count, sizeof count, g->spins));
    print_unrepeated(out, c);
}

void pct_guarantee_report_print_plan(FILE *out, const struct pct_campaign *c, uint64_t runs)
{
    char count[32];
    fprintf(out, "pct: confidence %g for bugs of depth %u takes %s run%s (n = %u, k = %s)\n", c->confidence,
            depth_of(c), pct_guarantee_left_out_count(count, sizeof count, runs), runs == 1 ? "" : "s",
            c->guarantee.threads, pct_guarantee_left_out_count((char[32]){ 0 }, 32, c->config.run.param[c->k]));
}

/* --confidence asked for more than there is. */
static void print_unaffordable(FILE *out, const struct pct_campaign *c)
{
    char count[32], miss[64];
    uint32_t depth = depth_of(c);
    uint64_t runs = c->limit;
    fprintf(out, "pct: not affordable: confidence %g for bugs of depth %u takes ", c->confidence, depth);
    print_price(out, c->price, c->pace);
    fprintf(out, " (n = %u, k = %s)\n", c->guarantee.threads,
            pct_guarantee_left_out_count(count, sizeof count, c->config.run.param[c->k]));
    fprintf(out, "pct: affordable: ");
    print_price(out, runs, c->pace);
    for (uint32_t bug = depth; bug; bug--) {
        if (!is_shown(c, bug))
            continue;
        struct pct_guarantee_run run = next_run(c, bug);
        double log_miss = (double)runs * log1p(-pct_guarantee_hit(&run, bug));
        fprintf(out, "%s with --depth %u they miss a bug of depth %u with probability at most %s",
                bug == depth ? ":" : ";", bug, bug, pct_guarantee_report_format_miss(miss, sizeof miss, log_miss));
    }
    fputc('\n', out);
}

void pct_guarantee_report_print_shortfall(FILE *out, const struct pct_campaign *c)
{
    char reason[256], miss[32];
    const char *doubt = pct_guarantee_report_doubt(c, reason, sizeof reason);
    if (c->unaffordable && !doubt)
        print_unaffordable(out, c);
    else if (doubt)
        fprintf(out, "pct: confidence %g was not reached: %s\n", c->confidence, doubt);
    else
        fprintf(
            out, "pct: confidence %g was not reached: bugs of depth %u are missed with probability at most %s\n",
            c->confidence, depth_of(c),
            pct_guarantee_report_format_miss(miss, sizeof miss, pct_guarantee_log_miss(&c->guarantee, depth_of(c))));
}

void pct_guarantee_report_print(FILE *out, const struct pct_campaign *c, bool quiet)
{
    char reason[256];
    const char *doubt = pct_guarantee_report_doubt(c, reason, sizeof reason);
    if (c->unaffordable && !doubt) {
        print_unaffordable(out, c);
        return;
    }
    char count[32];
    if (!quiet)
        pct_exploring_print(out, c);
    if (c->exploring.whole) /* there is nothing left that the runs may have missed */
        return;
    if (c->other.runs && !quiet)
        fprintf(out,
                "pct: %s of these runs had other scheduling points than the rest, and do not count for the guarantee "
                "(--memory-points=shared, or --memory=off: none has)\n",
                pct_guarantee_left_out_count(count, sizeof count, c->other.runs));
    if (doubt) {
        if (!quiet || c->confidence > 0)
            fprintf(out, "pct: no guarantee about the bugs that these runs may have missed: %s\n", doubt);
        return;
    }
    if (!quiet)
        print_guarantee(out, c);
    if (!pct_guarantee_report_reached(c))
        pct_guarantee_report_print_shortfall(out, c);
    else if (!quiet && !(c->confidence > 0))
        print_advice(out, c);
}
