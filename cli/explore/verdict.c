/* What `pct explore` says at the end: see explorer.h. "verified" stands there only if nothing that is known speaks
 * against it. */
#include "explorer.h"
#include "keep.h"
#include "merge.h"
#include "polling.h"
#include <cli/binary/elf_facts.h>
#include <cli/base/status_line.h>
#include <string.h>
#include <stdarg.h>
#include <stdlib.h>

static const char *const doubts[] = {
#define TEXT(id, text) text,
    PCT_DOUBTS(TEXT)
#undef TEXT
};

static const char *const assumptions[] = {
#define TEXT(id, text) text,
    PCT_ASSUMPTIONS(TEXT)
#undef TEXT
};

static const struct pct_search_facts *facts_of(const struct pct_explorer *e)
{
    return e->merged ? e->merged : pct_search_facts(e->search);
}

static uint64_t runs_of(const struct pct_explorer *e)
{
    return facts_of(e)->runs + e->walks.made;
}

/* A list of reasons, with "; " in between. */
struct reasons {
    char text[2048];
    unsigned count;
};

__attribute__((format(printf, 2, 3))) static void add(struct reasons *r, const char *format, ...)
{
    size_t used = strlen(r->text);
    va_list arguments;
    if (r->count++)
        used += (size_t)snprintf(r->text + used, sizeof r->text - used, "; ");
    if (used >= sizeof r->text)
        return;
    va_start(arguments, format);
    vsnprintf(r->text + used, sizeof r->text - used, format, arguments);
    va_end(arguments);
}

static void add_facts(struct reasons *r, const struct pct_explorer *e, const struct pct_campaign *c)
{
    const struct pct_search_facts *facts = facts_of(e);
    for (unsigned i = 0; i < PCT_DOUBT_COUNT; i++)
        if (facts->doubts >> i & 1 && (i != PCT_DOUBT_CANCEL || e->bound < 0))
            add(r, "%s%s%s%s%s", doubts[i], e->doubt[i][0] ? " (" : "", e->doubt[i], e->doubt[i][0] ? ")" : "",
                i != PCT_DOUBT_STACK                  ? ""
                : c->config.memory < PCT_PATCH_STACKS ? ": --memory=all sees more, pct-cc all"
                                                      : ": pct-cc sees all");
    if (facts->unknown)
        add(r, "an operation unknown to pct explore (%s)", pct_name_op(facts->unknown - 1));
    if (e->differs)
        add(r, "runs with the same choices were not the same: they depend on more than the schedule");
    if (facts->unrepeatable)
        add(r, "a run did not begin as an earlier one with the same choices: it depends on more than the schedule");
    if (e->bound >= 0 && e->threads > PCT_EXECUTION_SETS)
        add(r, "more than %d threads, of which --bound knows the first", PCT_EXECUTION_SETS);
    if (facts->no_memory)
        add(r, "no memory for the search");
    if (facts->untried)
        add(r,
            "a loop that tries again and again, or waits and counts its rounds, was cut off: not all rounds behind the "
            "first %d were tried (%s)",
            PCT_POLLING_FOLLOWED, e->loop[0] ? e->loop : "place not known");
    if (facts->uneven)
        add(r, "threads that use other things between scheduling points in other schedules, for which there is no "
               "--shard");
    if (facts->undivided)
        add(r, "more than %d threads, which cannot be divided among shards", PCT_EXECUTION_SETS);
    const uint64_t vain = facts->redundant - facts->foreign;
    const uint64_t unlike = vain > facts->unplanned ? vain : facts->unplanned;
    if (e->bound < 0 && unlike)
        add(r, "%s: %llu of the runs were not what they were to be, and others may be missed%s",
            facts->early ? "deadlines that may come early"
                         : "calls that could not be made, or used other memory, where they were to be tried",
            (unsigned long long)unlike, facts->early ? " (--slack=0 takes the program)" : "");
    if (facts->strayed)
        add(r,
            "threads that did something else in another schedule of the same past (%llu time%s%s%s): by memory that is "
            "no scheduling point%s",
            (unsigned long long)facts->moved, facts->moved == 1 ? "" : "s", e->moved[0] ? ", first at " : "", e->moved,
            c->config.memory < PCT_PATCH_STACKS ? " (--memory=all has more)" : "");
    else if (facts->moved)
        add(r, "objects at other addresses in other schedules (%llu time%s%s%s): on the heap, or on stacks",
            (unsigned long long)facts->moved, facts->moved == 1 ? "" : "s", e->moved[0] ? ", first at " : "", e->moved);
}

