/* The run of a script as a token: see script.h. Its list has what the run did otherwise than the strategy `schedule`
 * does by itself: the threads that the script chose. That of several processes is the strategy `processes`'s, and has
 * what each did. */
#include "script.h"
#include <cli/base/cli.h>
#include <cli/trace/switches.h>
#include <strategies/strategies.h>
#include <stdlib.h>
#include <string.h>

/* The index of the record behind which the switch is; UINT64_MAX: there is none. */
static uint64_t record_before(const struct pct_trace *trace, uint64_t step)
{
    while (step && PCT_RECORD_OP(trace->records[step - 1]) == PCT_OP_OUTSIDE)
        step--;
    return step - 1;
}

static int by_step(const void *a, const void *b)
{
    const struct pct_switch *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (int)x->wake - (int)y->wake;
}

/* The switches to threads; what goes to the board concerns nobody else. NULL: there is no memory. To be freed. */
static struct pct_script_switch *select_threads(struct pct_script_channel *channel, uint32_t *count)
{
    const struct pct_script_switch *from = pct_script_switches(channel);
    struct pct_script_switch *to = calloc(PCT_SCRIPT_SWITCHES, sizeof *to);
    *count = 0;
    for (uint32_t i = 0; to && i < channel->switches && i < PCT_SCRIPT_SWITCHES; i++)
        if (from[i].kind == PCT_SCRIPT_SWITCH_THREAD || from[i].kind == PCT_SCRIPT_SWITCH_AWAITED)
            to[(*count)++] = from[i];
    return to;
}

/* Wakes of the trace, and the script's switches. False: there is no memory, or they are not all known. */
static bool list_switches(struct pct_switches *list, struct pct_script_channel *channel, const struct pct_trace *trace)
{
    struct pct_switches all;
    uint32_t *number = pct_switches_number(trace);
    uint32_t count;
    struct pct_script_switch *chosen = select_threads(channel, &count);
    list->count = 0;
    list->item = calloc(trace->count + count + 1, sizeof *list->item);
    bool fine = number && chosen && list->item && channel->switches <= PCT_SCRIPT_SWITCHES && !trace->first &&
                !pct_switches_from_trace(&all, trace);
    for (size_t i = 0; fine && i < all.count; i++)
        if (all.item[i].wake)
            list->item[list->count++] = all.item[i];
    for (uint32_t i = 0; fine && i < count; i++) {
        bool awaited = chosen[i].kind == PCT_SCRIPT_SWITCH_AWAITED,
             last = i + 1 == count || chosen[i + 1].step != chosen[i].step;
        uint64_t at = chosen[i].step <= trace->count ? record_before(trace, chosen[i].step) : UINT64_MAX;
        if (!last || at == UINT64_MAX)
            continue;
        uint64_t before = chosen[i].step - 1;
        bool back = before != at && !awaited && PCT_RECORD_THREAD(trace->records[before]) != chosen[i].value;
        if (back) {
            list->item[list->count++] = pct_switches_back(trace, number, before, chosen[i].value);
            continue;
        }
        list->item[list->count++] = (struct pct_switch){ .thread = PCT_RECORD_THREAD(trace->records[at]),
                                                         .made = number[at],
                                                         .value = chosen[i].value,
                                                         .awaits = awaited,
                                                         .step = at };
    }
    if (fine) {
        qsort(list->item, list->count, sizeof *list->item, by_step);
        pct_switches_free(&all);
    }
    free(number);
    free(chosen);
    return fine;
}

/* By process, its program, and step. Of one step, as they were. */
static int by_process(const void *a, const void *b)
{
    const struct pct_script_switch *x = *(const struct pct_script_switch *const *)a,
                                   *y = *(const struct pct_script_switch *const *)b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x < y ? -1 : 1;
}

/* What all processes did, in this order, as the strategy `processes` reads it. False: a process is not known by its
 * forks. */
static bool write_orders(FILE *out, const struct pct_script_channel *channel, struct pct_script_switch *const *item,
                         uint32_t count)
{
    static const char letters[][2] = { [PCT_SCRIPT_SWITCH_AWAITED] = "a",
                                       [PCT_SCRIPT_SWITCH_POST] = "s",
                                       [PCT_SCRIPT_SWITCH_WAIT] = "r",
                                       [PCT_SCRIPT_SWITCH_CHOICE] = "c",
                                       [PCT_SCRIPT_SWITCH_END] = "h" };
    uint32_t process = 0, image = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pct_script_switch *s = item[i];
        const char *path = s->process ? channel->process[s->process - 1].path : "";
        bool head = s->process != process || s->image != image;
        if ((s->process && !*path) || (head && !s->process))
            return false;
        fputs(i ? "-" : "", out);
        if (head)
            fprintf(out, "p%s", path);
        if (head && s->image)
            fprintf(out, "e%u", s->image);
        fprintf(out, "%s%llu.%s%u", head ? "-" : "", (unsigned long long)s->step, letters[s->kind], s->value);
        process = s->process;
        image = s->image;
    }
    return true;
}

char *pct_script_orders(struct pct_script_channel *channel, const char **why)
{
    uint32_t count = 0;
    char *text = NULL;
    size_t size;
    struct pct_script_switch **item = calloc(PCT_SCRIPT_SWITCHES, sizeof *item);
    FILE *out = item && channel->switches <= PCT_SCRIPT_SWITCHES ? open_memstream(&text, &size) : NULL;
    for (uint32_t i = 0; out && i < channel->switches; i++)
        if (pct_script_switches(channel)[i].kind != PCT_SCRIPT_SWITCH_NONE)
            item[count++] = &pct_script_switches(channel)[i];
    if (count)
        qsort(item, count, sizeof *item, by_process);
    bool known = out && write_orders(out, channel, item, count), fine = known;
    *why = !out || known ? "its schedule is too long to be kept: only the script makes it again"
                         : "a process is too many forks away from the first one, or not known by them, so only the "
                           "script makes the run again";
    if (out && fclose(out))
        fine = false;
    free(item);
    if (!fine) {
        free(text);
        text = NULL;
    }
    return text;
}

const char *pct_script_schedule(struct pct_script_channel *channel, const struct pct_trace *trace,
                                struct pct_config *config, char **list)
{
    static const char too_long[] =
        "its schedule is too long for a token; --trace keeps it in a file, which `pct replay` follows";
    char error[256];
    const char *why = too_long;
    struct pct_switches switches = { 0 };
    *list = NULL;
    if (pct_config_parse_token(config, trace->header.token, pct_cli_find_strategy, error, sizeof error))
        return too_long;
    const struct pct_strategy *strategy = channel->parts ? &pct_strategy_processes : &pct_strategy_schedule;
    config->given = 0;
    config->has_hash = false;
    snprintf(config->strategy, sizeof config->strategy, "%s", strategy->name);
    if (channel->parts)
        *list = pct_script_orders(channel, &why);
    else if (list_switches(&switches, channel, trace))
        *list = pct_switches_format(&switches, NULL);
    pct_switches_free(&switches);
    return *list ? NULL : why;
}
