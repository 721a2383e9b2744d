/* The questions to the solver. West, Nanz and Meyer, section 3: is there a state, reached as the rely allows, in which
 * what is required does not hold; and which actions of others lead there? */
#ifndef PCT_DEMON_QUERY_H
#define PCT_DEMON_QUERY_H

#include "state.h"

enum { DEMON_LONGEST = 3, DEMON_SMALL = 4096 };

/* A call that another thread makes. */
struct demon_call {
    int proc;
    int object[PCT_DEMON_ARGUMENTS];     /* the index of the object; -1: a scalar, */
    uint64_t value[PCT_DEMON_ARGUMENTS]; /* whose value the solver finds */
};

/* Interference at a point; what is required with this binding afterwards. */
struct demon_query {
    /* Of demon_query_unstable(): others change no more than what `ensure` and `modifies` of what they call name; else
     * whatever the rely lets them. */
    bool by_calls;
    const struct demon_model *model;
    const struct demon_state *state;
    const struct demon_binding *goal;
    struct demon_binding test; /* what the test was called with */
    /* What the undisturbed test adds to each scalar of the state on its way to where that is required: it is to hold
     * with and without. NULL: nothing. */
    const uint64_t *moved;
    bool large; /* some number that is passed is above DEMON_SMALL; else small ones are sought first */
};

enum demon_answer { DEMON_UNKNOWN = -1, DEMON_NO, DEMON_YES, DEMON_NOT_ASKED };

/* Whether any interference that the rely allows can break it: DEMON_NO is a proof for this state, whatever others call.
 * DEMON_NOT_ASKED: an object of it is not there yet. */
enum demon_answer demon_query_unstable(const struct demon_query *query);

/* Whether these calls can break it; fills in their values. after: what each scalar of the state is then.
 * DEMON_NOT_ASKED: an object of a call is not there. */
enum demon_answer demon_query_calls(const struct demon_query *query, struct demon_call *calls, int count,
                                    uint64_t after[PCT_DEMON_CELLS]);

/* The same of any calls that the rely allows and that change something, whatever they break or do not. */
enum demon_answer demon_query_possible(const struct demon_query *query, struct demon_call *calls, int count,
                                       uint64_t after[PCT_DEMON_CELLS]);

/* The same of calls after which all that the test may wait for holds, where it holds no lock; the rely does not bind
 * them. The goal of the query is not used. */
enum demon_answer demon_query_helps(const struct demon_query *query, struct demon_call *calls, int count);

/* Whether any of these calls passes a number. */
bool demon_calls_have_numbers(const struct demon_model *model, const struct demon_call *calls, int count);

/* The clause of this procedure that nothing can meet together with those of its kind before it, whatever the state.
 * NULL: there is none. */
const struct demon_clause *demon_query_vacuous(const struct demon_proc *proc);

#endif