/* What --memory patches, of a campaign's program: PCT_PATCH_*. One that tells of its accesses has all of its own. */
static int patched_by(const struct pct_campaign *c)
{
    return c->config.memory == PCT_PATCH_ATOMICS && pct_elf_tells(c->launch.program) ? PCT_PATCH_GLOBALS
                                                                                     : c->config.memory;
}

static void add_control(struct reasons *r, const struct pct_explorer *e, const struct pct_campaign *c)
{
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++) {
        /* What is blind is the same in each run, and does not add up. */
        bool all = !c->uncontrolled[i] || (e->uncontrolled[i] && !pct_name_is_blind(i));
        uint64_t count = all ? e->uncontrolled[i] : c->uncontrolled[i];
        if (count && !pct_name_is_aside(i))
            add(r, "%s (%llu)", pct_name_uncontrolled(i), (unsigned long long)count);
    }
    if (e->flags & PCT_EXPLORED_CHILDREN)
        add(r, "child processes, or another program in this one's place");
    if (e->flags & PCT_EXPLORED_TIMERS)
        add(r, "timers, or waits with a deadline that the outside may end");
    if (e->flags & PCT_EXPLORED_HANDLERS)
        add(r, "scheduling points in signal handlers");
    if (c->locks_inline)
        add(r, "locks of the program's own, whose taking is no scheduling point without --memory");
    /* Such locks are in use; those of a program with futexes may do without an instruction that is patched. */
    const int patched = pct_elf_tells(c->launch.program) ? PCT_PATCH_OFF : c->config.memory;
    const bool some = patched == PCT_PATCH_ATOMICS || patched == PCT_PATCH_GLOBALS;
    const bool locks = c->locks_patched && patched == PCT_PATCH_ATOMICS && e->flags & PCT_EXPLORED_MEMORY;
    if (locks || (some && e->flags & PCT_EXPLORED_FUTEXES))
        add(r, "atomic loads and stores without `lock` may be no scheduling points (--memory=all has them)");
    if (c->hardware)
        add(r, "the program reads the processor's clock or random numbers");
    if (e->flags & PCT_EXPLORED_LOST || c->lost)
        add(r, "a run whose end pct did not see: by a system call of the program's own, or in a program that pct could "
               "not follow");
    if (e->unreadable || c->unrecorded)
        add(r, "a run that left no whole log and trace");
}

/* A random schedule was of a class that the search has not come to, or failed as none does. */
static bool is_contradicted(const struct pct_explorer *e)
{
    bool contradicted = pct_walks_unmet(&e->walks);
    for (size_t i = 0; i < e->findings; i++)
        contradicted |= e->finding[i].walks && !e->finding[i].count;
    return contradicted;
}

/* With several workers: a run failed that was made ahead, and the search has not asked for it. Where nothing else has
 * failed, that was not its schedule's doing alone. */
static bool is_failure_left(const struct pct_explorer *e)
{
    bool left = false;
    for (size_t i = 0; i < e->aheads && e->complete && !e->findings; i++)
        left |= e->ahead[i].run.flags & PCT_EXPLORED_FAILED && !(e->ahead[i].run.flags & PCT_EXPLORED_CUT);
    return left;
}

static void add_cut(struct reasons *r, const struct pct_explorer *e, const struct pct_campaign *c)
{
    const bool sees = e->flags & PCT_EXPLORED_MEMORY || c->config.memory || pct_elf_tells(c->launch.program);
    if (e->cut)
        add(r, "%llu run%s cut off by --max-steps=%llu or --timeout=%g: a loop that waits%s, or a longer run%s%s%s",
            (unsigned long long)e->cut, e->cut == 1 ? "" : "s", (unsigned long long)c->config.max_steps,
            c->launch.timeout, sees ? "" : " (if for memory: --memory=all sees it)", e->cut_title[0] ? " (" : "",
            e->cut_title, e->cut_title[0] ? ")" : "");
}

