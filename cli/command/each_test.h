/* --each-test: each test case of a GoogleTest, Catch2 or Rust (libtest) program becomes a target of its own, in a
 * process of `pct` of its own. Used by `pct run`, `pct campaign`, `pct explore` and `pct script`. */
#ifndef PCT_CLI_EACH_TEST_H
#define PCT_CLI_EACH_TEST_H

#include <stdbool.h>

/* For the tables of options of both: the word of the option, for argp and for finding it again. */
#define PCT_EACH_TEST_OPTION "each-test"
#define PCT_EACH_TEST_HELP                                                                                             \
    "the program is made with GoogleTest, Catch2 or Rust's test harness (KIND: gtest, catch2 or libtest, found out "   \
    "if "                                                                                                              \
    "not given): do this for each of its test cases; {test} in options stands for its name"

/* A hidden option of sub-commands that pass the target's exit status on, with a file descriptor: see below. */
#define PCT_EACH_TEST_BEGUN "begun"

/* argv: the sub-command's, with this option in it and ended by NULL; command: where in it the target begins; kind: the
 * option's value or NULL; extra: a further option for each, or NULL; passes: the sub-command has PCT_EACH_TEST_BEGUN.
 * Lists the test cases, and calls the same sub-command for each. Returns the exit status: of the first test case that
 * failed, in the order of the program's list. */
int pct_each_test(char **argv, char **command, const char *kind, const char *extra, bool passes);

/* The value of PCT_EACH_TEST_BEGUN: returns the descriptor, which no target inherits. */
int pct_each_test_take(const char *argument);

/* What would be wrong for each test case, such as an option, is none: from now on status 2 is this one's own. begun:
 * the descriptor; 0: nobody asks. */
void pct_each_test_begun(int begun);

/* Behind that: the exit status is to be what the test case, or the run that it was, ended with. */
void pct_each_test_ended(int begun);

#endif
