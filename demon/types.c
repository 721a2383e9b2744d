/* The types of expressions: C's promotions and conversions (C17, 6.3.1.1 and 6.3.1.8). See spec.h. */
#include "spec.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { INT = 32, LONG = 64, BYTE = 8 };

struct checker {
    const char *from; /* the file of the conditions */
    char *error;
    size_t size;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct checker *c, const struct demon_expr *e,
                                                       const char *format, ...)
{
    int length = snprintf(c->error, c->size, "%s:%u: ", c->from, e->line);
    va_list list;
    va_start(list, format);
    if (length > 0 && (size_t)length < c->size)
        vsnprintf(c->error + length, c->size - (size_t)length, format, list);
    va_end(list);
    return false;
}

static bool check_number(struct checker *c, struct demon_expr *e);

static bool check_two(struct checker *c, struct demon_expr *e)
{
    if (!check_number(c, e->a) || !check_number(c, e->b))
        return false;
    const struct demon_expr *a = e->a, *b = e->b;
    e->width = a->width > b->width ? a->width : b->width;
    e->is_signed = (a->is_signed || a->width < e->width) && (b->is_signed || b->width < e->width);
    return true;
}

/* What C makes of sums and differences of pointers depends on how large that is which they point to. */
static bool check_no_pointer(struct checker *c, const struct demon_expr *e)
{
    const bool address = e->op == DEMON_ADDRESS;
    return (!address && !(e->op == DEMON_LEAF && e->leaf.pointer)) ||
           fail(c, e, "%s%s is a pointer: contracts compare pointers, but do not calculate with them",
                address ? "&" : "", e->leaf.path);
}

static bool check_number(struct checker *c, struct demon_expr *e)
{
    switch (e->op) {
    case DEMON_NUMBER:
        e->width = e->number <= (e->based ? (int64_t)UINT32_MAX : INT32_MAX) ? INT : LONG;
        e->is_signed = e->number <= INT32_MAX || e->width == LONG;
        return true;
    case DEMON_LEAF:
        if (e->leaf.lock == 1)
            return fail(c, e, "%s is a mutex: holds(%s) asks for it", e->leaf.path, e->leaf.path);
        if (!e->leaf.size)
            return fail(c, e, "%s is a structure: name a member, as in %s.member", e->leaf.path, e->leaf.path);
        e->width = e->leaf.size * BYTE < INT ? INT : e->leaf.size * BYTE;
        e->is_signed = e->leaf.is_signed || e->leaf.size * BYTE < INT;
        return true;
    case DEMON_ADDRESS:
        e->width = LONG;
        e->is_signed = false;
        return true;
    case DEMON_ADD:
    case DEMON_SUBTRACT:
    case DEMON_MULTIPLY:
        return check_two(c, e) && check_no_pointer(c, e->a) && check_no_pointer(c, e->b);
    default:
        return fail(c, e, "a number is expected, not a condition");
    }
}

static bool check_condition(struct checker *c, struct demon_expr *e)
{
    switch (e->op) {
    case DEMON_TRUE:
        return true;
    case DEMON_HOLDS:
        return e->leaf.lock || fail(c, e, "holds(%s): it is no mutex", e->leaf.path);
    case DEMON_UNCHANGED:
        return (!e->leaf.lock && e->leaf.size) || fail(c, e, "unchanged(%s): it is no number", e->leaf.path);
    case DEMON_NOT:
        return check_condition(c, e->a);
    case DEMON_AND:
    case DEMON_OR:
    case DEMON_IMPLIES:
        return check_condition(c, e->a) && check_condition(c, e->b);
    default:
        if (e->op >= DEMON_EQUAL && e->op <= DEMON_AT_LEAST)
            return check_two(c, e);
        return fail(c, e, "a condition is expected, not a number");
    }
}

bool demon_type_condition(const char *from, struct demon_expr *e, char *error, size_t size)
{
    struct checker c = { .from = from, .error = error, .size = size };
    return check_condition(&c, e);
}

bool demon_type_check(struct demon_spec *spec, char *error, size_t size)
{
    for (int i = 0; i < spec->procs; i++)
        for (int k = 0; k < spec->proc[i].clauses; k++)
            if (!demon_type_condition(spec->proc[i].from, spec->proc[i].clause[k].expr, error, size))
                return false;
    return true;
}
