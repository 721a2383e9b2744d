/* How a program that is started finds the family of the process that it was: a variable of its environment, PCT_FAMILY.
 */
#ifndef PCT_PRELOAD_FAMILY_NAME_H
#define PCT_PRELOAD_FAMILY_NAME_H

#include <stddef.h>
#include <stdint.h>

/* No slot: there are relatives, but they cannot be found. */
struct pct_family_name {
    uint32_t memory; /* the id of the shared memory */
    uint32_t slot;   /* the process's own there */
    uint64_t mark;   /* of the family, as ids are used again */
    uint64_t place;  /* the inode of the namespace that the id is of; 0: not known */
    uint64_t now;    /* the time at which it becomes that program, virtual ns: its clocks go on from there */
    uint64_t epoch;  /* the time of day at which virtual time began */
};

/* Bytes that pct_family_name_add() needs for this environment; 0 where libpct.so is not preloaded into the program. */
size_t pct_family_name_room(char *const *environment);

/* This environment with the name, in place of one that is there. Returns it, in room. Any thread, also in a child of
 * vfork. */
char **pct_family_name_add(void *room, char *const *environment, const struct pct_family_name *name);

/* The name that the variable's value gives; what does not stand there is 0. */
struct pct_family_name pct_family_name_read(const char *text);

#endif
