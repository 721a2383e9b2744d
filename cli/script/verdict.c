/* What came of a run under a script: see verdict.h. */
#include "verdict.h"
#include "lines.h"
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <cli/base/status_line.h>
#include <cli/binary/debug_info.h>
#include <cli/binary/memory_advice.h>
#include <cli/binary/segments.h>
#include <cli/campaign/outcome.h>
#include <stdlib.h>
#include <string.h>

/* The line of the source at this place of a file, "spin.c:16". False: that is not known. */
static bool find_source(const char *path, uint64_t offset, char *text, size_t size)
{
    Dwfl_Module *module = NULL;
    Dwfl *dwfl = pct_debug_info_open(path, &module);
    GElf_Addr bias = 0;
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    Dwarf_Die *unit;
    GElf_Phdr segment;
    const char *file = NULL;
    int line = 0;
    if (elf && pct_segment_find(elf, PCT_SEGMENT_FILE, offset, 1, 0, &segment))
        file = pct_debug_info_source(module, offset - segment.p_offset + segment.p_vaddr + bias, &line, &unit);
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (file)
        snprintf(text, size, "%s:%d", slash ? slash + 1 : file, line);
    if (dwfl)
        dwfl_end(dwfl);
    return file;
}

/* Its message, with the line of the source where the run knew but the place in the file. */
static const char *message_of(const struct pct_script_said *said)
{
    static char text[sizeof said->message + 300];
    char place[sizeof said->file + 24], source[256];
    const char *slash = strrchr(said->file, '/');
    snprintf(place, sizeof place, "%s+0x%llx", slash ? slash + 1 : said->file, (unsigned long long)said->offset);
    const char *at = said->file[0] ? strstr(said->message, place) : NULL;
    if (!at || !find_source(said->file, said->offset, source, sizeof source))
        return said->message;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - said->message), said->message, source, at + strlen(place));
    return text;
}

const char *pct_script_why_unfit(const struct pct_script_channel *c, const char *ending)
{
    static char text[320];
    if (c->said.outcome == PCT_SCRIPT_DID_NOT_FIT)
        return message_of(&c->said);
    if (c->said.outcome != PCT_SCRIPT_UNDER_WAY)
        return "the program has not begun any thread, nor made a call that pct knows";
    if (!strncmp(ending, "exit status", strlen("exit status")))
        return c->speaker ? "that process has ended" : "the program has ended";
    snprintf(text, sizeof text, "the run was ended: %s", ending);
    return text;
}

const char *pct_script_speaker(const struct pct_script_channel *c)
{
    static char text[32];
    snprintf(text, sizeof text, "process %u: ", c->speaker);
    return c->speaker ? text : "";
}

const char *pct_script_steps(const struct pct_script_channel *c)
{
    static char text[128];
    unsigned long long others = 0;
    unsigned count = 0;
    for (uint32_t i = 0; i < c->processes && i < PCT_SCRIPT_PROCESSES; i++)
        if (c->process[i].said.outcome == PCT_SCRIPT_ENDED) {
            others += c->process[i].said.step;
            count++;
        }
    int at = snprintf(text, sizeof text, "%llu step%s", (unsigned long long)c->said.step, c->said.step == 1 ? "" : "s");
    if (count)
        snprintf(text + at, sizeof text - (size_t)at, " of the first process and %llu of %u other%s", others, count,
                 count == 1 ? "" : "s");
    return text;
}

bool pct_script_is_unfit(const struct pct_script_channel *c, bool failed)
{
    return c->said.outcome == PCT_SCRIPT_DID_NOT_FIT || (c->said.outcome == PCT_SCRIPT_UNDER_WAY && !failed);
}

bool pct_script_only_waits(const struct pct_script_channel *c, const struct pct_result *result)
{
    return !c->speaker && c->said.outcome == PCT_SCRIPT_UNDER_WAY && !c->said.over &&
           result->ending == PCT_ENDING_LIVELOCK;
}

