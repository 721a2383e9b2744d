/* Text from outside (a trace, a target's output, file names) inside of XML, HTML and JSON. */
#ifndef PCT_CLI_MARKUP_H
#define PCT_CLI_MARKUP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the UTF-8 character at text, of which `left` bytes (1 and more) are there, and its code; 0 if there is
 * no whole one. */
size_t pct_markup_character(const char *text, size_t left, uint32_t *code);

/* A copy that is well-formed UTF-8 without control characters but tab and line end, which is what XML 1.0 can hold:
 * what is not becomes U+FFFD. To be freed; NULL when memory is short. */
char *pct_markup_clean(const char *text);

/* Print it cleaned, with the characters that mean something in XML and HTML replaced: safe between tags and inside of
 * attributes in double quotes. */
void pct_markup_print(FILE *out, const char *text);

#endif