static void add_ends(struct reasons *r, const struct pct_explorer *e, const struct pct_campaign *c)
{
    add_cut(r, e, c);
    if (is_failure_left(e))
        add(r, "a run that the search did not need failed, and none that it has made: they depend on more than the "
               "schedule");
    if (e->used_up && e->limit && runs_of(e) >= e->limit)
        add(r, "the runs that -n allows are made");
    else if (e->used_up)
        add(r, "the budget is used up%s", facts_of(e)->runs ? "" : ", and the first run goes on");
    else if (!e->complete && e->first && e->findings)
        add(r, "stopped at the first finding");
    else if (!e->complete && !facts_of(e)->unrepeatable && !facts_of(e)->no_memory && !e->unreadable)
        add(r, "interrupted");
    else if (e->complete && e->again < PCT_EXPLORER_AGAIN && !e->findings && !e->cut && !e->unreadable)
        add(r, "interrupted, before it was seen whether the first run is the same once more");
    if (!r->count && is_contradicted(e))
        add(r, "random schedules that are of no class which was explored: they depend on more than the schedule, or "
               "pct explore "
               "knows too little of what the program does");
}

/* At which points threads were switched: what `--level` calls it, and the last line. */
static const struct {
    const char *name, *text;
} levels[PCT_LEVEL_COUNT] = {
    [PCT_LEVEL_CALLS] = { "calls", "at calls" },
    [PCT_LEVEL_ATOMICS] = { "atomics", "at calls and atomic instructions" },
    [PCT_LEVEL_ACCESSES] = { "accesses", "under sequential consistency" },
};

static enum pct_level level_of(const struct pct_explorer *e, int patched)
{
    return !(e->flags & PCT_EXPLORED_MEMORY) ? PCT_LEVEL_CALLS
           : patched == PCT_PATCH_ATOMICS    ? PCT_LEVEL_ATOMICS
                                             : PCT_LEVEL_ACCESSES;
}

static const char *level(const struct pct_explorer *e, int patched)
{
    return levels[level_of(e, patched)].text;
}

int pct_explorer_level(const char *name)
{
    for (int i = 0; i < PCT_LEVEL_COUNT; i++)
        if (!strcmp(levels[i].name, name))
            return i;
    return -1;
}

const char *pct_explorer_level_in(const char *line)
{
    const char *found = NULL; /* the text of a level may begin as that of the one before */
    for (int i = 0; i < PCT_LEVEL_COUNT && !strncmp(line, "verified", 8); i++)
        if (strstr(line, levels[i].text))
            found = levels[i].name;
    return found;
}

/* What has to hold for "verified" to be true: ", if ...". */
static void add_assumptions(struct reasons *given, const struct pct_explorer *e, uint64_t slack, int patched)
{
    const char *join = ", if ";
    size_t used = 0;
    bool memory = e->flags & PCT_EXPLORED_MEMORY, atomics = memory && patched == PCT_PATCH_ATOMICS;
    const char *seen = memory && patched && !atomics ? "what --memory has not patched shares"
                       : memory && !atomics          ? "code that tells nothing of its accesses (libraries) shares"
                                                     : "threads share";
    if (e->threads > 1) {
        used = (size_t)snprintf(
            given->text, sizeof given->text, "%s%s memory by %s alone (no data races, no %s, no dangling pointers)",
            join, seen, atomics ? "these" : "calls", atomics ? "atomic loads and stores without `lock`" : "atomics");
        join = ", and ";
    }
    for (unsigned i = 0; i < PCT_ASSUMPTION_COUNT; i++)
        if (e->assumes >> i & 1) {
            used += (size_t)snprintf(given->text + used, sizeof given->text - used, "%s%s", join, assumptions[i]);
            join = ", and ";
        }
    if (e->flags & PCT_EXPLORED_LEFT) { /* in explored runs it ends behind all that they can do */
        used += (size_t)snprintf(given->text + used, sizeof given->text - used,
                                 "%sthe process does not end while another thread is still about to print", join);
        join = ", and ";
    }
    if (e->serves && e->flags & PCT_EXPLORED_DEADLINES) { /* else, print_scope() says it, as what follows */
        char by[48] = "", length[32];
        if (slack)
            snprintf(by, sizeof by, " by more than %s",
                     pct_cli_format_duration(length, sizeof length, (double)slack / 1e9));
        used += (size_t)snprintf(given->text + used, sizeof given->text - used, "%sno deadline comes early%s (--slack)",
                                 join, by);
        join = ", and ";
    }
    if (e->serves && e->frees) {
        used +=
            (size_t)snprintf(given->text + used, sizeof given->text - used,
                             "%snothing depends on whether a block of memory gets the address of an earlier one", join);
        join = ", and ";
    }
    if (e->serves && e->flags & PCT_EXPLORED_RANDOM)
        snprintf(given->text + used, sizeof given->text - used, "%sthe program draws the random numbers of seed 0",
                 join);
}

