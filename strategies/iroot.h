/* An iRoot as the strategy `maple` is told it (maple.c), and what its idiom asks for: Yu, Narayanasamy, Pereira,
 * Pokam, "Maple", OOPSLA 2012, section 2.1, figure 2.
 *
 *     iroot=1-53.3fa2b1c0-54.9d01c2aa    the idiom, and for each of its accesses, A, B, C, D: the operation (enum
 *                                        pct_op) and the place in the code (pct_operation.place, eight hexadecimal
 *                                        digits)
 *
 *     iroot=1-53.3fa2b1c0-54.9d01c2aa-x120.2.1.0.4.1f-2-...
 *
 * The same behind step 120, by the threads 2 (role 0) and 1, of which that of the role 0 goes on behind the other. Up
 * to there the run is the one with the order 4, the seed 1f (hexadecimal) and the list that follows; none: a profile
 * run.
 *
 *     iroot=1-53.3fa2b1c0-54.9d01c2aa-n3.1.120.2.1.0.4.1f-2-...
 *
 * The same, and the access A is made when its thread comes to that place for the third time behind that step, or later;
 * B the first time. 0: any time.
 *
 *     iroot=1-53.3fa2b1c0-54.9d01c2aa-s3.0.7.2.120.2.1.0.4.1f-2-...
 *
 * The same, and how the accesses are made there is known, step by step: behind step 120, in three segments, no step of
 * the thread of the role 0, then seven of that of the role 1, then two of the former. Then nothing is forced any more.
 *
 * Where threads go may also depend on what came long before. A run may therefore follow another one, of another seed,
 * order and iRoot, up to some step, from which on two given threads are to make the accesses, and others go on only
 * where these cannot: phases. cli/campaign/directed.c has the runs that could have exposed the iRoot, and the step; and
 * which of a thread's visits to a place it is, where the thread comes there in several rounds.
 *
 * Threads have the roles 0 and 1, objects are the first or the second. Header only, without libc. */
#ifndef PCT_STRATEGIES_IROOT_H
#define PCT_STRATEGIES_IROOT_H

#include "number_list.h"
#include <stdbool.h>

enum {
    PCT_IROOT_MOST = 4,
    PCT_IROOT_IDIOMS = 10,
    PCT_IROOT_OF_TWO = 6, /* these have two roles */
    PCT_IROOT_ROLES = 3,
    PCT_IROOT_PHASES = 4,
    PCT_IROOT_SEGMENTS = 8,
    PCT_IROOT_ORDERS = 12
};

struct pct_idiom {
    uint8_t accesses;
    uint8_t role[PCT_IROOT_MOST], object[PCT_IROOT_MOST];
    uint8_t after[PCT_IROOT_MOST]; /* which others come before it: a set */
    uint8_t
        partner[PCT_IROOT_MOST]; /* of one that comes first: the other thread's that is to be near before it is made */
    /* From when the first access was made until the second was, nothing that conflicts may be done to the object, */
    struct {
        uint8_t from, to;
    } guard[2];
    uint8_t last; /* nor anything by the thread of A, to A's, until this one was made; 0: it may */
};

