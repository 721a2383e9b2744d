/* Conditions as formulas, and their values: see encode.h. Both by the types that types.c has found, C's. */
#include "encode.h"

/* --- Formulas ----------------------------------------------------------------------------------------------------- */

static demon_term encode_number(struct demon_solver *s, const struct demon_expr *e, const struct demon_terms *terms)
{
    demon_term term;
    if (e->op == DEMON_NUMBER)
        return demon_solver_number(s, (uint64_t)e->number, e->width);
    if (e->op == DEMON_LEAF)
        return terms->leaf(terms->context, &e->leaf, e->old, &term)
                   ? demon_solver_convert(s, term, e->leaf.size * 8, e->leaf.is_signed, e->width)
                   : NULL;
    if (e->op == DEMON_ADDRESS)
        return terms->address(terms->context, &e->leaf, e->old, &term) ? term : NULL;
    demon_term a = encode_number(s, e->a, terms), b = encode_number(s, e->b, terms);
    if (!a || !b)
        return NULL;
    a = demon_solver_convert(s, a, e->a->width, e->a->is_signed, e->width);
    b = demon_solver_convert(s, b, e->b->width, e->b->is_signed, e->width);
    return demon_solver_apply(s, e->op, e->is_signed, a, b);
}

demon_term demon_encode(struct demon_solver *s, const struct demon_expr *e, const struct demon_terms *terms)
{
    demon_term a, b;
    bool held;
    switch (e->op) {
    case DEMON_TRUE:
        return demon_solver_truth(s, true);
    case DEMON_HOLDS:
        return terms->holds(terms->context, &e->leaf, &held) ? demon_solver_truth(s, held) : NULL;
    case DEMON_UNCHANGED:
        return terms->leaf(terms->context, &e->leaf, true, &a) && terms->leaf(terms->context, &e->leaf, false, &b)
                   ? demon_solver_apply(s, DEMON_EQUAL, false, a, b)
                   : NULL;
    case DEMON_NOT:
        a = demon_encode(s, e->a, terms);
        return a ? demon_solver_apply(s, DEMON_NOT, false, a, NULL) : NULL;
    case DEMON_AND:
    case DEMON_OR:
    case DEMON_IMPLIES:
        a = demon_encode(s, e->a, terms);
        b = demon_encode(s, e->b, terms);
        return a && b ? demon_solver_apply(s, e->op, false, a, b) : NULL;
    default:
        return encode_number(s, e, terms);
    }
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

uint64_t demon_convert(uint64_t value, unsigned width, bool is_signed)
{
    if (width >= 64)
        return value;
    value &= (UINT64_C(1) << width) - 1;
    return is_signed && value >> (width - 1) ? value | ~((UINT64_C(1) << width) - 1) : value;
}

bool demon_evaluate_number(const struct demon_expr *e, const struct demon_values *values, uint64_t *value)
{
    uint64_t a, b;
    if (e->op == DEMON_NUMBER) {
        *value = (uint64_t)e->number;
        return true;
    }
    if (e->op == DEMON_LEAF) {
        bool known = values->leaf(values->context, &e->leaf, e->old, &a);
        *value = known ? demon_convert(a, e->leaf.size * 8, e->leaf.is_signed) : 0;
        return known;
    }
    if (e->op == DEMON_ADDRESS)
        return values->address(values->context, &e->leaf, e->old, value);
    if (!demon_evaluate_number(e->a, values, &a) || !demon_evaluate_number(e->b, values, &b))
        return false;
    *value = demon_convert(e->op == DEMON_ADD        ? a + b
                           : e->op == DEMON_SUBTRACT ? a - b
                                                     : a * b,
                           e->width, e->is_signed);
    return true;
}

static int compare(const struct demon_expr *e, const struct demon_values *values)
{
    uint64_t a, b;
    if (!demon_evaluate_number(e->a, values, &a) || !demon_evaluate_number(e->b, values, &b))
        return -1;
    a = demon_convert(a, e->width, e->is_signed);
    b = demon_convert(b, e->width, e->is_signed);
    bool less = e->is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (e->op) {
    case DEMON_EQUAL:
        return a == b;
    case DEMON_UNEQUAL:
        return a != b;
    case DEMON_LESS:
        return less;
    case DEMON_AT_MOST:
        return less || a == b;
    case DEMON_GREATER:
        return !less && a != b;
    default:
        return !less;
    }
}

static int unchanged(const struct demon_leaf *leaf, const struct demon_values *values)
{
    uint64_t a, b;
    if (!values->leaf(values->context, leaf, true, &a) || !values->leaf(values->context, leaf, false, &b))
        return -1;
    return demon_convert(a, leaf->size * 8, false) == demon_convert(b, leaf->size * 8, false);
}

int demon_evaluate(const struct demon_expr *e, const struct demon_values *values)
{
    bool held;
    switch (e->op) {
    case DEMON_TRUE:
        return 1;
    case DEMON_HOLDS:
        return values->holds(values->context, &e->leaf, &held) ? held : -1;
    case DEMON_UNCHANGED:
        return unchanged(&e->leaf, values);
    case DEMON_NOT: {
        int a = demon_evaluate(e->a, values);
        return a < 0 ? a : !a;
    }
    case DEMON_AND:
    case DEMON_OR:
    case DEMON_IMPLIES: {
        /* As in C, `p != null and p.n = 1` does not hold where p is null, though p.n is not there. */
        int a = demon_evaluate(e->a, values), b = demon_evaluate(e->b, values);
        a = e->op == DEMON_IMPLIES && a >= 0 ? !a : a;
        const int decides = e->op != DEMON_AND;
        if (a == decides || b == decides)
            return decides;
        return a < 0 || b < 0 ? -1 : !decides;
    }
    default:
        return compare(e, values);
    }
}
