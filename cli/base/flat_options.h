/* All options that an argp description takes, its children's too, as one list. For what walks options beside argp
 * itself: pct_parse() and completion. */
#ifndef PCT_CLI_FLAT_OPTIONS_H
#define PCT_CLI_FLAT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

struct pct_flat_option {
    const char *name;     /* without dashes; NULL: it has a letter only */
    const char *argument; /* what help calls its value; NULL: it takes none */
    const char *help;     /* may be NULL */
    int letter;           /* 0: it has a name only */
    bool optional;        /* the value, which then stands behind = */
    bool hidden;          /* not to be recommended */
};

/* More than any command has. */
enum { PCT_FLAT_OPTIONS = 128 };

/* Fill `to` with at most PCT_FLAT_OPTIONS, in the order of the tables, parents first; an alias is one of its own, with
 * the value of what it stands for. Returns how many. */
size_t pct_flat_options(const struct argp *argp, struct pct_flat_option *to);

#endif
