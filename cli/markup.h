/* Text from outside (a trace, a target's output, file names) inside of XML, HTML and JSON. */
#ifndef PCT_CLI_MARKUP_H
#define PCT_CLI_MARKUP_H

#include <stdio.h>

/* A copy that is well-formed UTF-8 without control characters but tab and line end, which is what XML 1.0 can hold: what is
 * not becomes U+FFFD. To be freed; NULL when memory is short. */
char *pct_markup_clean(const char *text);

/* Print it cleaned, with the characters that mean something in XML and HTML replaced: safe between tags and inside of
 * attributes in double quotes. */
void pct_markup_print(FILE *out, const char *text);

#endif
