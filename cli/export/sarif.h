/* What every log in the Static Analysis Results Interchange Format, SARIF 2.1.0 (OASIS Standard, 2020), has, whatever
 * its results are. Numbers in comments are sections of the standard. */
#ifndef PCT_CLI_SARIF_H
#define PCT_CLI_SARIF_H

#include <cli/base/json.h>

/* Begin a log; returns its one run (3.14). */
struct json_object *pct_sarif_begin(struct json_object *log);

/* The tool (3.18), with pct's version; returns the array for its rules. */
struct json_object *pct_sarif_add_tool(struct json_object *run);
void pct_sarif_add_rule(struct json_object *rules, const char *id, const char *text, const char *level);

/* root: the directory that relative paths begin at. command: as it was typed. */
void pct_sarif_add_invocation(struct json_object *run, const char *root, const char *command);

/* A message (3.11). */
void pct_sarif_add_text(struct json_object *to, const char *key, const char *text);

/* Into a location (3.28): a physical one, and the function as a logical one. path: absolute, or below the root; NULL:
 * not known. line: from 1, 0: not known. function: or NULL. */
void pct_sarif_fill_location(struct json_object *location, const char *path, int line, const char *function);

#endif
