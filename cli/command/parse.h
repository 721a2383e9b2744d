/* Parsing of a command's words: argp, and what it does not say of an option that does not exist. */
#ifndef PCT_CLI_PARSE_H
#define PCT_CLI_PARSE_H

#include <argp.h>

/* For pct_parse: no command of a target follows. */
enum { PCT_PARSE_ALL = -1 };

/* argp_parse(), which ends the process where the words are not what `argp` describes; and for a long option that is
 * nearly one of those, it says which.
 *
 * own: this many words that are no options are the command's own; the next begins the command of the target, and from
 * there on nothing is looked at (the parser takes it by pct_options_take_command). PCT_PARSE_ALL: all are the command's
 * own, and options may follow them. */
void pct_parse(const struct argp *argp, int argc, char **argv, int own, void *input);

#endif
