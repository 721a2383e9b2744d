/* Files that make pct run what is in them: shared objects with strategies, commands in pct.schedules. A token or a
 * schedules file may come from anybody. */
#ifndef PCT_CLI_TRUST_H
#define PCT_CLI_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/* --trust was given. */
extern bool pct_trust_all;

/* Whether what is in this file may be run: it belongs to us or to root, and nobody but its owner and group can write to
 * it; or --trust. Otherwise error says what is wrong, and the way out. A file that is not there is nobody's matter. */
bool pct_trust_file(const char *path, char *error, size_t size);

#endif
