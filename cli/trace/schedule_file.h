/* The text file of a schedule, which `pct minimize -o` writes and people may edit: docs/MINIMIZE.md has the format. */
#ifndef PCT_CLI_SCHEDULE_FILE_H
#define PCT_CLI_SCHEDULE_FILE_H

#include <common/config.h>
#include <stdbool.h>
#include <stddef.h>

#define PCT_SCHEDULE_FILE_MAGIC "# pct schedule 1"

/* Whether the file begins like one. */
bool pct_schedule_file_is(const char *path);

/* The token of the schedule in this file: that in its line `token`, with the switches of its lines `switch`, or these
 * as *list (cli/base/list.h), to be freed. If they were edited, the token has no hash. Returns 0, or -EINVAL (or the
 * negative errno of the file) with a message in error. */
int pct_schedule_file_read(const char *path, char token[PCT_TOKEN_MAX], char **list, char *error, size_t error_size);

/* Say which of the functions that the schedule goes through have changed in this program since the file was written;
 * nothing if that cannot be known. */
void pct_schedule_file_compare(const char *path, const char *program);

#endif
