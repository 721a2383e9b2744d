/* --explore: see explore_first.h. */
#include "explore_first.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "subcommand.h"
#include <cli/binary/elf_facts.h>
#include <cli/explore/explorer.h>
#include <cli/process/input.h>
#include <cli/process/options.h>
#include <unistd.h>

enum { PROBES = 1000, PART = 10 };

/* Of an exploration within a campaign: whatever its runs take, it ends after so long. */
#define SECONDS_A_RUN 0.1
#define SECONDS_AT_LEAST 10.0

/* What decides which schedules are made: then it is not for pct explore to. */
static const char *find_choice(const struct pct_run_options *s)
{
    return s->strategy    ? "--strategy"
           : s->seed      ? "--seed"
           : s->depth     ? "--depth"
           : s->points    ? "--points"
           : s->time      ? "--time"
           : s->races     ? "--races"
           : s->focus     ? "--focus"
           : s->watch     ? "--watch"
           : s->functions ? "--functions"
           : s->sample    ? "--memory-sample"
           : s->spurious  ? "--spurious"
                          : NULL;
}

/* What the campaign has, too. */
static void print_program(FILE *out, const struct pct_explore_first *f, double seconds)
{
    fprintf(out, "--budget=%g --jobs=%u ", seconds, f->campaign->jobs ? f->campaign->jobs : 1);
    pct_options_print(out, &f->campaign->launch, NULL, true);
    if (f->campaign->launch.no_environment) /* it writes the trace that is kept */
        fputs("--no-environment ", out);
    pct_options_print_ok_status(out, f->campaign->ok);
    pct_options_print_word(out, "--expect", f->oracle ? f->oracle->expect : NULL);
    pct_options_print_word(out, "--oracle", f->oracle ? f->oracle->command : NULL);
    pct_configure_print(out, f->schedules);
    fputs("-- ", out);
    pct_cli_print_command(out, f->campaign->launch.command);
}

/* Of an exploration for this many seconds; or, if afford is more than 0, of an estimate, whether it would end in as
 * many. */
static void print_options(FILE *out, const struct pct_explore_first *f, double seconds, double afford)
{
    if (f->quiet)
        fputs("-q ", out);
    if (afford > 0)
        fprintf(out, "--estimate=%d --afford=%g ", PROBES, afford);
    else
        fprintf(out, "--tell-whole %s", f->resumes ? "--resume " : "");
    pct_options_print_word(out, "--db", afford > 0 ? NULL : f->path);
    pct_options_print_word(out, "--trace", afford > 0 ? NULL : f->trace);
    print_program(out, f, seconds);
}

/* Run it; what it says on standard error is *said, to be freed. Returns 0, or an exit status after a message. */
static int run(struct pct_explore_first *f, const char *text, char **said)
{
    int failed = pct_subcommand_read(text, said, &f->status);
    return failed == -EINVAL   ? pct_cli_usage("--explore: the options cannot be handed on")
           : failed == -ENOMEM ? pct_cli_no_memory("")
           : failed            ? pct_cli_usage("--explore: pct explore could not be started")
                               : 0;
}

/* The same, with the options for it. */
static int run_for(struct pct_explore_first *f, double seconds, double afford, char **said)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return pct_cli_no_memory("");
    fputs("explore ", out);
    print_options(out, f, seconds, afford);
    int failed = fclose(out) ? pct_cli_no_memory("") : run(f, text, said);
    free(text);
    return failed;
}

static bool is_whole(const struct pct_explore_first *f)
{
    return f->status <= 1;
}

/* It was interrupted, or not to be run: the reason is said. */
static bool is_over(const struct pct_explore_first *f)
{
    return f->status > 1 && f->status != PCT_EXIT_CONFIDENCE && f->status != PCT_EXPLORER_FOUND_SOME &&
           f->status != PCT_EXPLORER_TOO_MANY;
}

/* Once more, for the rest of the time. A failure that was found before, as *said tells, is not forgotten: the search
 * may not have come to it. */
static int explore_rest(struct pct_explore_first *f, double seconds, bool found, char **said)
{
    char *before = *said;
    *said = NULL;
    int failed = run_for(f, seconds, 0, said);
    if (!failed && found && f->status != 1 && f->status != PCT_EXPLORER_FOUND_SOME && !is_over(f)) {
        if (!f->status)
            pct_cli_say("a failure did not come again: runs depend on more than the schedule");
        free(*said);
        *said = before;
        f->status = PCT_EXPLORER_FOUND_SOME;
        return 0;
    }
    free(before);
    return failed;
}

/* A tenth of the time explores most programs that can be explored at all. If it did not, another tenth says whether the
 * rest of it could. *said: what the last of these has said. */
static int explore(struct pct_explore_first *f, char **said)
{
    double part = f->seconds / PART, begun = pct_cli_now();
    int failed = run_for(f, part, 0, said);
    if (failed || is_whole(f) || is_over(f))
        return failed;
    bool found = f->status == PCT_EXPLORER_FOUND_SOME;
    if (!found) {
        free(*said);
        *said = NULL;
        failed = run_for(f, part, f->seconds - 2 * part, said);
        if (failed || f->status == PCT_EXPLORER_TOO_MANY || is_over(f))
            return failed;
        found = f->status == 1;
    }
    double left = f->seconds - (pct_cli_now() - begun);
    return explore_rest(f, left > part ? left : part, found, said);
}

