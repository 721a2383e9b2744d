/* `pct sites`: how many memory accesses of a file could become scheduling points. The shim runs it too (--plan). */
#include <cli/base/cli.h>
#include "parse.h"
#include <cli/binary/patch_plan.h>
#include <cli/process/settings.h>
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_MEMORY = 2000, KEY_PLAN, KEY_FUNCTIONS };

static const struct argp_option options[] = {
    { "memory", KEY_MEMORY, "LEVEL", 0, "which accesses: atomics, globals, all or stacks (default: globals)", 1 },
    { "plan", KEY_PLAN, NULL, 0, "write the plan, which libpct.so reads, to standard output; not to a terminal", 1 },
    { "functions", KEY_FUNCTIONS, "RANGE,...", 0,
      "where these functions begin and return, too: FROM-TO, in hexadecimal; :cold behind one: a part of one; :line: "
      "just where it begins",
      1 },
    { 0 },
};

struct arguments {
    const char *level, *functions;
    bool plan;
    char **files;
    int count;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { KEY_MEMORY, .text = &w->level },
        { KEY_FUNCTIONS, .text = &w->functions },
        { KEY_PLAN, .on = &w->plan },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case ARGP_KEY_ARGS:
        w->files = state->argv + state->next;
        w->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if (!w->count)
            argp_error(state, "no file is given");
        if (w->plan && w->count > 1)
            argp_error(state, "--plan takes one file");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE...",
    .doc = "Count the instructions of a program or library that `pct run --memory` could make scheduling points of.\v"
           "Reads files, and runs nothing. The exit status is 0 if all of them can be patched, and 1 if not.",
};

static bool print(FILE *out, const char *path, const struct pct_plan *plan)
{
    static const char *const kinds[PCT_SITE_KINDS] = {
        [PCT_SITE_READ] = "reads",
        [PCT_SITE_WRITE] = "writes",
        [PCT_SITE_UPDATE] = "updates",
        [PCT_SITE_ATOMIC] = "atomic updates",
        [PCT_SITE_EXCHANGE] = "exchanges",
        [PCT_SITE_COMPARE] = "compare and exchange",
        [PCT_SITE_FENCE] = "fences",
        [PCT_SITE_PAUSE] = "pauses",
        [PCT_SITE_LOOK] = "reads in loops that wait",
        [PCT_SITE_PLACE] = "where functions begin or return",
        [PCT_SITE_CALL] = "reads of where to call or jump to (pct explore)",
    };
    static const char *const omissions[] = {
#define TEXT(id, text) text,
        PCT_PLAN_OMISSIONS(TEXT)
#undef TEXT
    };
    pct_cli_print_clean(out, path, SIZE_MAX);
    if (plan->refusal) {
        fprintf(out, ": cannot be patched: %s\n", pct_plan_refusal(plan->refusal));
        return false;
    }
    fprintf(out, ": %llu sites (%s)\n", (unsigned long long)plan->sites, pct_plan_level_name(plan->level));
    for (unsigned i = 0; i < PCT_SITE_KINDS; i++)
        if (plan->by_kind[i])
            fprintf(out, "  %9llu  %s\n", (unsigned long long)plan->by_kind[i], kinds[i]);
    if (plan->slots)
        fprintf(out, "  %9llu  functions such as memcpy and strlen, whose calls tell what they read and write\n",
                (unsigned long long)plan->slots);
    unsigned long long small = 0, entered = 0;
    for (uint64_t i = 0; i < plan->sites; i++) {
        const struct pct_plan_site *site = &pct_plan_sites(plan)[i];
        small += site->length < 5;
        entered += (site->flags & PCT_SITE_ENTERED) != 0;
    }
    if (small)
        fprintf(out,
                "  %9llu  of them in fewer than five bytes: which of those can be patched shows when it is loaded\n",
                small);
    if (entered)
        fprintf(out, "  %9llu  of them left alone: some branch leads into the middle\n", entered);
    for (unsigned i = 0; i < PCT_PLAN_OMISSIONS_COUNT; i++)
        if (plan->omitted[i])
            fprintf(out, "  %9llu  not among them: %s\n", (unsigned long long)plan->omitted[i], omissions[i]);
    if (plan->no_entry)
        fprintf(out, "  no jump fits where a function begins, at 0x%llx\n", (unsigned long long)plan->no_entry - 1);
    if (plan->no_return)
        fprintf(out, "  no jump fits where a function returns, at 0x%llx\n", (unsigned long long)plan->no_return - 1);
    return !plan->no_entry;
}

int pct_cmd_sites(int argc, char **argv)
{
    struct arguments w = { .level = "globals" };
    bool good = true;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &w);
    struct pct_config config;
    char error[256];
    if (pct_config_parse_memory(&config, w.level, "--memory", error, sizeof error))
        return pct_cli_usage("%s", error);
    struct pct_plan_function *functions = NULL;
    int count = w.functions ? pct_plan_functions_parse(&functions, w.functions) : 0;
    if (count < 0)
        return pct_cli_usage("--functions: '%s' is not FROM-TO,... in hexadecimal", w.functions);
    if (config.memory == PCT_PATCH_OFF && !count)
        return pct_cli_usage("--memory: with off there is nothing to count; try globals");
    if (w.plan && isatty(STDOUT_FILENO))
        return pct_cli_usage("--plan: a plan is not text; send standard output to a file");
    for (int i = 0; i < w.count; i++) {
        struct pct_plan *plan = pct_plan_make(w.files[i], config.memory, functions, (size_t)count);
        if (!plan) {
            return pct_cli_no_memory("");
        }
        if (w.plan) {
            good &= !pct_cli_write_all(STDOUT_FILENO, plan, plan->size);
        } else {
            struct pct_cli_narrow narrow;
            good &= print(pct_cli_narrow_begin(&narrow, stdout), w.files[i], plan);
            pct_cli_narrow_end(&narrow);
        }
        free(plan);
    }
    free(functions);
    return good ? 0 : 1;
}
