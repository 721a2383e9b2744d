/* The states that a run has recorded, and who may change what in them. */
#ifndef PCT_DEMON_STATE_H
#define PCT_DEMON_STATE_H

#include "encode.h"
#include "pointers.h"

/* An object that others know: what the test was called with, a shared variable, or what these lead to. */
struct demon_object {
    struct demon_place_name {
        char name[DEMON_PATH];
    } name;
    struct pct_demon_place place;
    const struct demon_type *type;
};

enum { DEMON_OBJECTS = PCT_DEMON_ROOTS + PCT_DEMON_FOUND };

struct demon_scalar {
    uint64_t address, value;
    uint32_t size;
    bool shared; /* others can reach it, by an object that they know */
    bool own;    /* nobody else can: it is in a frame of the test */
};

struct demon_state {
    const struct pct_demon_point *point;
    struct demon_scalar item[PCT_DEMON_CELLS];
    int count;
};

struct demon_model {
    struct demon_spec *spec;
    struct pct_demon_plan *plan; /* the channel of the runs that record */
    struct demon_object object[DEMON_OBJECTS];
    int objects;
    struct demon_pointers pointers;     /* what leads from one to others */
    uint64_t taken;                     /* bit i: the map's i-th that was found is among the objects, or is left out */
    bool cut;                           /* there were more than a run could find */
    unsigned left;                      /* those that are left out, */
    struct demon_place_name first_left; /* the first of them */
};

/* What the parameters of a procedure are. */
struct demon_binding {
    const struct demon_proc *proc;
    uint64_t argument[PCT_DEMON_ARGUMENTS]; /* addresses of objects; values of scalars, where free is NULL */
    demon_term free[PCT_DEMON_ARGUMENTS];
};

/* Objects, and the plan's cells: each place that a contract speaks of, in each object of its type. False: *error says
 * what there are too many of. */
bool demon_model_prepare(struct demon_model *model, char *error, size_t size);

/* Add the objects that this run has found, and their cells. False: there are none. */
bool demon_model_extend(struct demon_model *model, const struct pct_demon_map *map);

/* The scalars at this point, each once. */
void demon_state_read(const struct demon_model *model, const struct pct_demon_point *point, struct demon_state *state);

/* Where the object is at this point; 0: nowhere. */
uint64_t demon_state_object(const struct demon_model *model, const struct pct_demon_point *point,
                            const struct demon_object *object);

/* Whether there is an object at this address that calls can name. */
bool demon_state_has_object(const struct demon_model *model, const struct pct_demon_point *point, uint64_t address);

/* Where a leaf is, 0: nowhere. */
uint64_t demon_state_address(const struct demon_model *model, const struct demon_state *state,
                             const struct demon_binding *binding, const struct demon_leaf *leaf);

/* Its index in the state, -1: it is not there. */
int demon_state_find(const struct demon_state *state, uint64_t address, uint32_t size);

/* Whether the mutex is held by this thread (PCT_DEMON_BY_TEST or PCT_DEMON_BY_CALLER). False: there is none. */
bool demon_state_holds(const struct demon_model *model, const struct demon_state *state,
                       const struct demon_binding *binding, const struct demon_leaf *leaf, unsigned by, bool *held);

/* What the point's function was called with. */
void demon_state_bind(const struct demon_model *model, const struct pct_demon_point *point,
                      struct demon_binding *binding);

/* Fill in the ghosts at the points of a run: what a function's ensure gives them, they are behind its entry. */
void demon_state_fill_ghosts(const struct demon_model *model, struct pct_demon_plan *plan);

/* The clause of this kind that does not hold in this state; NULL: none is broken. before: what `old` speaks of, NULL:
 * the state itself. */
const struct demon_clause *demon_state_broken(const struct demon_model *model, enum demon_clause_kind kind,
                                              const struct demon_state *before, const struct demon_state *state,
                                              const struct demon_binding *binding);

#endif