bool pct_script_has_failed(const struct pct_script_runs *runs, const struct pct_script_channel *c,
                           const struct pct_result *result)
{
    return pct_result_fails(result, runs->campaign->ok) && !pct_script_only_waits(c, result) &&
           !pct_script_went_on(runs, c, result);
}

bool pct_script_went_on(const struct pct_script_runs *runs, const struct pct_script_channel *c,
                        const struct pct_result *result)
{
    return !runs->ok_unfit && c->said.outcome == PCT_SCRIPT_DID_NOT_FIT && result->ending == PCT_ENDING_TIMEOUT;
}

static bool does_not_fit(const struct pct_script_channel *c)
{
    bool unfit = c->said.outcome == PCT_SCRIPT_DID_NOT_FIT;
    for (uint32_t i = 0; i < c->processes && i < PCT_SCRIPT_PROCESSES; i++)
        unfit |= c->process[i].said.outcome == PCT_SCRIPT_DID_NOT_FIT;
    return unfit;
}

/* It takes longer than what programs do by themselves: whoever waits is told for what. */
static void say_outside(struct pct_script_runs *runs, struct pct_script_file *file)
{
    const struct pct_script_said *said = &file->channel->said;
    const double patience = 3;
    bool waits = __atomic_load_n(&said->outside, __ATOMIC_ACQUIRE);
    double now = pct_cli_now();
    file->waits = !waits ? 0 : file->waits > 0 ? file->waits : now;
    if (!waits || runs->outside || now - file->waits < patience)
        return;
    pct_status_line_clear(runs->quiet);
    pct_cli_say("%s:%u: waiting for what is outside: the script wants %s, but %s", runs->name, said->line,
                said->awaited, said->message);
    runs->outside = true;
}

/* A thread passes no point, and the script lets nobody else go on: likewise, and again when that takes four times as
 * long. */
static void say_runs(struct pct_script_runs *runs, const struct pct_script_said *said)
{
    const uint32_t seconds = __atomic_load_n(&said->runs, __ATOMIC_ACQUIRE);
    if (seconds <= 4 * runs->ran)
        return;
    runs->ran = seconds;
    pct_status_line_clear(runs->quiet);
    pct_cli_say("%s:%u: the script wants %s, but %s", runs->name, said->line, said->awaited, message_of(said));
}

void pct_script_hurry(struct pct_script_runs *runs, struct pct_engine *engine)
{
    for (unsigned i = 0; i < runs->files; i++) {
        const struct pct_script_channel *c = runs->file[i].channel;
        say_outside(runs, &runs->file[i]);
        say_runs(runs, &c->said);
        for (uint32_t j = 0; j < c->processes && j < PCT_SCRIPT_PROCESSES; j++)
            say_runs(runs, &c->process[j].said);
    }
    for (unsigned i = 0; i < runs->files && !runs->ok_unfit; i++) {
        struct pct_script_file *file = &runs->file[i];
        if (file->hurried || !does_not_fit(file->channel))
            continue;
        pct_engine_hurry(engine, file->index, PCT_SCRIPT_UNFIT_SECONDS);
        file->hurried = true;
    }
}

/* --- Said --------------------------------------------------------------------------------------------------------- */

static bool waits_for_access(const struct pct_script_channel *c)
{
    static const char *const words[] = { " reads", " writes", " accesses" };
    bool waits = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) /* not as the end of "threads" */
        waits |= strstr(c->said.awaited, words[i]) != NULL;
    return waits;
}

/* The script waits for an access to memory, and the program makes some that pct does not see. */
static void say_blind(const struct pct_script_runs *runs, const struct pct_script_channel *c)
{
    const struct pct_config *config = &runs->campaign->config;
    if (waits_for_access(c) && !config->watch[0] && pct_memory_is_unseen(config, runs->campaign->launch.command[0]))
        pct_cli_say("%s tells nothing of its accesses to memory, for which the script waits: build it with pct-cc, or "
                    "add --memory=all",
                    runs->campaign->launch.command[0]);
}

