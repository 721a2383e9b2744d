/* What the files of the `pct` command share: its sub-commands, messages, and text that is safe to print.
 * Everything here runs in the command's own process, on its only thread. */
#ifndef PCT_CLI_H
#define PCT_CLI_H

#include <common/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PCT_CLI_VERSION "0.1.0"

/* The sub-commands: X(identifier, name, one line of help). Each is int pct_cmd_<identifier>(argc, argv), with argv[0]
 * replaced by "pct NAME", and returns the exit status of the command. */
#define PCT_COMMANDS(X)                                                                                                \
    X(run, "run", "run a program under control, once or with many seeds")                                              \
    X(campaign, "campaign", "the same for CI: findings folded, confirmed, kept in a file")                             \
    X(explore, "explore", "run a program under all schedules, each class of them once")                                \
    X(script, "script", "run a program under the schedule that a script says")                                         \
    X(demon, "demon", "ask what other threads could do to a routine, by contracts")                                    \
    X(replay, "replay", "repeat the run that a token or a trace names")                                                \
    X(add, "add", "keep a failing schedule in a file of the project")                                                  \
    X(check, "check", "run the schedules of that file again")                                                          \
    X(report, "report", "print what a recorded trace says")                                                            \
    X(trace, "trace", "write a recorded trace as JSON, for Perfetto or Graphviz, as HTML")                             \
    X(minimize, "minimize", "make a failing schedule small, and measure the depth of its bug")                         \
    X(explain, "explain", "say why a run fails: the orderings that the bug needs")                                     \
    X(coverage, "coverage", "list in which ways threads have come in between each other")                              \
    X(strategies, "strategies", "list the strategies and their parameters")                                            \
    X(doctor, "doctor", "say whether a program can be controlled")                                                     \
    X(sites, "sites", "count the memory accesses that could be scheduling points")                                     \
    X(scope, "scope", "say what patterns of --focus, --watch, --suppressions stand for")                               \
    X(completion, "completion", "print the completion of these words for bash, zsh or fish")

#define PCT_RUN_PCT_DECLARE(id, name, help) int pct_cmd_##id(int argc, char **argv);
PCT_COMMANDS(PCT_RUN_PCT_DECLARE)
#undef PCT_RUN_PCT_DECLARE

/* How the user called this command: for lines that are meant to be typed again. */
extern const char *pct_cli_program;

/* One line to standard error, with "pct: " before and a line end behind. */
void pct_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and the exit status for bad usage (PCT_EXIT_USAGE), for `return pct_cli_usage(...)`. */
int pct_cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say that memory is out, and what for ("", or " for ..."); returns the exit status for that (PCT_EXIT_INTERNAL):
 * nothing that the user asked for. */
int pct_cli_no_memory(const char *what);

/* At the start of main(): the stack gets 1 MiB of the address space. Where that is limited (`ulimit -v`) and used up,
 * the kernel would refuse to let the stack grow, and end pct by SIGSEGV, where malloc() is refused with an error.
 * False: there is no room for it. A stack that is limited to less than 2 MiB (`ulimit -s`) is left as it is. */
bool pct_cli_reserve_stack(void);

/* Print text that comes from outside (a trace, the target): what is not printable becomes `?`, so that it cannot move
 * the terminal's cursor, or turn the direction of writing. At most `max` bytes; stops at a NUL. UTF-8 passes. */
void pct_cli_print_clean(FILE *out, const char *text, size_t max);

/* Text, which is clean, on lines of this many columns, broken between words alone; 0: as it is. at: the column where it
 * begins; spaces: before each further line. What stands in `...` stays on one line. */
void pct_cli_wrap(FILE *out, const char *text, unsigned columns, unsigned at, unsigned spaces);

/* What is printed between the two, on whole lines of clean text, is broken between words where the terminal is narrower
 * than they are, further lines four columns deeper than the first. begin returns where to print: `out` itself, if that
 * is no terminal; text for terminals has no colours there. */
struct pct_cli_narrow {
    FILE *out, *stream;
    char *text;
    size_t size;
    unsigned columns;
};
FILE *pct_cli_narrow_begin(struct pct_cli_narrow *narrow, FILE *out);
void pct_cli_narrow_end(struct pct_cli_narrow *narrow);

/* Text from outside, cleaned: each of its lines with this many spaces in front. */
void pct_cli_print_lines(FILE *out, const char *text, int spaces);

/* Print a word so that a POSIX shell reads it back as the same word; without quotes where none are needed. */
void pct_cli_print_quoted(FILE *out, const char *word);

/* Print the words of argv (ended by NULL), quoted, with a space between them. */
void pct_cli_print_command(FILE *out, char *const *argv);

/* A duration in seconds as people write it: "40 ms", "1.4 s", "12 s", "3 min 20 s", "2 h 5 min". Returns buffer. */
const char *pct_cli_format_duration(char *buffer, size_t size, double seconds);

/* Seconds of the monotonic clock. */
double pct_cli_now(void);

/* Write all of data. Returns 0 or a negative errno. */
int pct_cli_write_all(int fd, const void *data, size_t size);

/* Whether this file, of which nothing was read yet, can be read line by line: a line of /dev/zero would never end. */
bool pct_cli_is_text(FILE *file);

/* All that comes from this descriptor until its end, as text, to be freed; NULL: no memory. */
char *pct_cli_read_all(int fd);

/* Make the directories above this file, for the user alone; but never the user's home, nor anything above it: -ENOENT
 * if that is not there. Returns 0 or a negative errno. */
int pct_cli_make_directories(const char *path);

/* The strategy of this name: a built-in one, or, when there is a slash in the name, the one that the shared object of
 * this path exports. Matches pct_find_strategy of common/config.h. cli/base/strategy.c */
const struct pct_strategy *pct_cli_find_strategy(const char *name, char *error, size_t size);

/* Ask the strategy of this configuration whether it would start with its parameters, as the shim will. Returns 0, or
 * PCT_EXIT_USAGE after a message. cli/base/strategy.c */
int pct_cli_check_strategy(const struct pct_config *config);

/* The index of the strategy's parameter of this name, -1: it has none. cli/base/strategy.c */
int pct_cli_strategy_parameter(const struct pct_strategy *strategy, const char *name);

/* Names of operations, classes and verdicts; "?" beyond the end of the table. cli/base/names.c */
const char *pct_name_op(unsigned op);
const char *pct_name_op_identifier(unsigned op);
unsigned pct_name_op_class(unsigned op);
const char *pct_name_class(unsigned class_);
const char *pct_name_verdict(unsigned verdict);
const char *pct_name_uncontrolled(unsigned kind);
/* For this count: "child processes", "child process". */
const char *pct_name_uncontrolled_of(unsigned kind, uint64_t count);
/* "3 child processes", "1 child process": to be freed; NULL: no memory. */
char *pct_name_uncontrolled_count(unsigned kind, uint64_t count);
/* Whether what is counted there takes nothing from control, but was asked for and is not there: scheduling points. */
bool pct_name_is_blind(unsigned kind);
/* Likewise; and which schedules were seen does not depend on it. */
bool pct_name_is_aside(unsigned kind);

#endif
