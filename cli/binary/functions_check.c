/* Whether functions can be patched: see functions_check.h. */
#include "functions_check.h"
#include "functions_nearest.h"
#include "patch_plan.h"
#include <cli/base/cli.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* A place that --functions names. */
static bool is_place(const struct pct_scope *scope, const struct pct_scope_match *match)
{
    const unsigned kind = scope->patterns.item[match->pattern].kind;
    return kind == PCT_SCOPE_FUNCTION || kind == PCT_SCOPE_LINE;
}

static bool is_line(const struct pct_scope *scope, const struct pct_scope_match *match)
{
    return scope->patterns.item[match->pattern].kind == PCT_SCOPE_LINE;
}

/* The match of --functions that begins at this address, or else is a function that it is in; NULL: there is none. */
static const struct pct_scope_match *match_at(const struct pct_scope *scope, uint32_t module, uint64_t address)
{
    const struct pct_scope_match *around = NULL;
    for (size_t i = 0; i < scope->count; i++) {
        const struct pct_scope_match *match = &scope->item[i];
        if (!is_place(scope, match) || match->module != module)
            continue;
        if (address == match->from)
            return match;
        if (!is_line(scope, match) && address >= match->from && address < match->to)
            around = match;
    }
    return around;
}

static const char *name_at(const struct pct_scope *scope, uint32_t module, uint64_t address)
{
    const struct pct_scope_match *match = match_at(scope, module, address);
    return match ? match->what : "a function";
}

static void say_line(char *text, size_t size, const char *path, const struct pct_scope_match *line, unsigned level)
{
    char nearest[256];
    const bool near = pct_lines_nearest(path, line, level, nearest, sizeof nearest);
    snprintf(text, size, "no jump fits where code of %s begins, at 0x%llx of %s: name %s, or build it with -O0",
             line->what + sizeof "line", (unsigned long long)line->from, path,
             near ? nearest : "a line of another function");
}

static int refuse(const struct pct_scope *scope, uint32_t module, const struct pct_plan *plan, unsigned level,
                  enum pct_functions_returns returns)
{
    char nearest[256];
    const char *path = scope->modules[module];
    unsigned long long entry = plan->no_entry - 1, end = plan->no_return - 1;
    if (plan->refusal)
        return pct_cli_usage("--functions: %s cannot be patched: %s", path, pct_plan_refusal(plan->refusal));
    const struct pct_scope_match *line = plan->no_entry ? match_at(scope, module, entry) : NULL;
    if (line && is_line(scope, line)) {
        char text[PATH_MAX + 512];
        say_line(text, sizeof text, path, line, level);
        return pct_cli_usage("--functions: %s", text);
    }
    if (plan->no_entry &&
        pct_functions_nearest(path, entry, level, returns == PCT_RETURNS_NEEDED, nearest, sizeof nearest))
        return pct_cli_usage(
            "--functions: no jump fits where %s begins, at 0x%llx of %s: name %s, or build it with -O0",
            name_at(scope, module, entry), entry, path, nearest);
    if (plan->no_entry)
        return pct_cli_usage(
            "--functions: no jump fits where %s begins, at 0x%llx of %s: name a function that calls it, "
            "or build it with -O0",
            name_at(scope, module, entry), entry, path);
    if (plan->no_return && returns == PCT_RETURNS_NEEDED &&
        pct_functions_nearest(path, end, level, true, nearest, sizeof nearest))
        return pct_cli_usage(
            "no jump fits where %s returns, at 0x%llx of %s: name %s, say which function begins next, or "
            "build it with -O0 or -O2",
            name_at(scope, module, end), end, path, nearest);
    if (plan->no_return && returns == PCT_RETURNS_NEEDED)
        return pct_cli_usage(
            "no jump fits where %s returns, at 0x%llx of %s: say which function begins next, or build it "
            "with -O0 or -O2",
            name_at(scope, module, end), end, path);
    if (plan->no_return && returns == PCT_RETURNS_TOLD)
        pct_cli_say("--functions: no jump fits where %s returns, at 0x%llx of %s: there is no scheduling point there",
                    name_at(scope, module, end), end, path);
    return 0;
}

/* Of what --functions names in this module, or of this pattern of it (PCT_LINES_ALL: of each); *any: there is
 * something. To be freed; NULL: there is none, or no memory. */
static struct pct_plan *make_plan(const struct pct_scope *scope, uint32_t module, uint32_t pattern, unsigned level,
                                  bool *any)
{
    struct pct_plan_function *functions = calloc(scope->count + 1, sizeof *functions);
    size_t count = 0;
    for (size_t i = 0; functions && i < scope->count; i++) {
        const struct pct_scope_match *match = &scope->item[i];
        if (is_place(scope, match) && match->module == module &&
            (pattern == PCT_LINES_ALL || match->pattern == pattern))
            functions[count++] = (struct pct_plan_function){
                .from = match->from, .to = match->to, .cold = match->cold, .line = is_line(scope, match)
            };
    }
    struct pct_plan *plan = count ? pct_plan_make(scope->modules[module], level, functions, count) : NULL;
    *any = !functions || count;
    free(functions);
    return plan;
}

static int check_module(const struct pct_scope *scope, uint32_t module, unsigned level,
                        enum pct_functions_returns returns)
{
    bool any;
    struct pct_plan *plan = make_plan(scope, module, PCT_LINES_ALL, level, &any);
    int status = !any ? 0 : plan ? refuse(scope, module, plan, level, returns) : pct_cli_no_memory("");
    free(plan);
    return status;
}

bool pct_lines_fit(const struct pct_scope *scope, uint32_t pattern, unsigned level, char *why, size_t size)
{
    bool fit = true;
    for (uint32_t module = 0; module < scope->module_count && fit; module++) {
        bool any;
        const char *path = scope->modules[module];
        struct pct_plan *plan = make_plan(scope, module, pattern, level, &any);
        if (any && (!plan || plan->refusal || plan->no_entry))
            fit = false;
        if (!fit && plan && plan->no_entry && pattern != PCT_LINES_ALL)
            say_line(why, size, path, match_at(scope, module, plan->no_entry - 1), level);
        else if (!fit)
            snprintf(why, size, "%s cannot be patched: %s", path, plan ? pct_plan_refusal(plan->refusal) : "no memory");
        free(plan);
    }
    return fit;
}

int pct_functions_check(const struct pct_scope *scope, unsigned level, enum pct_functions_returns returns)
{
    int status = 0;
    for (uint32_t module = 0; module < scope->module_count && !status; module++)
        status = check_module(scope, module, level, returns);
    return status;
}
