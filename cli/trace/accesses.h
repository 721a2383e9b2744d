/* The accesses of a trace to what threads share, for iroots.h: memory, locks, condition variables and the like, with
 * their places in the code as the sources have them. Only of runs that recorded these (`--sites`). */
#ifndef PCT_CLI_ACCESSES_H
#define PCT_CLI_ACCESSES_H

#include "iroots.h"
#include "trace_read.h"

/* A place: "store in set, reorder.c:30". */
struct pct_access_place {
    uint32_t number;       /* from 1, in all runs the same */
    uint32_t op;           /* enum pct_op */
    uint32_t code;         /* by instruction: pct_operation.place */
    int line;              /* 0: no source is known */
    int begins;            /* the line at which the function does; 0: not known */
    char *function, *file; /* ""; without debug information, the file is the module with the offset in it */
    char *module;          /* by instruction: the file of the code, and where in it; NULL: not known */
    uint64_t offset;
};

struct pct_access_places {
    bool by_instruction;            /* each is a place of its own, and not each line; set before the first run */
    struct pct_access_place **item; /* by number - 1 */
    size_t count, room;
    void *tree;
};

/* *accesses is to be freed. places: NULL if nobody asks for places, which all are 0 then. Returns 0, -ENOMEM, or
 * -ENODATA: the run has not recorded places. */
int pct_accesses_read(struct pct_access_places *places, const struct pct_trace *trace, struct pct_access **accesses,
                      size_t *count);

/* A place that another process has numbered: the next number, by instruction. Returns 0, -ENOMEM, or -EINVAL: it is not
 * the next one. */
int pct_access_places_add(struct pct_access_places *places, const struct pct_access_place *place);

/* The number of this place, which it is given if it had none; place->number does not matter. Returns 0 if memory is
 * short. */
uint32_t pct_access_places_number(struct pct_access_places *places, const struct pct_access_place *place);
void pct_access_places_free(struct pct_access_places *places);

#endif