static void print_replay(const struct pct_explorer *e, const struct pct_campaign *c, const struct pct_finding *finding)
{
    char trace[PATH_MAX] = "";
    if (finding->too_long && e->keep->plan.path)
        pct_explorer_keep_trace(e->keep, finding->run - 1, trace, sizeof trace);
    if (!finding->token[0] && !trace[0]) {
        fprintf(stderr,
                "  its schedule %s; --trace=FILE keeps the first failing run, which `pct replay FILE` repeats\n",
                finding->too_long ? "is too long for a token" : "as a token does not fail like that");
        return;
    }
    fputs("  this replays it:\n  ", stderr);
    pct_cli_print_quoted(stderr, pct_cli_program);
    fputs(" replay ", stderr);
    pct_cli_print_quoted(stderr, trace[0] ? trace : finding->token);
    fputs(" -- ", stderr);
    pct_cli_print_command(stderr, c->launch.command);
    fputc('\n', stderr);
}

void pct_explorer_print_findings(const struct pct_explorer *e, const struct pct_campaign *c, bool whole)
{
    for (size_t i = 0; i < e->findings; i++) {
        const struct pct_finding *finding = &e->finding[i];
        char tuple[64] = "", classes[64];
        if (!finding->count && finding->walks)
            snprintf(classes, sizeof classes, "%llu random schedule%s", (unsigned long long)finding->walks,
                     finding->walks == 1 ? "" : "s");
        else if (!finding->count)
            snprintf(classes, sizeof classes, "in no class");
        else if (e->probes)
            snprintf(classes, sizeof classes, "%llu of the runs", (unsigned long long)finding->count);
        else
            snprintf(classes, sizeof classes, "%llu class%s", (unsigned long long)finding->count,
                     finding->count == 1 ? "" : "es");
        size_t used = e->bound < 0 ? 0 : (size_t)snprintf(tuple, sizeof tuple, ", (c, v, t, l) = ");
        if (used)
            pct_rank_format(tuple + used, sizeof tuple - used, finding->tuple);
        pct_cli_say("finding %zu: %s (%s; first in run %llu%s)", i + 1, finding->title,
                    finding->count || e->of < 2 ? classes : "in another shard", (unsigned long long)finding->run,
                    tuple);
        if (whole && finding->cause)
            pct_cli_wrap(stderr, finding->cause, pct_status_line_columns(stderr), 0, 4);
        print_replay(e, c, finding);
    }
}

/* It has ended early, depth first, and what fails may be anywhere. */
static void print_other_ways(const struct pct_explorer *e)
{
    if (!e->quiet && !e->complete && !e->findings && e->bound < 0 && e->of < 2 && facts_of(e)->classes > 1)
        pct_cli_say("--bound 2 explores schedules with few preemptions first, --estimate says how many classes there "
                    "are, and pct run -n 1000 draws schedules at random");
}

/* Of the parts, those that this shard has. */
static unsigned parts_here(const struct pct_explorer *e)
{
    uint32_t parts = facts_of(e)->parts;
    return parts < e->shard ? 0 : (parts - e->shard) / e->of + 1;
}

