/* The options of `pct demon`, as argp takes them: pct-demon (demon/) parses them, and the command, which starts it,
 * knows them for completion and for "did you mean". Included where argp.h is. */
#ifndef PCT_COMMON_DEMON_OPTIONS_H
#define PCT_COMMON_DEMON_OPTIONS_H

enum {
    PCT_DEMON_KEY_SPEC = 1000,
    PCT_DEMON_KEY_TEST,
    PCT_DEMON_KEY_LIST,
    PCT_DEMON_KEY_BOUND,
    PCT_DEMON_KEY_DEPTH,
    PCT_DEMON_KEY_POINTS,
    PCT_DEMON_KEY_SECONDS,
    PCT_DEMON_KEY_TIMEOUT,
    PCT_DEMON_KEY_REPORT,
    PCT_DEMON_KEY_EMIT,
    PCT_DEMON_KEY_DB
};

#define PCT_DEMON_ARGUMENTS_DOC "[--] COMMAND [ARGUMENT...]"

/* clang-format off */
#define PCT_DEMON_OPTIONS \
    { "spec", PCT_DEMON_KEY_SPEC, "FILE", 0, \
      "contracts, besides those in comments above the program's functions", 0 }, \
    { "test", PCT_DEMON_KEY_TEST, "FUNCTION", 0, "of several tests in comments, this one", 0 }, \
    { "list", PCT_DEMON_KEY_LIST, NULL, 0, \
      "say what each procedure may change, and which points the test has; search nothing", 0 }, \
    { "bound", PCT_DEMON_KEY_BOUND, "N", 0, "the most calls that others make at a point, 1 to 3 (default: 3)", 0 }, \
    { "depth", PCT_DEMON_KEY_DEPTH, "N", 0, \
      "2: others may make a call at an earlier point, too, behind which the test may go another way (default: " \
      "1)", 0 }, \
    { "points", PCT_DEMON_KEY_POINTS, "WHAT", 0, \
      "where others may come in: calls of functions that contracts name, locks, too (before each operation on " \
      "one), or accesses to memory, too (default: calls; while nothing is confirmed locks, and in programs by " \
      "pct-cc accesses)", 0 }, \
    { "seconds", PCT_DEMON_KEY_SECONDS, "N", 0, "stop searching after this time (default: never)", 0 }, \
    { "timeout", PCT_DEMON_KEY_TIMEOUT, "SECONDS", 0, "kill a run that takes longer than this (default: 10)", 0 }, \
    { "report", PCT_DEMON_KEY_REPORT, "FORMAT[:FILE]", 0, \
      "write what was found as json, sarif or junit, too; - or none: to standard output", 0 }, \
    { "db", PCT_DEMON_KEY_DB, "FILE", 0, \
      "write a confirmed finding as a campaign file, for `pct campaign report`; one that is there is kept as " \
      "FILE.old", 0 }, \
    { "emit-test", PCT_DEMON_KEY_EMIT, "FILE", 0, \
      "write a confirmed finding as a test of two threads in C, and say by which token it fails", 0 }, \
    { "output", 'o', "FILE", 0, \
      "keep the plan of a confirmed finding here (default: the name of the contracts, or of the test, with " \
      ".plan)", 0 }, \
    { 0 }
/* clang-format on */

#endif
