/* `pct coverage diff`, with argv[0] as its name. Returns the exit status. */
#ifndef PCT_CLI_COVERAGE_DIFF_H
#define PCT_CLI_COVERAGE_DIFF_H

int pct_coverage_diff_command(int argc, char **argv);

#endif
