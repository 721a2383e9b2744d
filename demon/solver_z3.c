/* The solver, by Z3: see solver.h. The simple solver, as the incremental one takes ten times as long for a first
 * answer. */
#include "solver.h"
#include <stdlib.h>
#include <z3.h>

/* What a question may take, in Z3's units: a second or two. A time would make answers depend on the machine's load. */
enum { RESOURCE_LIMIT = 4000000 };

struct demon_solver {
    Z3_context z3;
    Z3_solver solver;
    Z3_model model;
};

struct demon_solver *demon_solver_open(void)
{
    struct demon_solver *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "model", "true");
    s->z3 = Z3_mk_context(config);
    Z3_del_config(config);
    s->solver = Z3_mk_simple_solver(s->z3);
    Z3_solver_inc_ref(s->z3, s->solver);
    Z3_params params = Z3_mk_params(s->z3);
    Z3_params_inc_ref(s->z3, params);
    Z3_params_set_uint(s->z3, params, Z3_mk_string_symbol(s->z3, "rlimit"), RESOURCE_LIMIT);
    Z3_solver_set_params(s->z3, s->solver, params);
    Z3_params_dec_ref(s->z3, params);
    return s;
}

void demon_solver_close(struct demon_solver *s)
{
    if (!s)
        return;
    if (s->model)
        Z3_model_dec_ref(s->z3, s->model);
    Z3_solver_dec_ref(s->z3, s->solver);
    Z3_del_context(s->z3);
    free(s);
}

demon_term demon_solver_number(struct demon_solver *s, uint64_t value, unsigned width)
{
    return Z3_mk_unsigned_int64(s->z3, width < 64 ? value & ((UINT64_C(1) << width) - 1) : value,
                                Z3_mk_bv_sort(s->z3, width));
}

demon_term demon_solver_truth(struct demon_solver *s, bool value)
{
    return value ? Z3_mk_true(s->z3) : Z3_mk_false(s->z3);
}

demon_term demon_solver_variable(struct demon_solver *s, unsigned width)
{
    return Z3_mk_fresh_const(s->z3, "v", Z3_mk_bv_sort(s->z3, width));
}

demon_term demon_solver_convert(struct demon_solver *s, demon_term number, unsigned from, bool is_signed, unsigned to)
{
    if (to < from)
        return Z3_mk_extract(s->z3, to - 1, 0, number);
    if (to == from)
        return number;
    return is_signed ? Z3_mk_sign_ext(s->z3, to - from, number) : Z3_mk_zero_ext(s->z3, to - from, number);
}

demon_term demon_solver_apply(struct demon_solver *s, enum demon_op op, bool is_signed, demon_term a, demon_term b)
{
    Z3_context z = s->z3;
    Z3_ast both[] = { a, b };
    switch (op) {
    case DEMON_ADD:
        return Z3_mk_bvadd(z, a, b);
    case DEMON_SUBTRACT:
        return Z3_mk_bvsub(z, a, b);
    case DEMON_MULTIPLY:
        return Z3_mk_bvmul(z, a, b);
    case DEMON_EQUAL:
        return Z3_mk_eq(z, a, b);
    case DEMON_UNEQUAL:
        return Z3_mk_not(z, Z3_mk_eq(z, a, b));
    case DEMON_LESS:
        return is_signed ? Z3_mk_bvslt(z, a, b) : Z3_mk_bvult(z, a, b);
    case DEMON_AT_MOST:
        return is_signed ? Z3_mk_bvsle(z, a, b) : Z3_mk_bvule(z, a, b);
    case DEMON_GREATER:
        return is_signed ? Z3_mk_bvsgt(z, a, b) : Z3_mk_bvugt(z, a, b);
    case DEMON_AT_LEAST:
        return is_signed ? Z3_mk_bvsge(z, a, b) : Z3_mk_bvuge(z, a, b);
    case DEMON_NOT:
        return Z3_mk_not(z, a);
    case DEMON_AND:
        return Z3_mk_and(z, 2, both);
    case DEMON_OR:
        return Z3_mk_or(z, 2, both);
    case DEMON_IMPLIES:
        return Z3_mk_implies(z, a, b);
    default:
        abort();
    }
}

void demon_solver_assert(struct demon_solver *s, demon_term condition)
{
    Z3_solver_assert(s->z3, s->solver, condition);
}

int demon_solver_check(struct demon_solver *s)
{
    switch (Z3_solver_check(s->z3, s->solver)) {
    case Z3_L_TRUE:
        s->model = Z3_solver_get_model(s->z3, s->solver);
        Z3_model_inc_ref(s->z3, s->model);
        return 1;
    case Z3_L_FALSE:
        return 0;
    default:
        return -1;
    }
}

uint64_t demon_solver_value(struct demon_solver *s, demon_term number)
{
    Z3_ast value;
    uint64_t out = 0;
    if (!Z3_model_eval(s->z3, s->model, number, true, &value) || !Z3_get_numeral_uint64(s->z3, value, &out))
        abort();
    return out;
}