/* The script waits for the end of the thread of main(), which ends its process instead. */
static void say_exit(const struct pct_script_channel *c, const char *ending)
{
    static const char main_thread[] = "thread 0 ", exit_status[] = "exit status";
    if (c->said.outcome == PCT_SCRIPT_UNDER_WAY && strstr(c->said.awaited, " ends") &&
        !strncmp(c->said.awaited, main_thread, strlen(main_thread)) &&
        !strncmp(ending, exit_status, strlen(exit_status)))
        pct_cli_say("the thread of main() does not end where it ends the process: that is does \"exit\", "
                    "of _exit() does \"exit now\"");
}

/* Where the script stood, and what it wants there. */
static void say_awaited(const struct pct_script_runs *runs, const struct pct_script_channel *c, const char *ending)
{
    if (c->said.awaited[0])
        pct_cli_say("%s:%u: %sdid not fit: the script wants %s, but %s", runs->name, c->said.line,
                    pct_script_speaker(c), c->said.awaited, pct_script_why_unfit(c, ending));
    else
        pct_cli_say("%s: did not fit: %s", runs->name, pct_script_why_unfit(c, ending));
    say_blind(runs, c);
    say_exit(c, ending);
}

static const char *script_of(const struct pct_script_runs *runs)
{
    struct pct_script_channel *c = runs->file[0].channel;
    return pct_script_texts(c) + c->script;
}

void pct_script_say(const struct pct_script_runs *runs, struct pct_script_channel *c, bool failed, const char *ending)
{
    switch (c->said.outcome) {
    case PCT_SCRIPT_ENDED:
        pct_cli_say("%s: ended after %s; the program: %s", runs->name, pct_script_steps(c), ending);
        break;
    case PCT_SCRIPT_DID_NOT_FIT:
        say_awaited(runs, c, ending);
        break;
    case PCT_SCRIPT_ASSERTION:
        pct_cli_say("%s:%u: %sassertion of the script: %s", runs->name, c->said.line, pct_script_speaker(c),
                    c->said.message);
        break;
    case PCT_SCRIPT_WRONG:
        pct_cli_say("%s:%u: %s%s", runs->name, c->said.line, pct_script_speaker(c), c->said.message);
        break;
    case PCT_SCRIPT_UNDER_WAY:
        if (failed) {
            pct_cli_say("%s: %sreached line %u%s%s; the program: %s", runs->name, pct_script_speaker(c), c->said.line,
                        c->said.awaited[0] ? ", and wants " : "", c->said.awaited, ending);
            say_exit(c, ending);
        } else {
            say_awaited(runs, c, ending);
        }
        break;
    default:
        say_awaited(runs, c, ending);
    }
    if (failed && c->said.outcome != PCT_SCRIPT_ENDED && c->said.outcome != PCT_SCRIPT_UNDER_WAY)
        pct_cli_say("the program, without the script from there on: %s", ending);
    if (!runs->quiet)
        pct_script_print_lines(stderr, c, script_of(runs));
}

/* --- Its token ---------------------------------------------------------------------------------------------------- */

/* What that may be, and what to do. */
static const char *why_other(const struct pct_script_channel *c)
{
    if (!c->parts)
        return "--trace keeps it in a file, which `pct replay` follows";
    if (c->lost_turns)
        return "a process computed, or looked for something again and again, for more than 2 seconds while others "
               "could "
               "have gone on: let it wait in a call (a lock, a pipe, board.wait)";
    return "what comes from processes that are not under pct, from the network or by real time is in no token of "
           "several "
           "processes: leave it out, or give it by a file";
}

