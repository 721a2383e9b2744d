/* Where threads can stop as they come to a line: see script.h. What cannot be patched is no mistake yet: a script may
 * mean what is called on the line (locks * at "f.c:12"). Where it does not, the run says why not. */
#include "script.h"
#include <cli/base/cli.h>
#include <cli/binary/functions_check.h>
#include <stdlib.h>
#include <string.h>

/* The lines, of the modules of the scope of all words. */
static int find_lines(struct pct_scope *lines, const struct pct_script_words *words, const struct pct_scope *scope)
{
    int status = 0;
    *lines = (struct pct_scope){ .modules = scope->modules, .module_count = scope->module_count };
    for (size_t i = 0; i < words->count && !status; i++)
        if (words->item[i].kind == PCT_SCRIPT_LINE)
            status = pct_patterns_add_functions(&lines->patterns, words->item[i].text);
    return status || !lines->patterns.count ? status : pct_scope_find(lines);
}

int pct_script_stops_find(struct pct_script_words *words, const struct pct_scope *scope)
{
    char why[PATH_MAX + 512];
    struct pct_scope lines;
    int status = find_lines(&lines, words, scope);
    const bool all = !status && pct_lines_fit(&lines, PCT_LINES_ALL, PCT_PATCH_OFF, why, sizeof why);
    uint32_t pattern = 0;
    for (size_t i = 0; i < words->count && !status; i++) {
        struct pct_script_word *word = &words->item[i];
        if (word->kind != PCT_SCRIPT_LINE)
            continue;
        const bool fits = all || pct_lines_fit(&lines, pattern, PCT_PATCH_OFF, why, sizeof why);
        pattern++;
        char **text = fits ? &word->functions : &word->refusal;
        *text = strdup(fits ? word->text : why);
        status = *text ? 0 : pct_cli_no_memory("");
    }
    lines.modules = NULL; /* not its own */
    lines.module_count = 0;
    pct_scope_free(&lines);
    return status;
}
