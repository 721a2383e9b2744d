/* Lists of numbers as strategies get them: items with `-` between them, each some numbers with `.` between them, as in
 * `1.4.2-2.9.1`. Header only, without libc. */
#ifndef PCT_STRATEGIES_NUMBER_LIST_H
#define PCT_STRATEGIES_NUMBER_LIST_H

#include <pct/strategy.h>

/* How many items the text may have, at most. */
static inline uint32_t pct_list_count(const char *text)
{
    uint32_t count = text && *text;
    for (; count && *text; text++)
        count += *text == '-';
    return count;
}

/* A number below 2^32, without leading zeros, at *text, which is moved behind it. False: there is none. */
static inline bool pct_list_number(const char **text, uint32_t *value)
{
    const char *from = *text, *at = from;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9' && at - from < 10; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *value = (uint32_t)number;
    *text = at;
    return at > from && number <= UINT32_MAX && (*from != '0' || at == from + 1);
}

/* This character at *text, which is moved behind it. */
static inline bool pct_list_skip(const char **text, char c)
{
    bool there = **text == c;
    *text += there;
    return there;
}

#endif