/* Fills in `again`, to be closed, and *token, to be freed. Returns as pct_script_repeat() does. */
static int repeat(struct pct_script_runs *runs, struct pct_script_channel *c, const struct pct_result *result,
                  struct pct_ended_run *again, char **token)
{
    struct pct_launch *launch = &runs->campaign->launch;
    struct pct_engine engine = { .launch = launch, .quiet = true, .exec = true };
    struct pct_run_spec spec = { .index = UINT64_MAX };
    char with[sizeof launch->library_path], *list;
    const char *why = pct_script_schedule(c, &result->trace, &spec.config, &list);
    if (why) {
        pct_cli_say("%s", why);
        return -1;
    }
    spec.list = list;
    memcpy(with, launch->library_path, sizeof with);
    memcpy(launch->library_path, runs->bare, sizeof with);
    int status = pct_engine_run_one(&engine, &spec, again);
    memcpy(launch->library_path, with, sizeof with);
    *token = status ? NULL : pct_long_token_of(again->result.trace.header.token, list);
    free(list);
    if (status)
        return status;
    if (again->result.trace.header.hash == result->trace.header.hash &&
        again->result.trace.header.verdict != PCT_VERDICT_DIVERGENCE && !pct_result_child_diverged(&again->result))
        return 0;
    pct_cli_say("a run by the same schedule, without the script, took other steps: the program depends on more than a "
                "token holds; %s",
                why_other(c));
    pct_ended_run_close(again);
    return -1;
}

/* The script waits for an access to memory, and some cannot be seen, as no jump fits there. */
static void say_unpatched(const struct pct_script_channel *c, const struct pct_result *result)
{
    const uint64_t count = result->trace.header.uncontrolled[PCT_UNCONTROLLED_SITE];
    if (c->said.outcome == PCT_SCRIPT_ENDED || !count || !waits_for_access(c))
        return;
    char *text = pct_name_uncontrolled_count(PCT_UNCONTROLLED_SITE, count);
    pct_cli_say("not seen, though the script may wait for one of them: %s; pct-cc sees all", text ? text : "");
    free(text);
}

int pct_script_repeat(struct pct_script_runs *runs, struct pct_script_channel *c, const struct pct_result *result,
                      bool failed)
{
    say_unpatched(c, result);
    static struct pct_ended_run again; /* large */
    char *token = NULL;
    int status = repeat(runs, c, result, &again, &token);
    if (!status && failed)
        pct_outcome_report(&again.process, &again.result);
    if (!status && !token)
        pct_cli_say("its schedule is too long for a token; --trace keeps it in a file, which `pct replay` follows");
    else if (!status && (!runs->quiet || failed))
        pct_outcome_print_replay_of(&runs->campaign->launch, &again.process, &again.result, token);
    if (!status)
        pct_ended_run_close(&again);
    free(token);
    return status;
}

/* Of the processes that the script has lines for, those that left no trace. */
static void say_traceless(const struct pct_script_channel *c)
{
    for (uint32_t i = 0; i < c->processes && i < PCT_SCRIPT_PROCESSES; i++) {
        char where[48] = "all its lines were done";
        if (c->process[i].said.outcome != PCT_SCRIPT_ENDED)
            snprintf(where, sizeof where, "it had come to line %u of the script", c->process[i].said.line);
        if (pct_script_is_traceless(&c->process[i]))
            pct_cli_say("process %u was killed, or went on: its steps are not kept; %s", i + 1, where);
    }
}

void pct_script_keep_trace(const struct pct_script_runs *runs, struct pct_script_channel *c,
                           const struct pct_ended_run *run)
{
    char error[256];
    const char *why;
    unsigned others;
    char *orders = runs->keep && c->parts ? pct_script_orders(c, &why) : NULL;
    if (runs->keep &&
        pct_script_save_trace(&run->result.trace, c, run->process.trace_path, runs->keep, &others, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", runs->keep, error);
    else if (runs->keep && c->parts && !runs->quiet)
        pct_cli_say("%s has the steps of the first process and of %u other%s%s%s", runs->keep, others,
                    others == 1 ? "" : "s", orders ? ", and what all are to do in a replay" : "; ", orders ? "" : why);
    if (runs->keep && c->parts && !runs->quiet)
        say_traceless(c);
    free(orders);
}
