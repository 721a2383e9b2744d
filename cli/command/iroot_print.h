/* iRoots (cli/trace/iroots.h) as people and programs read them: with operations and source lines. */
#ifndef PCT_CLI_IROOT_PRINT_H
#define PCT_CLI_IROOT_PRINT_H

#include <cli/base/json.h>
#include <cli/trace/accesses.h>

/* "1  store in set at a.c:26 => load in check at a.c:36", without a line end. */
void pct_iroot_print(FILE *out, const struct pct_access_places *places, const struct pct_iroot *root);

/* "; the last new one in run 34", of runs from 1; newest 0: there was none, "". Returns `text`. */
const char *pct_iroots_format_newest(char *text, size_t size, uint64_t newest);

/* The members `idiom` and `places` of an object. */
void pct_iroot_add_json(struct json_object *to, const struct pct_access_places *places, const struct pct_iroot *root);

/* The same for a reads-from pair (cli/trace/reads_from.h): "rf  store in set at a.c:26 => load in check at a.c:36", and
 * the members `write` (null: what was there before) and `read`. */
void pct_reads_from_print(FILE *out, const struct pct_access_places *places, const struct pct_iroot *pair);
void pct_reads_from_add_json(struct json_object *to, const struct pct_access_places *places,
                             const struct pct_iroot *pair);

#endif
