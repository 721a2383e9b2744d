/* What the pages of campaigns and of `pct coverage` have in common: one look, text that is safe in it, totals, and
 * curves over runs. A page is one file that loads nothing; without its script, all but the values under the pointer and
 * the buttons is there. */
#ifndef PCT_CLI_HTML_PAGE_H
#define PCT_CLI_HTML_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The page up to its first heading, and behind its last line. */
void pct_html_begin(FILE *out, const char *command);
void pct_html_end(FILE *out);

/* `text` is from outside, and cleaned; what goes before and after it is HTML. */
void pct_html_print(FILE *out, const char *before, const char *text, const char *after);

/* One of a <dl class="totals">; name is HTML. */
void pct_html_total(FILE *out, const char *name, const char *value, const char *class_);
void pct_html_count(FILE *out, const char *name, uint64_t count, const char *class_);

/* How many of something there were after this many runs: a curve, through one point and more. name is HTML. */
struct pct_html_point {
    uint64_t runs, value;
};
void pct_html_curve(FILE *out, const char *name, const struct pct_html_point *points, size_t count);

#endif
