/* The scope of a run: see scope.h. */
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <cli/binary/functions_check.h>
#include <cli/binary/libraries.h>
#include "launch.h"
#include <cli/binary/locate.h>
#include <cli/binary/scope.h>
#include <cli/binary/watch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool add(char ***modules, size_t *count, const char *path)
{
    char **grown = realloc(*modules, (*count + 1) * sizeof **modules);
    if (!grown)
        return false;
    *modules = grown;
    grown[*count] = strdup(path);
    *count += grown[*count] != NULL;
    return true;
}

/* Programs do not tell of accesses in these, and nobody means them. */
static bool is_system(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return !strncmp(name, "libc.so.", 8) || !strncmp(name, "ld-linux", 8) || !strncmp(name, "libpct", 6);
}

struct list {
    char **modules;
    size_t count;
};

static int add_library(void *data, const char *path)
{
    struct list *list = data;
    if (!is_system(path))
        add(&list->modules, &list->count, path);
    return 0;
}

size_t pct_scope_modules(const char *program, char ***modules)
{
    struct list list = { .count = 0 };
    char *real = realpath(program, NULL);
    if (add(&list.modules, &list.count, program) && real)
        pct_libraries_each(real, add_library, &list);
    free(real);
    *modules = list.modules;
    return list.count;
}

static int write_file(struct pct_launch *launch, const struct pct_scope *scope)
{
    size_t size;
    void *bytes = pct_scope_format(scope, &size);
    launch->scope_file = bytes ? pct_locate_scratch(launch->scope, sizeof launch->scope, false) : -1;
    int failed = launch->scope_file < 0 ? -1 : pct_cli_write_all(launch->scope_file, bytes, size);
    free(bytes);
    if (!failed)
        return 0;
    pct_cli_say("no space for what --focus, --watch, --functions and --suppressions stand for: make room in /dev/shm "
                "or $TMPDIR");
    return PCT_EXIT_INTERNAL;
}

/* A focus on accesses that nobody tells of. */
static void doubt(const struct pct_launch *launch, const struct pct_scope *scope)
{
    for (size_t i = 0; i < scope->module_count; i++)
        if (pct_elf_tells(scope->modules[i]))
            return;
    pct_cli_say("--focus: %s tells pct of no memory accesses: build it with pct-cc, or add --memory=globals",
                launch->program);
}

void pct_scope_want(struct pct_launch *launch, const struct pct_config *config)
{
    launch->patches = config->memory != PCT_PATCH_OFF;
    pct_config_format_focus(config, launch->focus, sizeof launch->focus);
    pct_config_format_watch(config, launch->watch, sizeof launch->watch);
    pct_config_format_functions(config, launch->functions, sizeof launch->functions);
    launch->patch_level = config->memory;
}

int pct_scope_prepare(struct pct_launch *launch)
{
    struct pct_scope scope = { .elf = false };
    const char *suppressions = launch->suppressions ? launch->suppressions : getenv("PCT_SUPPRESSIONS");
    int failed = 0;
    char program[PATH_MAX];
    if (!launch->behind || pct_locate_command(launch->behind, program, sizeof program))
        strcpy(program, launch->program);
    launch->scope[0] = 0;
    if (suppressions && *suppressions)
        failed = pct_patterns_add_suppressions(&scope.patterns, suppressions);
    if (!failed && launch->focus[0])
        failed = pct_patterns_add_focus(&scope.patterns, launch->focus);
    if (!failed && launch->watch[0])
        failed = pct_patterns_add_watch(&scope.patterns, launch->watch);
    if (!failed && launch->functions[0])
        failed = pct_patterns_add_functions(&scope.patterns, launch->functions);
    if (!failed && scope.patterns.count) {
        scope.module_count = pct_scope_modules(program, &scope.modules);
        failed = pct_scope_find(&scope);
        if (!failed)
            failed = pct_scope_check(&scope);
        if (!failed && launch->focus[0] && !launch->patches)
            doubt(launch, &scope);
        if (!failed && launch->watch[0])
            failed = pct_watch_check(launch->watch);
        if (!failed && launch->functions[0])
            failed = pct_functions_check(&scope, launch->patch_level, (enum pct_functions_returns)launch->returns);
        if (!failed)
            failed = write_file(launch, &scope);
    }
    pct_scope_free(&scope);
    return failed;
}

void pct_scope_finish(const struct pct_launch *launch)
{
    if (!launch->scope[0])
        return;
    unlink(launch->scope);
    if (launch->scope_file >= 0)
        close(launch->scope_file);
}
