/* Whole numbers as text, without libc. */
#ifndef PCT_COMMON_NUMBER_H
#define PCT_COMMON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum pct_number { PCT_NUMBER_OK, PCT_NUMBER_BAD, PCT_NUMBER_TOO_BIG };

/* All of text is a number in this base, 2 to 16; upper: its letters may be upper-case. *value is set unless the answer
 * is PCT_NUMBER_BAD. Any thread. */
enum pct_number pct_number_read(uint64_t *value, const char *text, unsigned base, bool upper);

#endif
