/* What the engine (engine.h) knows while it makes runs. For engine.c, doubts.c and their test alone. */
#ifndef PCT_CLI_ENGINE_STATE_H
#define PCT_CLI_ENGINE_STATE_H

#include "engine.h"
#include <limits.h>

enum { PCT_ENGINE_PLACES = PCT_HOST_QUEUE /* runs of a worker that have begun: each waits for the one before */ };

/* A run that has ended and waits for its turn. */
struct pct_engine_waiting {
    bool valid;
    struct pct_process process;
    struct pct_ended_run *early; /* the same, as it was looked at before; NULL: it was not */
};

/* The scratch file of a list that is too long for a token. */
struct pct_engine_list {
    char path[PATH_MAX]; /* "": none yet */
    int file;
};

/* A run that was cut and is made again, to see whether that is so each time. */
struct pct_engine_doubt {
    bool valid, begun;
    struct pct_process process;  /* as it was cut */
    struct pct_engine_list list; /* its own, until it is begun again */
};

struct pct_engine_state {
    struct pct_run_source *source;
    size_t map_size;           /* of place, doubt and waiting, in a row: pages that cost nothing until they are used */
    struct pct_process *place; /* worker w has w, w + jobs, ... */
    unsigned *busy;            /* by worker: how many of these go on */
    struct pct_engine_list *list;   /* by place; NULL: none has one */
    struct pct_engine_doubt *doubt; /* there is room for as many as for runs; */
    unsigned doubts;                /* this many there are */
    struct pct_engine_waiting *waiting;
    struct pct_ended_run run; /* whose turn it is */
    unsigned places, room;
    unsigned used;      /* no place from this one on has had a run yet, */
    unsigned waited;    /* nor any of `waiting` from this one on */
    unsigned under_way; /* runs that go on, */
    unsigned open;      /* and these and those that wait */
    double ticked;
    bool told; /* of a run that takes long */
};

#endif
