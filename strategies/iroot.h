/* An iRoot as the strategy `maple` is told it (maple.c), and what its idiom asks for: Yu, Narayanasamy, Pereira,
 * Pokam, "Maple", OOPSLA 2012, section 2.1, figure 2.
 *
 *     iroot=1-53.3fa2b1c0-54.9d01c2aa    the idiom, and for each of its accesses, A, B, C, D: the operation (enum
 *                                        pct_op) and the place in the code (pct_operation.place, eight hexadecimal
 *                                        digits)
 *
 * Threads have the roles 0 and 1, objects are the first or the second. Header only, without libc. */
#ifndef PCT_STRATEGIES_IROOT_H
#define PCT_STRATEGIES_IROOT_H

#include "number_list.h"
#include <stdbool.h>

enum { PCT_IROOT_MOST = 4, PCT_IROOT_IDIOMS = 5 };

struct pct_idiom {
    uint8_t accesses;
    uint8_t role[PCT_IROOT_MOST], object[PCT_IROOT_MOST];
    uint8_t after[PCT_IROOT_MOST]; /* which others come before it: a set */
    uint8_t
        partner[PCT_IROOT_MOST]; /* of one that comes first: the other thread's that is to be near before it is made */
    /* From when the first access was made until the second was, nothing that conflicts may be done to the object. */
    struct {
        uint8_t from, to;
    } guard[2];
};

/* The sets of accesses are written as bits: A 1, B 2, C 4, D 8. */
static const struct pct_idiom pct_idioms[PCT_IROOT_IDIOMS] = {
    { 2, { 0, 1 }, { 0, 0 }, { 0, 1 }, { 1 }, { { 0, 1 } } },
    { 3, { 0, 1, 0 }, { 0, 0, 0 }, { 0, 1, 2 }, { 1 }, { { 0, 2 } } },
    { 4, { 0, 1, 1, 0 }, { 0, 0, 0, 0 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 3 } } },
    { 4, { 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } } },
    { 4, { 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { 0, 5, 0, 5 }, { 2, 0, 0 }, { { 0, 1 }, { 2, 3 } } },
};

struct pct_iroot_event {
    uint32_t op, place;
};

static inline bool pct_iroot_parse_place(const char **text, uint32_t *place)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        char c = (*text)[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *text += 8;
    *place = value;
    return true;
}

/* *idiom: NULL where the text is empty. False: it is no iRoot. */
static inline bool pct_iroot_parse(const char *text, const struct pct_idiom **idiom, struct pct_iroot_event *event)
{
    uint32_t number;
    *idiom = NULL;
    if (!text || !*text)
        return true;
    if (!pct_list_number(&text, &number) || !number || number > PCT_IROOT_IDIOMS)
        return false;
    const struct pct_idiom *found = &pct_idioms[number - 1];
    for (unsigned i = 0; i < found->accesses; i++)
        if (!pct_list_skip(&text, '-') || !pct_list_number(&text, &event[i].op) || !pct_list_skip(&text, '.') ||
            !pct_iroot_parse_place(&text, &event[i].place))
            return false;
    *idiom = found;
    return !*text;
}

#endif
