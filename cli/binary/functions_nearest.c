/* The nearest functions, or lines, that can be patched: see functions_nearest.h. */
#include "functions_nearest.h"
#include "patch_plan.h"
#include "patterns.h"
#include <cli/base/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 8 }; /* each scans the file */

bool pct_functions_fit(const struct pct_code *code, const char *path, char *name, unsigned level, bool returns)
{
    struct pct_pattern pattern = { .text = name, .whole = true, .names = PCT_NAMES_SYMBOL };
    struct pct_plan_function *functions = calloc(code->count + 1, sizeof *functions);
    size_t count = 0;
    for (size_t i = 0; functions && i < code->count; i++) {
        const struct pct_code_function *f = &code->item[i];
        char *plain = pct_demangle(f->name);
        bool cold;
        if (!f->is_data && pct_pattern_means_function(&pattern, f->name, plain, &cold))
            functions[count++] = (struct pct_plan_function){ .from = code->base + f->offset,
                                                             .to = code->base + f->offset + f->size,
                                                             .cold = cold };
        free(plain);
    }
    struct pct_plan *plan = count ? pct_plan_make(path, level, functions, count) : NULL;
    bool can = plan && !plan->refusal && !plan->no_entry && !(returns && plan->no_return);
    free(plan);
    free(functions);
    return can;
}

static bool find(const struct pct_code *code, const char *path, const struct pct_code_function *function, bool callers,
                 unsigned level, bool returns, char *text, size_t size)
{
    unsigned tries = TRIES;
    for (size_t i = 0; i < code->count && tries; i++) {
        const struct pct_code_function *other = &code->item[i];
        /* A copy that a compiler has made has a name of its own, and user's names stand for it, too. */
        if (other->is_data || other->offset == function->offset || strchr(other->name, '.') ||
            !(callers ? pct_code_calls(code, other, function) : pct_code_calls(code, function, other)))
            continue;
        tries--;
        if (!pct_functions_fit(code, path, other->name, level, returns))
            continue;
        char *plain = pct_demangle(other->name);
        snprintf(text, size, "`%s`, which %s", plain ? plain : other->name, callers ? "calls it" : "it calls");
        free(plain);
        return true;
    }
    return false;
}

bool pct_functions_nearest(const char *path, uint64_t address, unsigned level, bool returns, char *text, size_t size)
{
    struct pct_code code;
    if (pct_code_read(&code, path))
        return false;
    const struct pct_code_function *function = pct_code_at(&code, address - code.base);
    bool found = function && (find(&code, path, function, true, level, returns, text, size) ||
                              find(&code, path, function, false, level, returns, text, size));
    pct_code_free(&code);
    return found;
}

/* Whether this line has code in the function that ends here, and all its code can be patched. */
static bool line_fits(const char *path, const char *name, uint64_t to, unsigned level)
{
    char *module = (char *)(uintptr_t)path;
    struct pct_scope scope = { .modules = &module, .module_count = 1 };
    struct pct_plan_function *lines = NULL;
    struct pct_plan *plan = NULL;
    bool there = false;
    if (!pct_patterns_add_functions(&scope.patterns, name) && !pct_scope_find(&scope))
        lines = calloc(scope.count + 1, sizeof *lines);
    for (size_t i = 0; lines && i < scope.count; i++) {
        lines[i] = (struct pct_plan_function){ .from = scope.item[i].from, .to = scope.item[i].to, .line = true };
        there |= scope.item[i].to == to;
    }
    if (there)
        plan = pct_plan_make(path, level, lines, scope.count);
    const bool can = plan && !plan->refusal && !plan->no_entry;
    free(plan);
    free(lines);
    scope.modules = NULL; /* not its own */
    scope.module_count = 0;
    pct_scope_free(&scope);
    return can;
}

bool pct_lines_nearest(const char *path, const struct pct_scope_match *line, unsigned level, char *text, size_t size)
{
    const char *name = line->what + sizeof "line", *colon = strrchr(name, ':');
    const long number = colon ? strtol(colon + 1, NULL, 10) : 0;
    for (long distance = 1; colon && distance <= TRIES; distance++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const long other = number + sign * distance;
            snprintf(text, size, "%.*s:%ld", (int)(colon - name), name, other);
            if (other > 0 && line_fits(path, text, line->to, level))
                return true;
        }
    return false;
}
