/* Patterns for functions, source files, variables and modules, as --focus and files of suppressions have them. */
#ifndef PCT_CLI_PATTERNS_H
#define PCT_CLI_PATTERNS_H

#include <common/scope.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a pattern is compared with. */
enum {
    PCT_NAMES_FUNCTION = 1,
    PCT_NAMES_FILE = 2,
    PCT_NAMES_VARIABLE = 4,
    PCT_NAMES_MODULE = 8,
    PCT_NAMES_ALL = 15,
    PCT_NAMES_SYMBOL = 16 /* functions with code of their own, and all parts of it */
};

struct pct_pattern {
    char *text;
    unsigned line; /* in the file of suppressions; 0: of --focus */
    unsigned kind; /* enum pct_scope_kind */
    unsigned names;
    bool whole;            /* it stands for whole names, not for parts of them */
    uint64_t from, to;     /* MODULE+FROM-TO: these addresses of the module, and no names; to is 0: not this */
    uint64_t offset, size; /* of --watch: this part of the variable; size 0: up to its end */
    unsigned at_line;      /* of a source file: nothing but this line of it; 0: all */
    unsigned near_line; /* of that file: another line with code, the nearest one; 0: there is none. By scope.c, too */
    bool own;           /* of --functions: the program itself has it */
    bool made;          /* no name is it: what compilers have made of it is meant */
    uint64_t matches;   /* ranges, counted by cli/binary/scope.c */
};

struct pct_patterns {
    struct pct_pattern *item;
    size_t count;
};

/* Add what --focus (or the variable) says: names with commas in between, `*` for anything; MODULE+0xFROM[-0xTO] for
 * addresses, the program's without MODULE. Returns 0, or the exit status for the command after a message. */
int pct_patterns_add_focus(struct pct_patterns *patterns, const char *text);

/* Add what --watch says: variables with commas in between, each with +OFFSET and :BYTES or without; +0xADDRESS for one
 * without a name. The same. */
int pct_patterns_add_watch(struct pct_patterns *patterns, const char *text);

/* Add what --functions says: names, or FILE:LINE, with commas in between. The same. */
int pct_patterns_add_functions(struct pct_patterns *patterns, const char *text);

/* Make the pattern stand for a line if its text is FILE:LINE, which leaves FILE. False: it is not. */
bool pct_pattern_take_line(struct pct_pattern *pattern);

/* Whether a pattern means the function of this symbol, or the function that a compiler has made this one of (its
 * specialised copies, its parts); *cold: a part of it. plain: as for pct_pattern_means(). */
bool pct_pattern_means_function(const struct pct_pattern *pattern, const char *symbol, const char *plain, bool *cold);

/* Whether this symbol is what a compiler has made of the variable that a pattern means: one of a function's own, or a
 * part. */
bool pct_pattern_means_made(const struct pct_pattern *pattern, const char *symbol);

/* Add the suppressions of this file, in ThreadSanitizer's format: KIND:PATTERN on each line, # begins a comment. The
 * same. */
int pct_patterns_add_suppressions(struct pct_patterns *patterns, const char *path);

void pct_patterns_free(struct pct_patterns *patterns);

/* Whether a name is meant: `*` is any text, a pattern may be anywhere in the name unless `^` or `$` ties it to an end.
 */
bool pct_pattern_is_in(const char *pattern, const char *name);

/* Whether this pattern means a function or variable of this symbol, which is `plain` in C++. */
bool pct_pattern_means(const struct pct_pattern *pattern, const char *symbol, const char *plain);

/* A file or module of this path. */
bool pct_pattern_means_file(const struct pct_pattern *pattern, const char *path);

#endif