int pct_explore_first(struct pct_explore_first *f)
{
    const char *choice = find_choice(f->schedules);
    char *said = NULL;
    if (choice)
        return pct_cli_usage("--explore makes all schedules: it takes no %s", choice);
    int failed = pct_input_settle(&f->campaign->launch);
    if (!failed)
        failed = explore(f, &said);
    if (failed || !said)
        return failed;
    if (f->status != PCT_EXPLORER_TOO_MANY || !f->quiet)
        fputs(said, stderr);
    free(said);
    if (is_over(f))
        return f->status;
    f->complete = is_whole(f);
    f->status = f->status == PCT_EXPLORER_FOUND_SOME ? 1 : f->status;
    if (f->resumes && !f->complete)
        return pct_cli_usage(
            "%s is of an exploration that has not come to its end: name another file with --db, or begin "
            "anew with --fresh",
            f->path);
    if (!f->complete && f->path)
        unlink(f->path);
    if (!f->complete && !f->quiet)
        pct_cli_say(f->status == PCT_EXPLORER_TOO_MANY
                        ? "these are too many for --explore=%g; going on with random schedules"
                        : "not all was explored; going on with random schedules",
                    f->seconds);
    return 0;
}

/* --- Within a campaign -------------------------------------------------------------------------------------------- */

/* Of an exploration by at most this many runs; at all memory accesses that can be patched, or at calls. */
static void print_small_options(FILE *out, const struct pct_explore_first *f, bool patched, uint64_t most)
{
    double seconds = SECONDS_A_RUN * (double)most;
    fprintf(out, "explore -q --serve --runs=%llu %s", (unsigned long long)most, patched ? "--memory=all " : "");
    print_program(out, f, seconds > SECONDS_AT_LEAST ? seconds : SECONDS_AT_LEAST);
}

/* The last line of what it has said. */
static const char *last_line(char *said)
{
    size_t length = strlen(said);
    if (length && said[length - 1] == '\n')
        said[length - 1] = 0;
    const char *newline = strrchr(said, '\n');
    return newline ? newline + 1 : said;
}

/* Its exit status is f->status, and what its last line says behind the number of runs, which counts, *said, to be
 * freed. It may be NULL: the exploration could not be started, which the campaign does not need. */
static int explore_few(struct pct_explore_first *f, bool patched, uint64_t most, char **said)
{
    struct pct_exploring *y = &f->campaign->exploring;
    char *text = NULL, *all = NULL, *behind;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    *said = NULL;
    if (!out)
        return pct_cli_no_memory("");
    print_small_options(out, f, patched, most);
    int failed = fclose(out) ? -ENOMEM : pct_subcommand_read(text, &all, &f->status);
    free(text);
    if (failed)
        return failed == -ENOMEM ? pct_cli_no_memory("") : 0;
    y->runs += strtoull(last_line(all), &behind, 10);
    *said = strdup(behind + (*behind == ' '));
    free(all);
    return *said ? 0 : pct_cli_no_memory("");
}

/* What fails at calls, too, does so in fewer steps, which show more of its cause. */
static int explore_at_calls(struct pct_explore_first *f, struct pct_exploring *y)
{
    char *said = NULL;
    const uint64_t before = y->runs;
    if (before >= y->most || !*y->token)
        return 0;
    int status = explore_few(f, false, y->most - before, &said);
    if (!status && said && f->status == 1 && *said)
        snprintf(y->token, sizeof y->token, "%s", said);
    else
        y->runs = before; /* which found the other one */
    free(said);
    return status;
}

/* A program that tells nothing is explored at memory accesses, as in some of the campaign's runs: there are no more
 * classes of schedules where locks order them. */
int pct_explore_small(struct pct_campaign *c, struct pct_exploring *y, void *data)
{
    struct pct_explore_first *f = data;
    const bool patched = c->may_patch && !pct_elf_tells(c->launch.program);
    char *said = NULL;
    int status = explore_few(f, patched, y->most, &said);
    if (status || !said)
        return status;
    y->unrepeated = f->status == 1 && !*said;
    if (f->status == 1)
        snprintf(y->token, sizeof y->token, "%s", said);
    if (!f->status || f->status == PCT_EXPLORER_VERIFIED_IF) {
        y->verdict = strdup(said);
        y->whole = y->verdict && !f->status && !c->differs;
    }
    free(said);
    return patched ? explore_at_calls(f, y) : 0;
}

void pct_explore_plan(struct pct_explore_first *f, uint64_t runs)
{
    struct pct_campaign *c = f->campaign;
    const struct pct_drive *drive = &c->launch.drive;
    bool other = drive->ready || drive->client || c->config.real_time || c->config.spurious;
    if (!c->systematic.may || other || c->save || c->pass_output || (f->oracle && f->oracle->same))
        return;
    c->exploring.explore = pct_explore_small;
    c->exploring.data = f;
    c->exploring.most = pct_exploring_room(runs);
}
