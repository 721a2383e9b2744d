/* JUnit XML, as Jenkins, GitLab, GitHub's actions and most others read it. There is no standard; what is written is
 * what all of them take: testsuites, testsuite, testcase, failure, error, system-out. For `pct check` and reports of
 * campaigns. */
#ifndef PCT_CLI_JUNIT_H
#define PCT_CLI_JUNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pct_junit_suite {
    const char *name;
    uint64_t tests, failures, errors;
    double seconds;
};

struct pct_junit_case {
    const char *class_name, *name;
    const char *file; /* or NULL */
    unsigned line;
    double seconds;
    const char *type, *message; /* of a failure; NULL: it passed */
    const char *text;           /* what a reader wants to see, or NULL */
    bool error;                 /* the test could not be made */
};

void pct_junit_begin(FILE *out, const struct pct_junit_suite *suite);
void pct_junit_case(FILE *out, const struct pct_junit_case *test);
void pct_junit_end(FILE *out);

#endif
