/* `pct scope`: what patterns of --focus and the like stand for in a program. The shim runs it too (--write). */
#include <cli/base/cli.h>
#include "parse.h"
#include <cli/binary/scope.h>
#include <cli/process/settings.h>
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_FOCUS = 2000, KEY_SUPPRESSIONS, KEY_WATCH, KEY_FUNCTIONS, KEY_WRITE, SHOWN = 12 };

static const struct argp_option options[] = {
    { "focus", KEY_FOCUS, "PATTERN,...", 0, "patterns as `pct run --focus` has them", 1 },
    { "watch", KEY_WATCH, "VARIABLE,...", 0, "variables as `pct run --watch` has them", 1 },
    { "functions", KEY_FUNCTIONS, "NAME,...", 0, "functions as `pct run --functions` has them", 1 },
    { "suppressions", KEY_SUPPRESSIONS, "FILE", 0, "a file as `pct run --suppressions` has it", 1 },
    { "write", KEY_WRITE, NULL, 0,
      "write what libpct.so reads, to standard output; not to a terminal. Then only the libraries that are named are "
      "read",
      1 },
    { 0 },
};

struct arguments {
    const char *focus, *watch, *functions, *suppressions;
    bool write;
    char **files;
    int count;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { KEY_FOCUS, .text = &w->focus }, { KEY_SUPPRESSIONS, .text = &w->suppressions },
        { KEY_WATCH, .text = &w->watch }, { KEY_FUNCTIONS, .text = &w->functions },
        { KEY_WRITE, .on = &w->write },   { 0 },
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
            argp_error(state, "no program is given");
        if (!w->focus && !w->watch && !w->functions && !w->suppressions)
            argp_error(state, "no patterns are given: --focus=NAME, --watch=VARIABLE, --functions=NAME "
                              "or --suppressions=FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "PROGRAM [LIBRARY...]",
    .doc = "Say which functions, source files, variables and libraries of a program are meant by the patterns of "
           "`pct run --focus`, `--watch`, `--functions` and `--suppressions`.\v"
           "Reads files, and runs nothing. The exit status is 0 if each pattern stands for something, and 1 if one "
           "does not.",
};

static void print_matches(const struct pct_scope *scope, uint32_t pattern)
{
    const char *last = "";
    unsigned shown = 0;
    for (size_t i = 0; i < scope->count; i++) {
        const struct pct_scope_match *match = &scope->item[i];
        const bool again = scope->patterns.item[pattern].kind != PCT_SCOPE_LINE && !strcmp(match->what, last);
        if (match->pattern != pattern || again || ++shown > SHOWN)
            continue;
        last = match->what;
        const char *path = scope->modules[match->module], *slash = strrchr(path, '/');
        fputs("  ", stdout);
        pct_cli_print_clean(stdout, match->what, SIZE_MAX);
        printf(", at 0x%llx of ", (unsigned long long)match->from);
        pct_cli_print_clean(stdout, slash ? slash + 1 : path, SIZE_MAX);
        putchar('\n');
    }
    if (shown > SHOWN)
        printf("  and %u more\n", shown - SHOWN);
}

static bool print(const struct pct_scope *scope)
{
    bool good = true;
    for (uint32_t i = 0; i < scope->patterns.count; i++) {
        const struct pct_pattern *pattern = &scope->patterns.item[i];
        if (pattern->line)
            printf("line %u, ", pattern->line);
        putchar('\'');
        pct_cli_print_clean(stdout, *pattern->text ? pattern->text : "addresses of the program", SIZE_MAX);
        if (!pattern->line && pattern->at_line)
            printf(":%u", pattern->at_line);
        puts("':");
        if (!pattern->matches)
            puts("  nothing");
        good &= pattern->matches != 0;
        print_matches(scope, i);
    }
    return good;
}

int pct_cmd_scope(int argc, char **argv)
{
    struct arguments w = { .write = false };
    struct pct_scope scope = { .elf = false };
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &w);
    if (w.write && isatty(STDOUT_FILENO))
        return pct_cli_usage("--write: this is not text; send standard output to a file");
    int status = w.suppressions ? pct_patterns_add_suppressions(&scope.patterns, w.suppressions) : 0;
    if (!status && w.focus)
        status = pct_patterns_add_focus(&scope.patterns, w.focus);
    if (!status && w.watch)
        status = pct_patterns_add_watch(&scope.patterns, w.watch);
    if (!status && w.functions)
        status = pct_patterns_add_functions(&scope.patterns, w.functions);
    if (!status) {
        if (w.write)
            scope.modules = calloc((size_t)w.count, sizeof *scope.modules);
        else
            scope.module_count = pct_scope_modules(w.files[0], &scope.modules);
        for (int i = 0; w.write && i < w.count && scope.modules; i++)
            scope.modules[scope.module_count++] = strdup(w.files[i]);
        status = pct_scope_find(&scope);
    }
    size_t size;
    void *bytes = !status && w.write ? pct_scope_format(&scope, &size) : NULL;
    if (bytes)
        status = pct_cli_write_all(STDOUT_FILENO, bytes, size) ? PCT_EXIT_INTERNAL : 0;
    else if (!status)
        status = print(&scope) ? 0 : 1;
    free(bytes);
    pct_scope_free(&scope);
    return status;
}
