/* `pct coverage report`, with argv[0] as its name. Returns the exit status. */
#ifndef PCT_CLI_COVERAGE_REPORT_H
#define PCT_CLI_COVERAGE_REPORT_H

int pct_coverage_report_command(int argc, char **argv);

#endif
