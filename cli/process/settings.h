/* Options that only set variables: a row for each, in the place of a case of its own in the parser. */
#ifndef PCT_CLI_SETTINGS_H
#define PCT_CLI_SETTINGS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct pct_setting {
    int key;             /* of the option; ARGP_KEY_ARG: an argument; ARGP_KEY_INIT, ARGP_KEY_END: before, behind all */
    void *const *inputs; /* of the parser's children, and NULL, for ARGP_KEY_INIT */
    /* What gets the value, at most one of these. Where it is optional and left out: NULL, and no number. */
    const char **text;
    uint64_t *number;     /* from least to most */
    unsigned *count;      /* likewise */
    double *seconds;      /* above 0 */
    bool *on, *off;       /* becomes true, or false; may stand beside a value */
    uint64_t least, most; /* where they are needed */
    const char *once;     /* of an argument: what is wrong with a second one */
    const char *missing;  /* of ARGP_KEY_END: what is wrong where `text` is still NULL, which is not set then */
};

/* Whether a row of these has this key: then it is done. They end with { 0 }. options: of this parser, for the names of
 * those with a wrong value, which ends the command. */
bool pct_settings_take(const struct pct_setting *settings, const struct argp_option *options, int key, char *argument,
                       struct argp_state *state);

#endif