/* What was explored, for whom it means something. */
static void print_scope(const struct pct_explorer *e, const struct pct_campaign *c)
{
    char deadlines[128] = "", slack[32];
    if (e->flags & PCT_EXPLORED_DEADLINES && c->config.slack)
        snprintf(deadlines, sizeof deadlines, "; deadlines at most %s ahead come at any time",
                 pct_cli_format_duration(slack, sizeof slack, (double)c->config.slack / 1e9));
    else if (e->flags & PCT_EXPLORED_DEADLINES)
        strcpy(deadlines, "; deadlines come only when no thread can go on");
    const struct pct_search_facts *facts = facts_of(e);
    pct_cli_say(
        "for this input%s; %u thread%s, up to %u event%s a run; %s; any waiter is woken, and none but by a call; "
        "blocks of memory stand where they do here%s",
        e->flags & PCT_EXPLORED_RANDOM ? " and the random numbers of this seed" : "", e->threads,
        e->threads == 1 ? "" : "s", facts->depth, facts->depth == 1 ? "" : "s",
        e->flags & PCT_EXPLORED_MEMORY
            ? "scheduling points at calls, and at the memory accesses that the program tells of"
            : "scheduling points at calls only: accesses to memory are not (with --memory=all, they are)",
        deadlines);
    if (facts->awaited)
        pct_cli_say(
            "%llu of the runs ended behind a round of a loop that waits and changes nothing: others are without it",
            (unsigned long long)facts->awaited);
    if (facts->foreign)
        pct_cli_say("%llu of the runs divided the schedules into %u parts, or came to other shards' (%u part%s here)",
                    (unsigned long long)facts->foreign, facts->parts, parts_here(e), parts_here(e) == 1 ? "" : "s");
    if (facts->begun)
        pct_cli_say(
            "the first %llu of the runs have shown what threads use between scheduling points, which differs with "
            "the schedule; with that, all was explored anew",
            (unsigned long long)facts->begun);
    if (e->walks.made)
        pct_cli_say("%llu of the runs were random schedules, of which %llu failed: they count as no classes",
                    (unsigned long long)e->walks.made, (unsigned long long)e->walks.failing);
    if (facts->redundant && e->of < 2 && e->bound < 0)
        pct_cli_say(facts->redundant == 1 ? "one run was like an earlier one" : "%llu runs were like earlier ones",
                    (unsigned long long)facts->redundant);
}

/* " with at most 2 preemptions", or nothing. */
static void format_bound(char *text, size_t size, int bound)
{
    *text = 0;
    if (bound >= 0)
        snprintf(text, size, " with at most %d preemption%s", bound, bound == 1 ? "" : "s");
}

static void print_verified(FILE *out, const struct pct_explorer *e, const struct reasons *given, int patched,
                           const char *seconds)
{
    const struct pct_search_facts *facts = facts_of(e);
    char all[64], upto[64] = "", within[64];
    bool one = facts->classes == 1;
    snprintf(all, sizeof all, one ? "the only class" : "all %llu classes", (unsigned long long)facts->classes);
    if (e->of > 1) { /* of the whole, nothing is known here */
        fprintf(out,
                "shard %u of %u is complete %s: its %llu class%s of schedules pass%s%s (%llu run%s, %s); "
                "pct campaign merge says whether all do",
                e->shard, e->of, level(e, patched), (unsigned long long)facts->classes, one ? "" : "es",
                one ? "es" : "", given->text, (unsigned long long)runs_of(e), runs_of(e) == 1 ? "" : "s", seconds);
        return;
    }
    if (e->bound >= 0)
        snprintf(upto, sizeof upto, " up to %d preemption%s", e->bound, e->bound == 1 ? "" : "s");
    format_bound(within, sizeof within, e->bound);
    fprintf(out, "verified%s %s: %s of schedules%s pass%s%s (%llu run%s, %s)", upto, level(e, patched), all, within,
            one ? "es" : "", given->text, (unsigned long long)runs_of(e), runs_of(e) == 1 ? "" : "s", seconds);
}

