/* Text from outside (a trace, a target's output, file names) inside of XML, HTML and JSON. */
#ifndef PCT_CLI_MARKUP_H
#define PCT_CLI_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the UTF-8 character at text, of which `left` bytes (1 and more) are there, and its code; 0 if there is
 * no whole one. */
size_t pct_markup_character(const char *text, size_t left, uint32_t *code);

/* Whether XML 1.0 (2.2, "Characters") has this character, and no terminal obeys it: tab and line end are harmless,
 * other control characters and those that turn the direction of writing are not. */
bool pct_markup_is_harmless(uint32_t code);

/* A copy that is well-formed UTF-8 of harmless characters: what is not becomes U+FFFD. To be freed; NULL when memory is
 * short. */
char *pct_markup_clean(const char *text);

/* Print it cleaned, with the characters that mean something in XML and HTML replaced: safe between tags and inside of
 * attributes in double quotes. */
void pct_markup_print(FILE *out, const char *text);

#endif
