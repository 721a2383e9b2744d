/* The nearest functions that can be patched: see functions_nearest.h. */
#include "functions_nearest.h"
#include "code_hash.h"
#include "patch_plan.h"
#include "patterns.h"
#include <cli/base/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 8 }; /* each scans the file */

/* Whether all functions that this name stands for can be patched. */
static bool fits(const struct pct_code *code, const char *path, char *name, unsigned level, bool returns)
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
        if (!fits(code, path, other->name, level, returns))
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
