/* Options that run and replay share, as an argp parser for both (its input is a struct pct_launch), and the parsing of
 * their values. */
#ifndef PCT_CLI_OPTIONS_H
#define PCT_CLI_OPTIONS_H

#include <cli/base/cli.h>
#include "launch.h"
#include <argp.h>

/* The child of run's and replay's parser: --lib, --aslr, --timeout, and those for servers. */
extern const struct argp pct_options_launch_argp;
extern const struct argp_child pct_options_launch[];

/* A whole number in min..max, for an option of this name; ends the command with the status for usage if it is not. */
uint64_t pct_options_number(struct argp_state *state, const char *name, const char *text, uint64_t min, uint64_t max);

/* A number of seconds above 0; likewise. */
double pct_options_seconds(struct argp_state *state, const char *name, const char *text);

/* The argument of --confidence, a probability between 0 and 1; likewise. */
double pct_options_confidence(struct argp_state *state, const char *text);

/* --engine: how runs are made. Its argument, likewise. */
#define PCT_ENGINE_OPTION "engine"
#define PCT_ENGINE_HELP                                                                                                \
    "how the runs after the first are made: fork (also auto, the default), or restore: in one process, whose memory "  \
    "is put back after each, where the program allows it"
void pct_options_engine(struct argp_state *state, struct pct_launch *launch, const char *name);

/* The word that the parser was just given begins the target's command; all that follows is the target's, whatever it
 * looks like. */
void pct_options_take_command(struct argp_state *state, struct pct_launch *launch);

/* Whether this argument, where a token or a file is expected, stands behind `--` and is no token: it was left out. */
bool pct_options_is_left_out(const struct argp_state *state, const char *argument);

/* For what a parser does not know itself: the same where the command is the first argument, and a mistake where there
 * is none. usage: what stands before it, such as "pct run". Returns as a parser does. */
error_t pct_options_parse_command(int key, struct argp_state *state, struct pct_launch *launch, const char *usage);

/* Print an option and its value as a shell reads them, with a space behind; nothing if the value is NULL. */
void pct_options_print_word(FILE *out, const char *option, const char *value);

/* Print the options that a replay needs as well, each with a space behind. timeout: whether that one matters. process:
 * the run to be replayed, or NULL: as they were given. */
void pct_options_print(FILE *out, const struct pct_launch *launch, const struct pct_process *process, bool timeout);

/* The parser of --ok-status, whose input is a bool[256]: by exit status, whether it is no failure. Its group begins
 * what a failure is; pct_oracle_argp goes on with it. */
extern const struct argp pct_options_ok_argp;

/* Write that choice as options, with a space behind each; nothing if 0 alone is no failure. */
void pct_options_print_ok_status(FILE *out, const bool ok[256]);

#endif
