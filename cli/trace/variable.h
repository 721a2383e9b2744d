/* The global variable that an address belongs to, as reports of races name it. */
#ifndef PCT_CLI_VARIABLE_H
#define PCT_CLI_VARIABLE_H

#include "unwind.h"

struct pct_variable {
    char name[200]; /* demangled */
    char part[200]; /* "[3].head": what of it is at the address; "" for all, or where there is no debug information */
    uint64_t size;  /* of all of it, in bytes */
    char module[200];
    uint64_t offset; /* in the module */
    uint64_t into;   /* from its beginning to the address */
    char file[200];  /* where it is declared; "" if there is no debug information */
    int line;
};

/* False: the address is in no variable that has a symbol. */
bool pct_variable_find(const struct pct_unwinder *unwinder, uint64_t address, struct pct_variable *variable);

/* "queue.lock", "table[3].mutex", "lock in main()": what the object at this address is called, by debug information or
 * the symbols of its file ("queue+24"); without what its type has inside. False: it has no name. */
bool pct_variable_name(struct pct_unwinder *unwinder, uint64_t address, char *name, size_t size);

#endif