static void print_found(FILE *out, const struct pct_explorer *e, const struct reasons *reasons, const char *seconds)
{
    const struct pct_search_facts *facts = facts_of(e);
    char within[96];
    format_bound(within, sizeof within, e->bound);
    if (e->of > 1)
        snprintf(within, sizeof within, " of shard %u of %u", e->shard, e->of);
    if (e->of > 1 && !e->failing) {
        fprintf(out, "found: none of %s%llu class%s of schedules%s fails, but one of another shard (%llu runs, %s)%s%s",
                reasons->count ? "" : "its ", (unsigned long long)facts->classes, facts->classes == 1 ? "" : "es",
                within, (unsigned long long)runs_of(e), seconds, reasons->count ? "; not all were explored: " : "",
                reasons->text);
        return;
    }
    if (e->merged && !e->failing) {
        fprintf(out,
                "found: none of %llu class%s of schedules in the shards that are known fails, but one of another shard "
                "(%llu runs, %s); not all were explored: %s",
                (unsigned long long)facts->classes, facts->classes == 1 ? "" : "es", (unsigned long long)runs_of(e),
                seconds, reasons->text);
        return;
    }
    if (!e->failing && !e->walks.failing) {
        fprintf(out, "found: runs that count as no class fail, beside %llu class%s that pass%s (%llu runs, %s); %s",
                (unsigned long long)e->passed, e->passed == 1 ? "" : "es", e->passed == 1 ? "es" : "",
                (unsigned long long)runs_of(e), seconds, reasons->text);
        return;
    }
    if (!e->failing) {
        fprintf(out, "found: %llu of %llu random schedules fail%s, beside %llu class%s that pass%s (%llu runs, %s); %s",
                (unsigned long long)e->walks.failing, (unsigned long long)e->walks.made,
                e->walks.failing == 1 ? "s" : "", (unsigned long long)e->passed, e->passed == 1 ? "" : "es",
                e->passed == 1 ? "es" : "", (unsigned long long)runs_of(e), seconds, reasons->text);
        return;
    }
    if (facts->classes == 1 && e->failing == 1 && !reasons->count) {
        fprintf(out, "found: the only class of schedules%s fails (%llu run%s, %s)", within,
                (unsigned long long)runs_of(e), runs_of(e) == 1 ? "" : "s", seconds);
        return;
    }
    fprintf(out, "found: %llu of %s%llu class%s of schedules%s fail%s (%llu run%s, %s)%s%s",
            (unsigned long long)e->failing, reasons->count ? "" : "all ", (unsigned long long)facts->classes,
            facts->classes == 1 ? "" : "es", within, e->failing == 1 ? "s" : "", (unsigned long long)runs_of(e),
            runs_of(e) == 1 ? "" : "s", seconds, reasons->count ? "; not all were explored: " : "", reasons->text);
}

static void print_not_verified(FILE *out, const struct pct_explorer *e, const struct reasons *reasons, bool early,
                               const struct reasons *given, const char *seconds)
{
    const struct pct_search_facts *facts = facts_of(e);
    unsigned long long below = facts->below;
    /* The lower bounds are done, and nothing but the end of the search is missing. */
    if (early && e->bound >= 0 && below)
        fprintf(out, "no schedule with at most %llu preemption%s fails%s (complete)\n", below - 1,
                below == 2 ? "" : "s", given->text);
    fprintf(out, "not verified, because of: %s (%llu class%s passed, %llu runs, %llu open, %s)", reasons->text,
            (unsigned long long)e->passed, e->passed == 1 ? "" : "es", (unsigned long long)runs_of(e),
            (unsigned long long)facts->open, seconds);
}

void pct_explorer_warn(struct pct_explorer *e, const struct pct_campaign *c)
{
    struct reasons reasons = { .text = "" };
    uint64_t runs = runs_of(e);
    if ((e->quiet && !e->serves) || e->warned || runs & (runs - 1))
        return;
    pct_explorer_name_places(e, c->launch.program);
    add_facts(&reasons, e, c);
    add_control(&reasons, e, c);
    add_cut(&reasons, e, c);
    e->warned = reasons.count;
    if (!reasons.count || e->quiet)
        return;
    pct_status_line_clear(!e->progress);
    pct_cli_say("after %llu run%s: nothing will be verified, because of: %s; going on to look for failures",
                (unsigned long long)runs, runs == 1 ? "" : "s", reasons.text);
}

