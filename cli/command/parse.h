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

/* argp_parse() alone, whose help fits a terminal with fewer than 80 columns. flags: ARGP_IN_ORDER and the like. */
void pct_parse_words(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* What pct_parse() does before: ends the process where a long option is nearly one of those. */
void pct_parse_look(const struct argp *command, int argc, char **argv, int own);

/* Who wants the description itself, not what it makes of words: called in the place of parsing, by both. common: the
 * options that all commands take, too; NULL: it does not take them. It shall not return. NULL: nobody. */
extern void (*pct_parse_listener)(const struct argp *command, const struct argp *common);

#endif
