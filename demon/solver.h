/* What the encoding needs of a solver: bit vectors and conditions. The only file that knows Z3 is solver_z3.c. */
#ifndef PCT_DEMON_SOLVER_H
#define PCT_DEMON_SOLVER_H

#include "spec.h"

struct demon_solver;
typedef void *demon_term; /* of a number or of a condition; lives as long as the solver */

/* NULL: it could not be made. */
struct demon_solver *demon_solver_open(void);
void demon_solver_close(struct demon_solver *solver);

demon_term demon_solver_number(struct demon_solver *solver, uint64_t value, unsigned width);
demon_term demon_solver_truth(struct demon_solver *solver, bool value);
demon_term demon_solver_variable(struct demon_solver *solver, unsigned width);

/* Convert a number to this width, as C does. */
demon_term demon_solver_convert(struct demon_solver *solver, demon_term number, unsigned from, bool is_signed,
                                unsigned to);

/* Of two numbers of one width, or of conditions (b: NULL for DEMON_NOT). */
demon_term demon_solver_apply(struct demon_solver *solver, enum demon_op op, bool is_signed, demon_term a,
                              demon_term b);

void demon_solver_assert(struct demon_solver *solver, demon_term condition);

/* 1: all that was asserted can hold; 0: it cannot; -1: the solver does not know. */
int demon_solver_check(struct demon_solver *solver);

/* What the number is in the solution that was found. */
uint64_t demon_solver_value(struct demon_solver *solver, demon_term number);

#endif
