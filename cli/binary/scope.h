/* What patterns stand for in a program and its libraries: ranges of addresses (common/scope.h), found by symbols and
 * debug information, for the shim, which has neither. */
#ifndef PCT_CLI_SCOPE_H
#define PCT_CLI_SCOPE_H

#include "patterns.h"
#include <stdio.h>

struct pct_launch;

/* A place that a pattern stands for. */
struct pct_scope_match {
    uint32_t module, pattern;
    uint64_t from, to;
    bool cold; /* of PCT_SCOPE_FUNCTION: a part that lies elsewhere */
    char *
        what; /* "function push", "file queue.c", "line queue.c:12", "variable head", "module libz.so.1", "addresses" */
};

struct pct_scope {
    struct pct_patterns patterns;
    char **modules; /* paths; the first is the program */
    size_t module_count;
    struct pct_scope_match *item;
    size_t count;
    char **names; /* of everything that could have been meant, for "did you mean"; only on demand */
    size_t name_count;
    bool elf, collects; /* the program is an ELF file; names are wanted */
};

/* Find out what scope->patterns stand for in scope->modules. Returns 0 or the exit status for the command, after a
 * message. */
int pct_scope_find(struct pct_scope *scope);

/* A pattern of --focus, --watch or --functions that stands for nothing is a mistake: returns the status for usage after
 * a message that says what it may have meant, else 0. */
int pct_scope_check(struct pct_scope *scope);

/* Of the names of all that there is the one that may have been meant; NULL: none is near. It lives as long as the
 * scope. */
const char *pct_scope_closest(struct pct_scope *scope, const char *name);

/* The bytes for the shim. NULL: out of memory. The caller frees them. */
void *pct_scope_format(const struct pct_scope *scope, size_t *size);

void pct_scope_free(struct pct_scope *scope);

/* The files that this program is loaded with, itself first, by asking the dynamic linker; the program is not run.
 * Returns how many; the caller frees them. */
size_t pct_scope_modules(const char *program, char ***modules);

/* What this configuration says of a scope, for a launch. */
struct pct_config;
void pct_scope_want(struct pct_launch *launch, const struct pct_config *config);

/* Make the scope of launch->focus, launch->watch and launch->suppressions, and its file (launch->scope), if there is
 * anything to say. Returns 0 or the exit status for the command, after a message; also if something is to be watched
 * that cannot be. finish removes the file. */
int pct_scope_prepare(struct pct_launch *launch);
void pct_scope_finish(const struct pct_launch *launch);

#endif
