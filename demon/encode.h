/* A contract's condition over states, as a formula for the solver, and as its value where all is known. */
#ifndef PCT_DEMON_ENCODE_H
#define PCT_DEMON_ENCODE_H

#include "solver.h"

/* What leaves stand for. Fills in the number (a term of the leaf's width), or of DEMON_HOLDS the condition. False:
 * there is no such object in this state. */
struct demon_terms {
    bool (*leaf)(void *context, const struct demon_leaf *leaf, bool old, demon_term *term);
    bool (*address)(void *context, const struct demon_leaf *leaf, bool old, demon_term *term); /* of 64 bits */
    bool (*holds)(void *context, const struct demon_leaf *leaf, bool *held);
    void *context;
};

/* NULL: a leaf is not there, so nothing is said. */
demon_term demon_encode(struct demon_solver *solver, const struct demon_expr *e, const struct demon_terms *terms);

/* The same of a state whose values are known: 1 it holds, 0 it does not, -1 it depends on a leaf that is not there. */
struct demon_values {
    bool (*leaf)(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value);
    bool (*address)(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value);
    bool (*holds)(void *context, const struct demon_leaf *leaf, bool *held);
    void *context;
};

/* Of a number, as 64 bits of its type. False: a leaf is not there. */
bool demon_evaluate_number(const struct demon_expr *e, const struct demon_values *values, uint64_t *value);

int demon_evaluate(const struct demon_expr *e, const struct demon_values *values);

/* As 64 bits of the type that is this many bits wide. */
uint64_t demon_convert(uint64_t value, unsigned width, bool is_signed);

#endif