/* The sets of accesses are written as bits: A 1, B 2, C 4, D 8. */
static const struct pct_idiom pct_idioms[PCT_IROOT_IDIOMS] = {
    { 2, { 0, 1 }, { 0, 0 }, { 0, 1 }, { 1 }, { { 0, 1 } }, 0 },
    { 3, { 0, 1, 0 }, { 0, 0, 0 }, { 0, 1, 2 }, { 1 }, { { 0, 2 } }, 0 },
    { 4, { 0, 1, 1, 0 }, { 0, 0, 0, 0 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 3 },
    { 4, { 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 0 },
    { 4, { 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { 0, 5, 0, 5 }, { 2, 0, 0 }, { { 0, 1 }, { 2, 3 } }, 0 },
    { 4, { 0, 1, 0, 1 }, { 0, 0, 1, 1 }, { 0, 1, 1, 6 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 0 },
    /* Combined patterns: two of idiom 1, of three threads. */
    { 4, { 0, 1, 0, 2 }, { 0, 0, 1, 1 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 0 },
    { 4, { 0, 1, 2, 0 }, { 0, 0, 1, 1 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 0 },
    { 4, { 0, 1, 1, 2 }, { 0, 0, 1, 1 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 0 },
    { 4, { 0, 1, 2, 1 }, { 0, 0, 1, 1 }, { 0, 1, 2, 4 }, { 1 }, { { 0, 1 }, { 2, 3 } }, 0 },
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

/* A part of a run. */
struct pct_iroot_phase {
    const struct pct_idiom *idiom; /* NULL: nothing is forced */
    struct pct_iroot_event event[PCT_IROOT_MOST];
    uint64_t from;                    /* the step behind which it begins */
    uint32_t thread[PCT_IROOT_ROLES]; /* by role: who alone can have it, plus 1; 0: anybody */
    uint32_t last;                    /* of these, who goes on behind the other, plus 1 */
    uint8_t visit[PCT_IROOT_MOST];    /* of each access: the first of its thread's visits to its place that may be it */
    uint8_t segment[PCT_IROOT_SEGMENTS]; /* steps, of the roles 0 and 1 in turn; all 0: it is not known how */
    uint64_t seed;
    uint8_t order;
};

static inline bool pct_iroot_parse_one(const char **text, struct pct_iroot_phase *phase)
{
    uint32_t number;
    if (!pct_list_number(text, &number) || !number || number > PCT_IROOT_IDIOMS)
        return false;
    phase->idiom = &pct_idioms[number - 1];
    for (unsigned i = 0; i < phase->idiom->accesses; i++)
        if (!pct_list_skip(text, '-') || !pct_list_number(text, &phase->event[i].op) || !pct_list_skip(text, '.') ||
            !pct_iroot_parse_place(text, &phase->event[i].place))
            return false;
    return true;
}

/* "3.1.", of as many accesses as there are. */
static inline bool pct_iroot_parse_visits(const char **text, struct pct_iroot_phase *phase)
{
    for (unsigned i = 0; i < phase->idiom->accesses; i++) {
        uint32_t visit;
        if (!pct_list_number(text, &visit) || visit > UINT8_MAX || !pct_list_skip(text, '.'))
            return false;
        phase->visit[i] = (uint8_t)visit;
    }
    return true;
}

/* "3.0.7.2.": of as many segments as the first number says. */
static inline bool pct_iroot_parse_segments(const char **text, struct pct_iroot_phase *phase)
{
    uint32_t count, steps;
    if (!pct_list_number(text, &count) || !count || count > PCT_IROOT_SEGMENTS || !pct_list_skip(text, '.'))
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (!pct_list_number(text, &steps) || steps > UINT8_MAX || !pct_list_skip(text, '.'))
            return false;
        phase->segment[i] = (uint8_t)steps;
    }
    return true;
}

/* "x120.2.1.0.4.1f", "n3.1.120.2.1.0.4.1f" or "s3.0.7.2.120.2.1.0.4.1f": what is behind step 120 is this phase, what is
 * before it is the other one. */
static inline bool pct_iroot_parse_before(const char **text, struct pct_iroot_phase *phase,
                                          struct pct_iroot_phase *before)
{
    uint32_t number[5] = { 0 };
    const bool fine = pct_list_skip(text, 'n')   ? pct_iroot_parse_visits(text, phase)
                      : pct_list_skip(text, 's') ? pct_iroot_parse_segments(text, phase)
                                                 : pct_list_skip(text, 'x');
    if (!fine)
        return false;
    for (unsigned i = 0; i < 5; i++)
        if (!pct_list_number(text, &number[i]) || !pct_list_skip(text, '.'))
            return false;
    if (!number[0] || number[1] >= PCT_MAX_THREADS || number[2] >= PCT_MAX_THREADS || number[1] == number[2] ||
        number[3] > 1 || number[4] >= PCT_IROOT_ORDERS)
        return false;
    const char *from = *text;
    *before = (struct pct_iroot_phase){ .order = (uint8_t)number[4] };
    for (char c; (c = **text, (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) && *text - from < 16; ++*text)
        before->seed = before->seed << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    phase->from = number[0];
    phase->thread[0] = number[1] + 1;
    phase->thread[1] = number[2] + 1;
    phase->last = phase->thread[number[3]];
    return *text > from;
}

/* The phases of a run, the last one first; its seed and order are the caller's. *count: one less than there are. False:
 * the text is no such list. */
static inline bool pct_iroot_parse(const char *text, struct pct_iroot_phase phase[PCT_IROOT_PHASES], uint32_t *count)
{
    *count = 0;
    if (!text || !*text)
        return true;
    for (;; ++*count) {
        if (!pct_iroot_parse_one(&text, &phase[*count]))
            return false;
        if (!*text)
            return true;
        if (*count + 1 == PCT_IROOT_PHASES || !pct_list_skip(&text, '-') ||
            !pct_iroot_parse_before(&text, &phase[*count], &phase[*count + 1]))
            return false;
        if (*count && phase[*count].from >= phase[*count - 1].from)
            return false;
        if (!*text) {
            ++*count;
            return true;
        }
        if (!pct_list_skip(&text, '-'))
            return false;
    }
}

#endif
