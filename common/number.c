/* Whole numbers as text: see number.h. */
#include "number.h"

/* The value of a digit in this base, or -1. */
static int digit_value(char c, unsigned base, bool upper)
{
    int value = -1;
    if (c >= '0' && c <= '9')
        value = c - '0';
    else if (c >= 'a' && c <= 'f')
        value = c - 'a' + 10;
    else if (upper && c >= 'A' && c <= 'F')
        value = c - 'A' + 10;
    return value < (int)base ? value : -1;
}

enum pct_number pct_number_read(uint64_t *value, const char *text, unsigned base, bool upper)
{
    uint64_t result = 0;
    bool too_big = false;
    if (!*text)
        return PCT_NUMBER_BAD;
    for (; *text; text++) {
        int digit = digit_value(*text, base, upper);
        if (digit < 0)
            return PCT_NUMBER_BAD;
        too_big |= __builtin_mul_overflow(result, (uint64_t)base, &result);
        too_big |= __builtin_add_overflow(result, (uint64_t)digit, &result);
    }
    *value = result;
    return too_big ? PCT_NUMBER_TOO_BIG : PCT_NUMBER_OK;
}
