/* What the processes of a family share. Of family.c alone. */
#ifndef PCT_PRELOAD_FAMILY_MEMORY_H
#define PCT_PRELOAD_FAMILY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum { SLOTS = 1023 };

/* A slot's pid: nobody; a process that is being made, or of which the id is not known. */
#define FREE 0u
#define COMING UINT32_MAX

struct slot {
    uint32_t pid;
    uint32_t maker; /* the process that reserved it for a child, and its thread */
    uint32_t maker_thread;
    uint32_t turn;     /* odd: idle. Each beginning and end of that counts */
    uint32_t word;     /* a futex: a relative wants this one to look, or something has come */
    uint32_t looked;   /* the word when this one last began to ask, and was idle still */
    uint64_t deadline; /* of the family's time; while idle */
    uint64_t from;     /* family time when it became idle */
    uint64_t real;     /* and CLOCK_MONOTONIC */
    uint64_t start;    /* when the process was made, as the kernel tells; 0: nobody has asked */
    uint64_t began;    /* its own time when it became another program */
    uint64_t told;     /* family time that it came to by its own steps */
    bool member;       /* it keeps the time. Else: it does so later (a start), or never (a static program) */
    bool world;        /* while idle: it waits for what is beyond the family */
    bool asks;         /* likewise: it must ask whether something has come */
} __attribute__((aligned(64)));

/* The memory of a family: slots from 1 on, its head where slot 0 would be. */
struct family {
    uint64_t mark;  /* of this family alone */
    uint64_t clock; /* family time, ns */
    uint64_t next;  /* no idle member has a deadline between the clock and this */
    uint64_t epoch;
    uint64_t pids;    /* the inode of the namespace of process ids */
    uint32_t top;     /* the last slot that was ever used */
    uint32_t crowded; /* there are members without a slot */
    struct slot slots[SLOTS];
};

#endif