/* The last line, or two: all was explored, or these reasons speak against it. early: it is not verified because it
 * ended early. To be freed; NULL: no memory. */
static char *write_line(const struct pct_explorer *e, const struct reasons *reasons, bool early,
                        const struct reasons *given, int patched)
{
    char buffer[64], *line = NULL;
    size_t size;
    const char *seconds = pct_cli_format_duration(buffer, sizeof buffer, e->seconds);
    FILE *out = open_memstream(&line, &size);
    if (!out)
        return NULL;
    if (e->findings)
        print_found(out, e, reasons, seconds);
    else if (reasons->count)
        print_not_verified(out, e, reasons, early, given, seconds);
    else
        print_verified(out, e, given, patched, seconds);
    return fclose(out) ? NULL : line;
}

/* *whole: nothing speaks against it that all was explored. */
static char *make_line(const struct pct_explorer *e, const struct pct_campaign *c, bool *whole)
{
    struct reasons reasons = { .text = "" }, given = { .text = "" };
    add_facts(&reasons, e, c);
    add_control(&reasons, e, c);
    bool early = !reasons.count && !e->cut;
    add_ends(&reasons, e, c);
    if (level_of(e, patched_by(c)) < e->level)
        add(&reasons, "scheduling points were %s only, and --level=%s wants more: pct-cc or --memory=all has them",
            level(e, patched_by(c)), levels[e->level].name);
    add_assumptions(&given, e, c->config.slack, patched_by(c));
    *whole = !reasons.count;
    return write_line(e, &reasons, early, &given, patched_by(c));
}

char *pct_explorer_merged_line(struct pct_explorer *e, int patched, const char *why, int *status)
{
    struct reasons reasons = { .text = "" }, given = { .text = "" };
    if (*why)
        add(&reasons, "%s", why);
    add_assumptions(&given, e, 0, patched);
    *status = e->findings ? 1 : *why ? PCT_EXIT_CONFIDENCE : 0;
    return write_line(e, &reasons, false, &given, patched);
}

static void say_lines(const char *text)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        pct_cli_say("%.*s", (int)length, text);
    }
}

/* Whether threads of the program may share memory of its own that the runs do not see: what --memory leaves out. */
static bool overlooks_memory(const struct pct_explorer *e, const struct pct_campaign *c)
{
    return e->threads > 1 && c->config.memory < PCT_PATCH_ALL && !pct_elf_tells(c->launch.program);
}

int pct_explorer_verdict(struct pct_explorer *e, struct pct_campaign *c, int interrupted)
{
    bool whole;
    /* The campaign looks where no run of it has failed: those that wait in loops are failures to it. */
    if (!e->findings && !c->hardware)
        c->hardware = pct_elf_reads_hardware(c->launch.program);
    pct_explorer_name_places(e, c->launch.program);
    char *line = make_line(e, c, &whole);
    if (!line)
        return pct_cli_no_memory("");
    if (!e->serves)
        pct_explorer_print_findings(e, c, whole);
    if (!e->quiet && facts_of(e)->runs)
        print_scope(e, c);
    char fact[PCT_SHARD_FACT] = "";
    if (whole && e->of > 1)
        pct_shard_format(fact, sizeof fact, e, patched_by(c));
    int failed = pct_explorer_keep_finish(e->keep, e, line, fact);
    if (interrupted && e->keep->plan.path)
        pct_cli_say("%s has all runs so far; the same command with --resume goes on", e->keep->plan.path);
    print_other_ways(e);
    if (e->serves)
        fprintf(stderr, "%llu %s\n", (unsigned long long)runs_of(e), e->findings ? e->finding[0].token : line);
    else
        say_lines(line);
    free(line);
    if (failed || interrupted)
        return failed ? failed : 128 + interrupted;
    if (e->findings)
        return !whole && e->tells ? PCT_EXPLORER_FOUND_SOME : 1;
    bool open = e->serves && (e->assumes || e->frees || e->flags & (PCT_EXPLORED_RANDOM | PCT_EXPLORED_LEFT) ||
                              overlooks_memory(e, c));
    return !whole ? PCT_EXIT_CONFIDENCE : open ? PCT_EXPLORER_VERIFIED_IF : 0;
}
